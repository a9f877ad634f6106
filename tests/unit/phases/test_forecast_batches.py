"""What batches, looks at open contests and helpers change in a forecast, in figures that can be checked by hand."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from seedbed.phases.forecast import (
    NOTHING,
    Forecast,
    Range,
    _may_stop,  # type: ignore[attr-defined]
    assumed,
    forecast,
    kind_of,
    total,
)
from seedbed.phases.forecast_replay import _of_cell  # type: ignore[attr-defined]
from seedbed.phases.replay import Replayed
from seedbed.sweep.config import load_config
from seedbed.sweep.model_config import ModelConfig
from seedbed.sweep.plan import Plan, make_plan
from tests.unit.phases.test_forecast_rules import call, numbers, per_case

CONFIG = """
name: forecast
seeds: {seeds}
plugins: [tests.support.contest_suite]
models:
  m:
    model: openai/some-model
    api_base: http://127.0.0.1:1/v1
    temperature: 0.5
    max_tokens: 100
    {price}
    {service}
  steady: {{model: openai/another, api_base: http://127.0.0.1:1/v1, temperature: 0}}
roles: {roles}
experiments:
  - suite: {suite}
    models: [m]
    benchmarks: [{benchmark}]
    systems: [{system}]
    {more}
"""
PRICE = "price: {input: 2, output: 2, batch: {input: 1, output: 1}}"
BATCH = "service: batch"
CONTEST = {
    "suite": "contest",
    "benchmark": "claims",
    "system": "{name: say, label: a}, {name: say, label: b, skill: 0.5}",
}
PAID = {"roles": "{judge: m}"}


def planned(folder: Path, **changes: str) -> Plan:
    settings = {
        "price": PRICE,
        "service": "",
        "roles": "{}",
        "suite": "crosslingual",
        "system": "multi",
        "more": "",
        "seeds": "[0]",
    }
    settings = {**settings, "benchmark": "{name: tiny, limit: 8}", **changes}
    path = folder / "forecast.yaml"
    path.write_text(CONFIG.format(**settings), encoding="utf-8")
    return make_plan(*load_config(path))


def assumed_of(folder: Path, **changes: str) -> Forecast:
    plan = planned(folder, **changes)
    return assumed(plan, plan.cells[-1])


def dollars_per_token(found: Forecast) -> tuple[float, ...]:
    """In millionths, at the least, likely and at the most, of models that take as much for either kind of token."""
    return tuple(1e6 * usd / tokens for usd, tokens in zip(numbers(found.usd), numbers(found.tokens), strict=True))


def test_calls_that_batches_answer_have_their_price_and_what_normal_ones_would_cost_beside_it(tmp_path: Path) -> None:
    normal, batched = assumed_of(tmp_path), assumed_of(tmp_path, service=BATCH)
    assert normal.online_usd is None
    assert dollars_per_token(normal) == pytest.approx((2, 2, 2), rel=0.01)
    assert dollars_per_token(batched) == pytest.approx((1, 1, 1), rel=0.01)
    assert batched.online_usd == normal.usd
    assert batched.tokens == normal.tokens
    assert batched.seconds == Range(), "how long a batch takes nobody says beforehand"


SEARCH = {"suite": "prompt_optimization", "benchmark": "{name: AIMEBench, repeats: 1}", "system": "CoT"}
OPTIMIZERS = "optimizers: [BootstrapFewShot]"


@pytest.mark.parametrize(
    ("service", "expected"),
    [
        (BATCH, 2),
        (f"{BATCH}\n    batch: {{optimise: batch}}", 1),
    ],
)
def test_at_its_dearest_a_search_is_made_at_the_price_of_its_own_calls(
    tmp_path: Path, service: str, expected: float
) -> None:
    found = assumed_of(tmp_path, **SEARCH, service=service, more=OPTIMIZERS)
    low, _, high = dollars_per_token(found)
    assert (low, high) == pytest.approx((1, expected), rel=0.01)
    without = assumed_of(tmp_path, **SEARCH, service=service)
    assert dollars_per_token(without)[2] == pytest.approx(1, rel=0.01)


def test_a_new_request_that_a_batch_will_answer_costs_its_price(tmp_path: Path) -> None:
    plan = planned(tmp_path, service=BATCH)
    found = _of_cell(plan, plan.cells[0], Replayed([call("a")], {}, ()), {}, set())
    assert numbers(found.usd) == pytest.approx((60e-6, 300e-6, 400e-6))
    assert numbers(found.online_usd) == pytest.approx((120e-6, 600e-6, 800e-6))
    normal = planned(tmp_path)
    assert _of_cell(normal, normal.cells[0], Replayed([call("a")], {}, ()), {}, set()).online_usd is None


def test_a_sum_of_batches_and_normal_calls_knows_what_all_would_cost_as_normal_ones() -> None:
    normal = replace(NOTHING, usd=Range(1, 2, 3))
    batched = replace(NOTHING, usd=Range(10, 20, 30), online_usd=Range(20, 40, 60))
    for parts in ([normal, batched], [batched, normal]):
        assert total(parts).usd == Range(11, 22, 33)
        assert total(parts).online_usd == Range(21, 42, 63)
    assert total([batched, batched]).online_usd == Range(40, 80, 120)
    assert total([normal, normal]).online_usd is None
    assert total([batched, replace(NOTHING, usd=None)]).online_usd is None


def test_a_contest_may_end_at_its_first_look_and_takes_no_more_at_most(tmp_path: Path) -> None:
    plan = planned(tmp_path, **CONTEST, **PAID, service=BATCH, more="decide: {looks: 4, difference: 0.3}")
    looks = plan.looks(plan.cells[0])
    assert looks is not None
    share = looks.ends[0] / looks.planned
    assert share == pytest.approx(0.25, abs=0.02)
    found = forecast(plan, tmp_path / "out").cells[plan.cells[1].id]
    whole = assumed(plan, plan.cells[1])
    for name in ("new_calls", "tokens", "usd", "online_usd", "seconds"):
        low, likely, high = numbers(getattr(whole, name))
        assert numbers(getattr(found, name)) == pytest.approx((low * share, likely, high)), name


def test_where_something_is_answered_nothing_more_may_be_needed(tmp_path: Path) -> None:
    plan = planned(tmp_path, **CONTEST, **PAID, more="decide: {looks: 4, difference: 0.3}")
    (cell, _), own = plan.cells, Forecast(1, Range(4, 5, 6), Range(4, 5, 6), Range(4, 5, 6), Range(4, 5, 6), "replayed")
    assert _may_stop(plan, {cell.id: own})[cell.id].new_calls == Range(0, 5, 6)
    closed = planned(tmp_path, **CONTEST, **PAID)
    assert _may_stop(closed, {closed.cells[0].id: own}) == {closed.cells[0].id: own}


def test_a_contest_without_prices_stays_without(tmp_path: Path) -> None:
    plan = planned(tmp_path, **CONTEST, **PAID, price="", more="decide: {looks: 4, difference: 0.3}")
    assert forecast(plan, tmp_path / "out").total.usd is None
    assert forecast(plan, tmp_path / "out").total.online_usd is None


def test_a_search_is_made_whole_though_its_contest_may_end_early(tmp_path: Path) -> None:
    more = f"{OPTIMIZERS}\n    decide: {{looks: 4, difference: 0.3}}"
    plan = planned(tmp_path, **CONTEST, **PAID, seeds="[0, 1]", more=more)
    (cell, *_) = [cell for cell in plan.cells if cell.optimised]
    assert forecast(plan, tmp_path / "out").cells[cell.id] == assumed(plan, cell)


@pytest.mark.parametrize(("roles", "sure"), [("{translator: steady}", 1.0), ("{translator: m}", 4.0)])
def test_what_a_steady_helper_said_may_be_shared_by_cases(tmp_path: Path, roles: str, sure: float) -> None:
    plan = planned(tmp_path, system="cross", roles=roles)
    calls = 8 * per_case(plan)
    assert per_case(plan) == 4
    assert numbers(assumed(plan, plan.cells[0]).new_calls) == (calls * 0.5 * sure / 4, calls, calls * 2.5)


def test_no_more_tokens_are_expected_than_a_model_may_answer_with(tmp_path: Path) -> None:
    calls = 8
    for limit, most in (("max_tokens: 100", 100), ("max_tokens: 9000", 1500), ("max_tokens: null", 1500)):
        path = tmp_path / "limits.yaml"
        planned(tmp_path)
        text = (tmp_path / "forecast.yaml").read_text(encoding="utf-8").replace("max_tokens: 100", limit)
        path.write_text(text, encoding="utf-8")
        plan = make_plan(*load_config(path))
        found = assumed(plan, plan.cells[0])
        sent = found.tokens.likely - calls * 200
        assert found.tokens.high == pytest.approx(3 * sent + 2.5 * calls * most)


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("openai/o3", "reasoning"),
        ("openai/o3-2030-01-01", "reasoning"),
        ("gemini/gemini-2.5-flash", "reasoning"),
        ("openai/gpt-4.1-mini", "other"),
        ("no/such-model", "other"),
        ("offline/o3", "offline"),
    ],
)
def test_a_model_reasons_if_its_name_or_the_price_list_says_so(name: str, expected: str) -> None:
    settings: dict[str, Any] = {"model": name}
    assert kind_of(ModelConfig.model_validate(settings)) == expected


def test_probes_that_were_never_made_say_nothing(tmp_path: Path) -> None:
    plan = planned(tmp_path)
    found = forecast(plan, tmp_path / "out", probes=tmp_path / "none.sqlite")
    assert found.took == {"m": [], "steady": []}
    assert not (tmp_path / "none.sqlite").exists()
