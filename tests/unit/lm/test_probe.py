"""What is found out of a model by three small requests at most."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from seedbed.errors import ProviderError
from seedbed.lm import probe as probe_module
from seedbed.lm import providers
from seedbed.lm.probe import Probe, probe
from seedbed.lm.types import Attempt, JsonDict
from seedbed.sweep.model_config import ModelConfig
from tests.support.lm import sums

IN_FORM = "[[ ## answer ## ]]\n5\n\n[[ ## completed ## ]]"
Say = Callable[[str | None], Any]
"""What is said to a request of this form of JSON, or of none: a text, or a failure."""


class _Provider:
    def __init__(self, say: Say) -> None:
        self.bodies = list[JsonDict]()
        self._say = say

    async def chat(self, body: JsonDict, attempt: Attempt) -> JsonDict:
        self.bodies.append(body)
        said = self._say(body.get("response_format", {}).get("type"))
        if isinstance(said, Exception):
            raise said
        usage = {"prompt_tokens": 100, "completion_tokens": 50}
        return {"choices": [{"message": {"content": said}, "finish_reason": "stop"}], "usage": usage}

    async def aclose(self) -> None:
        return None


@pytest.fixture
def asked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., tuple[Probe, list[JsonDict]]]:
    """The probe of a model that says so, and the bodies it was sent; two seconds pass with each look at the clock."""
    clock = SimpleNamespace(now=1000.0)

    def monotonic() -> float:
        clock.now += 2.0
        return clock.now

    monkeypatch.setattr(probe_module, "time", SimpleNamespace(monotonic=monotonic))
    monkeypatch.setattr(providers, "_BY_PREFIX", dict(providers._BY_PREFIX))  # type: ignore[attr-defined]

    def ask(say: Say, **settings: Any) -> tuple[Probe, list[JsonDict]]:
        provider = _Provider(say)
        providers.provider("openai")(lambda _name, _model: provider)
        known = {"model": "openai/x", "price": {"input": 1.0, "output": 2.0}, "backoff_s": 0.0}
        model = ModelConfig.model_validate({**known, **settings})
        return probe(model, tmp_path / "ledger.sqlite"), provider.bodies

    return ask


def test_a_model_that_does_all_of_it_is_told_with_its_speed_and_cost(asked: Any, tmp_path: Path) -> None:
    found, bodies = asked(lambda form: '{"sum": 5}' if form else IN_FORM)
    assert found.usd == pytest.approx(4e-4)
    assert found == Probe(None, readable=True, structured="schema", tokens_per_s=25.0, calls=2, usd=found.usd)
    assert [body.get("response_format", {}).get("type") for body in bodies] == [None, "json_schema"]
    assert {body["max_completion_tokens"] for body in bodies} == {200}
    assert sums(tmp_path, "sweep = 'doctor' AND role = 'probe'").calls == 2


def test_a_models_own_limit_is_kept_and_every_visit_asks_anew(asked: Any) -> None:
    first, bodies = asked(lambda form: '{"sum": 5}' if form else IN_FORM, max_tokens=30)
    again, more = asked(lambda form: '{"sum": 5}' if form else IN_FORM, max_tokens=30)
    assert (first.calls, again.calls) == (2, 2)
    assert {body["max_completion_tokens"] for body in (*bodies, *more)} == {30}


@pytest.mark.parametrize(
    ("schema", "plain", "structured", "calls"),
    [
        (ProviderError("invalid_request", "no schema"), '{"sum": 5}', "json", 3),
        ("five", '{"sum": 5}', "json", 3),
        ('{"sum": "5"}', '{"sum": 5}', "json", 3),
        ("five", "[5]", None, 3),
        ("five", '{"total": 5}', None, 3),
        ("five", ProviderError("invalid_request", "no JSON"), None, 3),
    ],
)
def test_the_strictest_form_that_it_keeps_to_is_told(
    asked: Any, schema: Any, plain: Any, structured: str | None, calls: int
) -> None:
    found, bodies = asked(lambda form: {"json_schema": schema, "json_object": plain, None: IN_FORM}[form])
    assert (found.error, found.readable, found.structured) == (None, True, structured)
    assert len(bodies) == calls


def test_a_model_that_does_not_keep_to_the_form_is_asked_for_it_once(asked: Any) -> None:
    found, bodies = asked(lambda form: "five")
    assert (found.error, found.readable, found.structured) == (None, False, None)
    assert [body.get("response_format", {}).get("type") for body in bodies] == [None, "json_schema", "json_object"]


def test_a_model_that_cannot_be_used_is_told_why_after_one_request(asked: Any) -> None:
    cases = [
        (ProviderError("server", "HTTP 500: down", status=500), "HTTP 500: down"),
        (ProviderError("auth", "HTTP 401: no", status=401), "openai/x refused the key: HTTP 401: no. Export the"),
    ]
    for error, told in cases:
        found, bodies = asked(lambda _, error=error: error)
        assert found.error is not None
        assert found.error.startswith(told)
        assert found == Probe(error=found.error, readable=False, structured=None, tokens_per_s=None, calls=0, usd=None)
        assert len(bodies) == 1
