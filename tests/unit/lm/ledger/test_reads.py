"""Figures and histories, of a few attempts whose sums are known."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from sqlalchemy import Engine

from seedbed.lm.ledger.reads import (
    PhaseUsage,
    call_span,
    cost_rows,
    cost_sums,
    generation_of,
    history,
    paid_latencies,
    phase_usage,
    start_fresh,
    unanswered,
)
from tests.unit.lm.ledger.conftest import FAILED, NO_END, attempt, keep, put


def test_tokens_are_those_of_the_last_execution_and_dollars_those_of_all(engine: Engine) -> None:
    put(
        engine,
        attempt(1, execution="last", key="a"),
        attempt(2, execution="last", key="a", outcome="reused", spent_usd=0.0),
        attempt(3, execution="last", key="b", tokens_in=20, tokens_out=3, tokens_cached=4, tokens_reasoning=1,
                list_usd=1.5, spent_usd=1.0, estimated=True),
        attempt(4, execution="last", **FAILED | {"at_risk_usd": 0.25}),
        attempt(5, execution="first", spent_usd=2.0),
        attempt(6, execution="last", cell="another"),
        attempt(7, execution="last", phase="optimise"),
        attempt(8, execution="last", **NO_END),
    )  # fmt: skip
    assert phase_usage(engine, "c", "generate", "last") == PhaseUsage(
        calls=2,
        tokens_in=30,
        tokens_out=5,
        tokens_cached=4,
        tokens_reasoning=1,
        list_usd=2.0,
        spent_usd=3.5,
        at_risk_usd=0.25,
        outcomes={"paid": 3, "reused": 1, "failed": 1, "lost": 0},
        estimated=1,
    )


def test_a_phase_without_calls_has_used_nothing(engine: Engine) -> None:
    nothing = {"paid": 0, "reused": 0, "failed": 0, "lost": 0}
    assert phase_usage(engine, "c", "generate", "e") == PhaseUsage(0, 0, 0, 0, 0, 0.0, 0.0, 0.0, nothing, 0)


def test_what_was_spent_before_a_fresh_start_is_not_the_phases(engine: Engine) -> None:
    put(engine, *(attempt(number, generation=number, spent_usd=float(10**number)) for number in range(3)))
    spent = [phase_usage(engine, "c", "generate", "e", generation).spent_usd for generation in range(4)]
    assert spent == [111.0, 110.0, 100.0, 0.0]
    assert phase_usage(engine, "c", "generate", "e").spent_usd == 111.0


def test_one_unknown_price_makes_a_sum_of_dollars_unknown(engine: Engine) -> None:
    put(engine, attempt(1), attempt(2, list_usd=None), attempt(3, cell="d"), attempt(4, cell="d", spent_usd=None))
    listed, spent = phase_usage(engine, "c", "generate", "e"), phase_usage(engine, "d", "generate", "e")
    assert (listed.list_usd, listed.spent_usd) == (None, 1.0)
    assert (spent.list_usd, spent.spent_usd) == (1.0, None)


@pytest.mark.parametrize("costs", [cost_rows, cost_sums])
def test_costs_are_told_by_phase_role_model_and_outcome(
    engine: Engine, costs: Callable[[Engine, str], list[dict[str, Any]]]
) -> None:
    put(
        engine,
        attempt(1, usage_more='{"cut":true}', tokens_cached=3, tokens_reasoning=1),
        attempt(2, spent_usd=0.25),
        attempt(3, phase="scores", role="judge", model="j", spent_usd=None, list_usd=None),
        attempt(4, **FAILED | {"at_risk_usd": 2.0}),
        attempt(5, sweep="another"),
        attempt(6, **NO_END),
    )
    task = {"phase": "generate", "role": "task", "model": "m"}
    none = dict.fromkeys(("tokens_in", "tokens_out", "tokens_cached", "tokens_reasoning"), 0)
    assert costs(engine, "s") == [
        {**task, "outcome": "failed", "calls": 1, **none, "spent_usd": 0.0, "list_usd": 0.0, "at_risk_usd": 2.0,
         "cut": 0},
        {**task, "outcome": "paid", "calls": 2, "tokens_in": 20, "tokens_out": 4, "tokens_cached": 3,
         "tokens_reasoning": 1, "spent_usd": 0.75, "list_usd": 1.0, "at_risk_usd": 0.0, "cut": 1},
        {"phase": "scores", "role": "judge", "model": "j", "outcome": "paid", "calls": 1, "tokens_in": 10,
         "tokens_out": 2, "tokens_cached": 0, "tokens_reasoning": 0, "spent_usd": None, "list_usd": None,
         "at_risk_usd": 0.0, "cut": 0},
    ]  # fmt: skip


def test_costs_of_before_a_fresh_start_are_left_out_from_it_on(engine: Engine) -> None:
    put(engine, *(attempt(number, generation=number) for number in range(3)))
    assert [sum(row["calls"] for row in cost_rows(engine, "s", since)) for since in range(4)] == [3, 2, 1, 0]
    assert cost_rows(engine, "s")[0]["calls"] == 3


def test_the_span_is_from_the_first_call_to_the_last_end_in_milliseconds(engine: Engine) -> None:
    put(
        engine,
        attempt(1, started_at=100.12345, latency_s=0.5),
        attempt(2, started_at=101.0, latency_s=2.98765),
        attempt(3, started_at=102.0, latency_s=None),
        attempt(4, started_at=1.0, sweep="another"),
        attempt(5, started_at=2.0, **NO_END),
        attempt(6, started_at=900.0, generation=1, sweep="t", latency_s=1.0),
        attempt(7, started_at=800.0, generation=0, sweep="t", latency_s=1.0),
    )
    assert call_span(engine, "s") == [100.123, 103.988]
    assert [call_span(engine, "t", since) for since in (0, 1, 2)] == [[800.0, 901.0], [900.0, 901.0], None]
    assert call_span(engine, "nobody's") is None


def test_latencies_of_a_cell_are_those_of_its_paid_calls_in_the_generate_phase(engine: Engine) -> None:
    put(
        engine,
        attempt(1, cell="a", latency_s=1.0, generation=1),
        attempt(2, cell="a", latency_s=2.0, generation=2),
        attempt(3, cell="b", latency_s=3.0, generation=1),
        attempt(4, cell="a", latency_s=4.0, generation=0),
        attempt(5, cell="a", latency_s=5.0, generation=1, phase="scores"),
        attempt(6, cell="a", latency_s=6.0, generation=1, outcome="reused"),
        attempt(7, cell="a", latency_s=None, generation=1),
        attempt(8, cell="another", generation=1),
    )
    assert paid_latencies(engine, ["a", "b", "none"], 1) == {"a": [1.0, 2.0], "b": [3.0]}


def test_cells_of_any_number_have_their_latencies(engine: Engine) -> None:
    cells = [f"c{number}" for number in range(1001)]
    chosen = [0, 1, 499, 500, 999, 1000]
    put(engine, *(attempt(number, cell=f"c{number}") for number in chosen))
    assert paid_latencies(engine, cells, 0) == {f"c{number}": [1.0] for number in chosen}


def test_a_history_has_each_attempts_own_bodies_and_an_answer_only_where_one_was_given(engine: Engine) -> None:
    put(
        engine,
        attempt(1, key="a", **FAILED),
        attempt(2, key="a"),
        attempt(3, key="a", execution="f", outcome="reused"),
        attempt(4, key="b", execution="f"),
        attempt(5, execution="another"),
        attempt(6, cell="d"),
        attempt(7, **NO_END),
    )
    keep(engine, "a", request={"ask": "a"}, response={"say": "a"})
    keep(engine, "c", request={"ask": "c"}, response={"say": "c"})
    told = [(row["outcome"], row["request"], row["response"]) for row in history(engine, "c", ["e", "f"])]
    asked, said = {"ask": "a"}, {"say": "a"}
    assert told == [("failed", asked, None), ("paid", asked, said), ("reused", asked, said), ("paid", None, None)]


def test_requests_of_a_cell_without_a_reply_are_counted_once_each(engine: Engine) -> None:
    put(engine, attempt(1, key="a"), attempt(2, key="b", **FAILED), attempt(3, key="b"), attempt(4, key="c"))
    put(engine, attempt(5, cell="d", key="d"), attempt(6, cell="d", key="e"), attempt(7, cell="f", key="a"))
    keep(engine, "a", response="yes")
    assert [unanswered(engine, cell) for cell in ("c", "d", "f", "nobody's")] == [2, 2, 0, 0]


def test_a_fresh_start_has_a_number_above_those_of_all_other_sweeps_and_attempts(engine: Engine) -> None:
    assert generation_of(engine, "s") == 0
    assert [start_fresh(engine, sweep) for sweep in ("s", "t", "s")] == [1, 2, 3]
    assert [generation_of(engine, sweep) for sweep in ("s", "t", "u")] == [3, 2, 0]
    put(engine, attempt(1, sweep="from another ledger", generation=7))
    assert [start_fresh(engine, sweep) for sweep in ("t", "s")] == [8, 9]
