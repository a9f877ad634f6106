"""How a forecast follows from what was seen and what is on record, in figures that can be checked by hand."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from seedbed.lm.ledger.neighbours import Neighbours, Taken
from seedbed.lm.looking import Seen
from seedbed.phases.forecast import (
    NOTHING,
    Forecast,
    Range,
    SweepForecast,
    assumed,
    forecast,
    kind_of,
    measured_range,
    seconds,
    total,
)
from seedbed.phases.forecast_replay import _of_cell  # type: ignore[attr-defined]
from seedbed.phases.replay import Replayed
from seedbed.sweep.cell import Cell
from seedbed.sweep.config import load_config
from seedbed.sweep.model_config import Limits, ModelConfig
from seedbed.sweep.plan import Plan, make_plan
from seedbed.sweep.resolved import ResolvedCell

CONFIG = """
name: forecast
seeds: [0, 1]
models:
  m:
    model: openai/some-model
    api_base: http://127.0.0.1:1/v1
    temperature: {temperature}
    max_tokens: 100
    price: {{input: 1, output: 2}}
    limits: {{concurrency: 4}}
experiments:
  - suite: {suite}
    models: [m]
    benchmarks: [{{name: {benchmark}, limit: 8}}]
    systems: [{system}]
"""
LOW, _, HIGH = 10, 200, 100
"""Tokens of an answer: what is assumed of a model, its own limit."""


def planned(folder: Path, temperature: float = 0.5, place: str = "crosslingual tiny multi") -> Plan:
    path = folder / "forecast.yaml"
    suite, benchmark, system = place.split()
    path.write_text(CONFIG.format(temperature=temperature, suite=suite, benchmark=benchmark, system=system))
    return make_plan(*load_config(path))


def call(sample: str, *, known: bool = False, phase: str = "generate", key: str = "", tokens: int = 100) -> Seen:
    return Seen(
        "c", phase, sample, "task", "m", key or f"{phase} {sample} {known}", known, tokens, 5 if known else None
    )


def of_cell(plan: Plan, *seen: Seen, history: Mapping[str, Neighbours] | None = None, **more: Any) -> Forecast:
    shown = Replayed(list(seen), more.get("cut", {}), more.get("unknown", ()))
    return _of_cell(plan, plan.cells[0], shown, history or {}, more.get("asked", set()))


def numbers(r: Range | None) -> tuple[float, float, float]:
    assert r is not None
    return r.low, r.likely, r.high


def per_case(plan: Plan) -> float:
    return plan.resolve(plan.cells[0]).system_spec.calls_per_case


def test_nothing_seen_and_nothing_cut_is_nothing(tmp_path: Path) -> None:
    assert of_cell(planned(tmp_path)) == NOTHING


def test_what_is_on_record_is_known_once_a_request_and_costs_nothing(tmp_path: Path) -> None:
    found = of_cell(planned(tmp_path), *(call(s, known=True, key=k) for s, k in (("a", "1"), ("b", "1"), ("c", "2"))))
    assert (found.known_calls, found.new_calls, found.usd, found.basis) == (2, Range(), Range(), "replayed")


def test_new_requests_without_a_history_take_what_is_assumed(tmp_path: Path) -> None:
    plan = planned(tmp_path)
    assert per_case(plan) == 1
    found = of_cell(plan, call("a"), call("b", tokens=300))
    assert numbers(found.new_calls) == (2, 2, 2), "a system of one call a case makes that one"
    assert numbers(found.tokens) == (2 * LOW + 200, 400 + 400, 3 * 400 + 2 * HIGH)
    sent, got = 400e-6, 2 * 400e-6
    assert numbers(found.usd) == pytest.approx((200e-6 + 2 * 20e-6, sent + got, max(1200e-6 + 2 * 200e-6, sent + got)))
    assert found.basis == "replayed"


def test_a_request_that_another_cell_makes_too_is_new_once(tmp_path: Path) -> None:
    plan, asked = planned(tmp_path), set[str]()
    assert of_cell(plan, call("a", key="k"), asked=asked).new_calls.likely == 1
    assert asked == {"k"}
    again = of_cell(plan, call("a", key="k"), call("b", key="l"), asked=asked)
    assert again.new_calls.likely == 1


def test_only_the_first_new_request_of_a_sample_is_counted_as_seen(tmp_path: Path) -> None:
    found = of_cell(planned(tmp_path), call("a", key="1", tokens=100), call("a", key="2", tokens=900))
    assert found.new_calls.likely == 1
    assert found.tokens.likely == 100 + 200


def history_of(**samples: Taken) -> Neighbours:
    return Neighbours({name: {"m": taken} for name, taken in samples.items()}, [0.2, 0.4, 0.6, 0.8])


def test_a_sample_takes_what_it_took_before_and_an_unknown_one_the_mean(tmp_path: Path) -> None:
    history = {"generate": history_of(a=Taken(1, 100, 10), b=Taken(1, 300, 30))}
    found = of_cell(planned(tmp_path), call("a"), call("new"), history=history)
    assert numbers(found.new_calls) == (2, 2, 2)
    assert found.tokens.likely == 110 + 220
    assert found.usd is not None
    assert found.usd.likely == pytest.approx(300e-6 + 2 * 30e-6)
    spread = history["generate"].spread
    assert spread == pytest.approx(155.5634919 / 220)
    doubt = 2 * spread / 2**0.5
    assert numbers(found.tokens) == pytest.approx((330 * 0.8 * max(0, 1 - doubt), 330, 330 * 1.25 * (1 + doubt)))
    assert numbers(found.seconds) == pytest.approx((2 * 0.4 / 4, 2 * 0.6 / 4, 2 * 0.8 / 4))


def test_steps_that_are_on_record_are_taken_off_what_a_sample_usually_takes(tmp_path: Path) -> None:
    history = {"generate": history_of(a=Taken(4, 400, 40), b=Taken(4, 400, 40))}
    plan = planned(tmp_path)
    found = of_cell(plan, call("a", known=True), call("a", key="n"), history=history)
    assert (found.known_calls, found.new_calls.likely) == (1, 3)
    assert found.tokens.likely == pytest.approx(330)
    # The steps behind the first new one may be on record after all: at least that one is not.
    assert numbers(found.new_calls) == pytest.approx((3 * 0.8 / 3, 3, 3 * 1.25))
    assert numbers(found.tokens) == pytest.approx((330 * 0.8 / 3, 330, 330 * 1.25))
    used_up = of_cell(plan, *(call("a", known=True, key=str(i)) for i in range(9)), call("a"), history=history)
    assert used_up.new_calls.likely == 1, "what was seen to be new is at least one call"


def test_a_system_of_several_calls_may_take_one_or_three_times_as_many(tmp_path: Path) -> None:
    plan = planned(tmp_path, place="prompt_optimization IFBench IFBenchCoT2StageProgram")
    assert per_case(plan) == 2
    found = of_cell(plan, call("a"), call("b"))
    assert numbers(found.new_calls) == (2, 4, 12)
    assert numbers(found.tokens) == (2 * LOW + 200, 400 + 800, 3 * 400 + 12 * HIGH)
    # Half of the steps make half of the shortest prompts.
    low = round(0.5 * 2 / 4 * 400) * 1e-6 + 2 * LOW * 2e-6
    assert numbers(found.usd) == pytest.approx((low, 400e-6 + 800 * 2e-6, 1200e-6 + 12 * HIGH * 2e-6))


def test_scoring_that_was_never_done_takes_what_the_suite_declares(tmp_path: Path) -> None:
    plan = planned(tmp_path, place="rag_quality sample bm25_rag")
    samples = len(plan.benchmark(plan.cells[0]).test)
    whole = assumed(plan, plan.cells[0])
    found = of_cell(plan, cut={"generate": samples})
    assert found.known_calls == 0
    share = 7 / (7 + per_case(plan))
    assert found.new_calls.likely == pytest.approx(whole.new_calls.likely * share)
    half = of_cell(plan, cut={"generate": samples // 2})
    part = share * (samples // 2) / samples
    for name in ("new_calls", "tokens", "usd", "seconds"):
        expected = tuple(value * part for value in numbers(getattr(whole, name)))
        assert numbers(getattr(half, name)) == pytest.approx(expected), name
    judged = of_cell(plan, call("a", phase="score"), call("b", phase="score"))
    assert judged.new_calls.likely == 14


def test_a_suite_that_asks_nobody_to_score_adds_nothing(tmp_path: Path) -> None:
    plan = planned(tmp_path, place="prompt_optimization IFBench IFBenchCoT2StageProgram")
    assert of_cell(plan, call("a"), cut={"generate": 1}) == of_cell(plan, call("a")) + NOTHING


def test_answers_that_are_missing_cannot_be_scored_yet_and_take_what_scoring_took_before(tmp_path: Path) -> None:
    plan = planned(tmp_path)
    history = {"score": history_of(a=Taken(1, 100, 10), b=Taken(1, 100, 10))}
    found = of_cell(plan, call("a"), cut={"generate": 4}, history=history)
    # Half of the eight samples, at half of what the two on record took.
    assert found.new_calls.likely == 1 + 1
    assert found.tokens.likely == pytest.approx(300 + 110)
    assert found.known_calls == 0


def test_however_few_answers_are_missing_one_of_their_scores_at_least_is_paid_for(tmp_path: Path) -> None:
    history = {"score": history_of(a=Taken(16, 160, 16), b=Taken(16, 160, 16))}
    found = of_cell(planned(tmp_path), cut={"generate": 1}, history=history)
    # An eighth of 32 calls, all but one of which may be on record after all.
    assert numbers(found.new_calls) == pytest.approx((4 * 0.8 / 4, 4, 4 * 1.25))


def test_samples_that_took_one_call_or_more_may_do_so_again(tmp_path: Path) -> None:
    history = {"generate": history_of(a=Taken(1, 100, 10), b=Taken(2, 100, 10))}
    found = of_cell(planned(tmp_path), call("a"), call("b"), history=history)
    assert numbers(found.new_calls) == pytest.approx((3 * 0.8 * 2 / 3, 3, 3 * 1.25))


def test_a_search_is_what_it_took_before_or_what_is_assumed(tmp_path: Path) -> None:
    plan = planned(tmp_path)
    history = {"optimise": history_of(a=Taken(5, 500, 50)), "generate": history_of(a=Taken(2, 20, 2))}
    found = of_cell(plan, unknown=("optimise", "generate"), history=history)
    assert (found.new_calls.likely, found.tokens.likely) == (7, pytest.approx(572))
    only_later = {"generate": history["generate"], "optimise": Neighbours({}, ())}
    assert of_cell(plan, unknown=("optimise", "generate"), history=only_later) == assumed(plan, plan.cells[0])
    assert of_cell(plan, unknown=("optimise",)) == assumed(plan, plan.cells[0])


def test_what_is_assumed_is_what_a_suite_declares_within_wide_ends(tmp_path: Path) -> None:
    plan = planned(tmp_path)
    found = assumed(plan, plan.cells[0])
    calls = 8 * per_case(plan)
    assert numbers(found.new_calls) == (calls * 0.5, calls, calls * 2.5)
    sent = found.tokens.likely - calls * 200
    assert found.tokens.low == pytest.approx(sent * 0.2 * 0.5 + calls * 0.5 * LOW)
    assert found.tokens.high == pytest.approx(sent * 3 + calls * 2.5 * HIGH)
    assert found.usd is not None
    assert found.usd.likely == pytest.approx(sent * 1e-6 + calls * 200 * 2e-6)
    assert found.usd.low == pytest.approx(round(sent * 0.1) * 1e-6 + calls * 0.5 * LOW * 2e-6, rel=0.01)
    assert found.usd.high == pytest.approx(max(found.usd.likely, sent * 3e-6 + calls * 2.5 * HIGH * 2e-6))
    assert (found.known_calls, found.basis) == (0, "assumed")


def test_seeds_that_ask_the_same_may_share_their_answers(tmp_path: Path) -> None:
    own = assumed(plan := planned(tmp_path, 0.5), plan.cells[0])
    shared = assumed(plan := planned(tmp_path, 0.0), plan.cells[0])
    assert shared.new_calls.low == own.new_calls.low / 2
    assert (shared.new_calls.likely, shared.new_calls.high) == (own.new_calls.likely, own.new_calls.high)
    assert shared.tokens.low == pytest.approx(own.tokens.low / 2)


def model(name: str = "openai/some-model", **more: Any) -> ModelConfig:
    return ModelConfig.model_validate({"model": name, **more})


@pytest.mark.parametrize(
    ("limits", "expected"),
    [
        (Limits(concurrency=2), (10 * 0.3 / 2, 20 * 5.15 / 2, 40 * 10.0 / 2)),
        (Limits(concurrency=1000, rpm=10), (60.0, 120.0, 240.0)),
        (Limits(concurrency=1000, tpm=600), (10.0, 20.0, 30.0)),
        (Limits(concurrency=1000, tpm=600, rpm=10), (60.0, 120.0, 240.0)),
    ],
)
def test_the_tightest_limit_says_how_long_it_takes(limits: Limits, expected: tuple[float, float, float]) -> None:
    found = seconds(model(limits=limits), Range(10, 20, 40), Range(100, 200, 300), ())
    assert numbers(found) == pytest.approx(expected)


def test_measured_latencies_count_from_their_first_quarter_to_nine_tenths() -> None:
    limits, measured = Limits(concurrency=1), [float(n) for n in range(20, 0, -1)]
    found = seconds(model(limits=limits), Range(1, 1, 1), Range(), measured)
    assert numbers(found) == (6.0, (6.0 + 19.0) / 2, 19.0)


def test_kinds_of_models() -> None:
    assert [kind_of(model(name)) for name in ("offline/reader", "openai/o3", "openai/gpt-4.1-mini")] == [
        "offline", "reasoning", "other",
    ]  # fmt: skip


def test_the_more_samples_the_less_doubt() -> None:
    steady, uneven = history_of(a=Taken(1, 10, 0), b=Taken(1, 10, 0)), history_of(a=Taken(1, 10, 0), b=Taken(1, 30, 0))
    assert numbers(measured_range(100, steady, 4)) == pytest.approx((80, 100, 125))
    doubt = 2 * uneven.spread / 4**0.5
    assert numbers(measured_range(100, uneven, 4)) == pytest.approx((80 * (1 - doubt), 100, 125 * (1 + doubt)))
    assert measured_range(100, uneven, 0) == measured_range(100, uneven, 1)
    assert measured_range(100, uneven, 1).low == 0.0


def test_a_sum_is_unknown_where_a_part_is_and_names_its_basis() -> None:
    one = Forecast(1, Range(1, 2, 3), Range(4, 5, 6), Range(0.1, 0.2, 0.3), Range(7, 8, 9), "replayed")
    twice = total([one, one])
    assert twice == Forecast(2, Range(2, 4, 6), Range(8, 10, 12), Range(0.2, 0.4, 0.6), Range(14, 16, 18), "replayed")
    unpriced = Forecast(0, Range(), Range(), None, Range(), "assumed")
    assert (total([one, unpriced]).usd, total([one, unpriced]).basis) == (None, "mixed")
    assert total([unpriced, one]).usd is None
    assert total([]) == NOTHING
    assert SweepForecast({"a": one, "b": one}, 0.0).total == twice


def test_the_spread_of_a_sample_alone_or_of_nothing_is_none() -> None:
    assert history_of(a=Taken(1, 10, 5)).spread == 0.0
    assert history_of(a=Taken(1, 0, 0), b=Taken(1, 0, 0)).spread == 0.0
    assert Neighbours({}, ()).spread == 0.0
    assert Neighbours({}, ()).mean() == {}
    two_models = Neighbours({"a": {"m": Taken(2, 20, 2)}, "b": {"n": Taken(4, 40, 4)}}, ())
    assert two_models.mean() == {"m": Taken(1, 10, 1), "n": Taken(2, 20, 2)}
    assert two_models.of("a") == {"m": Taken(2, 20, 2)}
    assert two_models.of(None) == two_models.mean()


def test_the_work_of_a_forecast_grows_with_the_cells_and_not_with_their_square(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lookups = 0
    resolve = Plan.resolve

    def counted(self: Plan, cell: Cell) -> ResolvedCell:
        nonlocal lookups
        lookups += 1
        return resolve(self, cell)

    def needed(seeds: int) -> int:
        nonlocal lookups
        path = tmp_path / "many.yaml"
        text = CONFIG.format(temperature=0.5, suite="crosslingual", benchmark="tiny", system="multi")
        path.write_text(text.replace("[0, 1]", str(list(range(seeds)))), encoding="utf-8")
        plan = make_plan(*load_config(path))
        lookups = 0
        forecast(plan, tmp_path / "out")
        return lookups

    monkeypatch.setattr(Plan, "resolve", counted)
    assert needed(40) <= 4 * needed(10)
