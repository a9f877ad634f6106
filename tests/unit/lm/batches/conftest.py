"""What the tests of batches share."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from typing import Any

import pytest

from tests.support.lm import scope
from tests.unit.lm.batches.bench import Benches

QUICK = {"size": 10, "age_s": 0.05, "poll_s": 0.02, "settle_s": 0.2}
_PROTOCOLS: dict[str, dict[str, Any]] = {
    "openai": {},
    "anthropic": {"model": "anthropic/claude-loop", "api_key_env": "LOOP_KEY"},
}


def batched(**changes: Any) -> dict[str, Any]:
    """Settings of a model whose calls go out in small batches."""
    own = changes.pop("batch", {})
    return {"service": "batch", "batch": {**QUICK, **own}, **changes}


def in_full(size: int, **changes: Any) -> dict[str, Any]:
    """Settings under which so many calls make a batch: on a busy machine one may get old before it has them all."""
    own = changes.pop("batch", {})
    return batched(batch={"size": size, "age_s": 3600.0, **own}, **changes)


@pytest.fixture(scope="session")
def benches(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Benches]:
    """What makes a bench for each test."""
    made = Benches(tmp_path_factory.mktemp("benches"))
    yield made
    made.close()


@pytest.fixture(params=list(_PROTOCOLS))
def protocol(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    monkeypatch.setenv("LOOP_KEY", "a-key-of-nobody")
    return _PROTOCOLS[request.param]


def ask(made: Any, count: int, *, execution: str = "e1", **more: Any) -> list[Any]:
    """Answers to so many questions, asked at once; a failure is an answer too."""
    return start(made, count, execution=execution, **more).result(300)


def start(made: Any, count: int, *, execution: str = "e1", **more: Any) -> Any:
    """The same, not waited for."""
    lm = made.lm(scope(execution=execution), **more)

    async def all_of_them() -> list[Any]:
        return await asyncio.gather(*(lm.acall(f"Is {n} even?") for n in range(count)), return_exceptions=True)

    return asyncio.run_coroutine_threadsafe(all_of_them(), made.loop)
