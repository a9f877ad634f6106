"""What is told before everything stops, and what of a failure leaves the others alone."""

from __future__ import annotations

from typing import Any

import pytest

from seedbed.errors import ProviderError
from seedbed.lm.ends import failed_end, unsent_end
from seedbed.lm.fatal import advice, fatal_sentence
from seedbed.lm.ledger import Begin
from seedbed.lm.types import Usage
from seedbed.sweep.model_config import ModelConfig
from tests.support.lm import scope

OWN = "http://h/v1"
SERVE: Any = {"command": "serve"}


def _told(error: ProviderError, *, answered: bool = False, name: str = "openai/x", **settings: Any) -> str | None:
    return fatal_sentence(ModelConfig(model=name, **settings), error, answered=answered)


@pytest.mark.parametrize(
    ("settings", "remedy"),
    [
        ({}, "Check the network (a proxy? a firewall?) and run again."),
        ({"api_base": OWN}, "Start the server there, or correct the api_base of the model, and run again."),
        ({"serve": SERVE}, "Correct the command under `serve` of the model and run again."),
        ({"serve": SERVE, "api_base": OWN}, "Correct the command under `serve` of the model and run again."),
    ],
)
def test_who_cannot_be_reached_at_first_is_told_with_what_to_mend(settings: dict[str, Any], remedy: str) -> None:
    unreached = ProviderError("transport", "cannot reach it.", unsent=True)
    assert _told(unreached, **settings) == f"openai/x: cannot reach it. {remedy}"
    assert _told(unreached, answered=True, **settings) is None


def test_a_local_model_is_told_without_an_address() -> None:
    error = ProviderError("transport", "no such file", unsent=True)
    assert _told(error, name="local/x") == "local/x: no such file. Mend that and run again."


@pytest.mark.parametrize("answered", [False, True])
@pytest.mark.parametrize(
    ("settings", "remedy"),
    [
        (
            {},
            "Export the provider's key (OPENAI_API_KEY, ...) or name its variable as `api_key_env`; run again.",
        ),
        ({"api_base": OWN}, "Name the variable that holds its key as `api_key_env` of the model and run again."),
        ({"api_key_env": "MINE"}, "Put a valid key into the environment variable MINE and run again."),
    ],
)
def test_a_refused_key_is_told_with_where_to_put_one(settings: dict[str, Any], remedy: str, answered: bool) -> None:
    error = ProviderError("auth", "HTTP 401: no.", status=401)
    assert _told(error, answered=answered, **settings) == f"openai/x refused the key: HTTP 401: no. {remedy}"


@pytest.mark.parametrize(
    ("error", "told"),
    [
        (
            ProviderError("invalid_request", "HTTP 404: none", status=404),
            "openai/x: HTTP 404: none. Correct the model's name or the path of its api_base, and run again.",
        ),
        (
            ProviderError("billing", "HTTP 402: pay", status=402),
            "openai/x wants payment: HTTP 402: pay. Top up the account or raise its limit and run again.",
        ),
        (ProviderError("invalid_request", "HTTP 405: no", status=405), None),
        (ProviderError("invalid_request", "HTTP 400: no", status=400), None),
        (ProviderError("rate_limit", "slow down", status=429), None),
        (ProviderError("server", "down", status=500), None),
        (ProviderError("transport", "broken off"), None),
        (ProviderError("timeout", "too late"), None),
    ],
)
@pytest.mark.parametrize("answered", [False, True])
def test_what_a_person_has_to_mend_is_told_and_what_may_pass_is_not(
    error: ProviderError, told: str | None, answered: bool
) -> None:
    assert _told(error, answered=answered) == told


def test_only_a_request_that_is_too_long_has_advice() -> None:
    long, other = ProviderError("context_length", "too long."), ProviderError("invalid_request", "bad.")
    assert advice(long) == (
        "too long. The request is longer than the model takes: shorten the context (fewer passages, demos or turns), "
        "lower max_tokens, or choose a model with a longer window."
    )
    assert advice(other) == "bad."


def _begin(reserved_usd: float | None) -> Begin:
    return Begin(scope(), "k", 1, None, b"{}", reserved_usd, ())


@pytest.mark.parametrize(
    ("error", "usage", "cost", "reserved", "spent", "at_risk"),
    [
        (ProviderError("timeout", "late"), None, None, 2.0, 0.0, 2.0),
        (ProviderError("timeout", "late"), None, None, None, 0.0, 0.0),
        (ProviderError("timeout", "late"), Usage(3, 1), 0.5, 2.0, 0.5, 0.0),
        (ProviderError("timeout", "late"), Usage(3, 1), None, 2.0, None, 0.0),
        (ProviderError("transport", "gone", unsent=True), None, None, 2.0, 0.0, 0.0),
        (ProviderError("auth", "no"), None, None, 2.0, 0.0, 0.0),
        (ProviderError("auth", "no"), Usage(3, 1), 0.5, 2.0, 0.5, 0.0),
    ],
)
def test_a_failure_costs_what_it_told_and_else_risks_what_was_reserved_if_it_may_be_billed(
    error: ProviderError, usage: Usage | None, cost: float | None, reserved: float | None, spent: float | None,
    at_risk: float,
) -> None:  # fmt: skip
    begin = _begin(reserved)
    end = failed_end(7, begin, error, usage, cost, 0.25)
    assert (end.outcome, end.usage, end.spent_usd, end.at_risk_usd) == ("failed", usage, spent, at_risk)
    assert (end.error_class, end.error) == (error.kind, error.message)
    unsent = unsent_end(7, begin)
    assert (unsent.outcome, unsent.spent_usd, unsent.at_risk_usd, unsent.error_class) == ("failed", 0.0, 0.0, "NotSent")
