"""What a phase is given: cases, models, caps, places; and a cell that is crossed, which leaves the run as it was."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest
from upath import UPath

from seedbed.lm.current_sample import CURRENT_SAMPLE
from seedbed.lm.ledger import Cap
from seedbed.lm.runtime import close_runtimes
from seedbed.phases import context as context_module
from seedbed.phases import crossing
from seedbed.phases.aggregate import read_console
from seedbed.phases.answer import opened_system
from seedbed.phases.context import CellContext, SweepRun, config_folder, open_run
from seedbed.phases.crossing import Crossings, Exchanged
from seedbed.phases.desk import desk
from seedbed.phases.optimise import PROGRAM
from seedbed.storage.objects import put
from seedbed.storage.store import Store, write_text
from seedbed.suite import Answer, Case
from seedbed.sweep.config import load_config
from seedbed.sweep.plan import make_plan

CONFIG = """\
name: given
seeds: [0]
plugins: [tests.support.contest_suite]
models:
  reader: {{model: offline/reader, limits: {{concurrency: 3}}}}
  judge: {{model: offline/judge, limits: {{concurrency: 5}}}}
roles: {{judge: judge}}
experiments:
  - {{suite: contest, models: [reader], benchmarks: [claims], {more}
     systems: [{{name: say, label: a}}, {{name: say, label: b, skill: 0.5}}]}}
{budget}
"""
LOOKS = "decide: {looks: 4, difference: 0.3},"


@pytest.fixture(autouse=True)
def _runtimes() -> Iterator[None]:
    yield
    close_runtimes()


def run_of(folder: Path, more: str = "", budget: str = "") -> SweepRun:
    config = folder / "given.yaml"
    config.write_text(CONFIG.format(more=more, budget=budget), encoding="utf-8")
    store = Store(folder / "out")
    plan = replace(make_plan(*load_config(config)), generation=2)
    return SweepRun(store.sweep_dir("given", "s"), plan, store, replay=False)


def context_of(run: SweepRun, phase: str = "generate", **more: Any) -> CellContext:
    return CellContext(run, run.plan.cells[0], phase, **more)


def test_the_ledger_is_the_one_named_for_the_run_then_the_configs_then_beside_the_results(tmp_path: Path) -> None:
    run = run_of(tmp_path)
    assert run.ledger_url == f"sqlite:///{tmp_path}/out/ledger.sqlite"
    own = run_of(tmp_path, budget="ledger: sqlite:////tmp/own.sqlite")
    assert own.ledger_url == "sqlite:////tmp/own.sqlite"
    assert replace(own, ledger="sqlite:////tmp/given.sqlite").ledger_url == "sqlite:////tmp/given.sqlite"
    assert (run.rescore, run.samples(run.plan.cells[0])) == (False, None)


def test_the_config_of_a_run_moves_with_its_results_and_stays_where_they_are_objects(tmp_path: Path) -> None:
    assert config_folder(tmp_path / "out", "../configs") == tmp_path / "configs"
    assert config_folder(cast("Path", UPath("memory://lab/out")), "/home/configs") == Path("/home/configs")


def test_a_cell_that_grows_sees_the_cases_it_is_asked_in_the_order_of_the_benchmark(tmp_path: Path) -> None:
    run = run_of(tmp_path, LOOKS)
    looks = run.plan.looks(run.plan.cells[0])
    assert looks is not None
    whole = [case.sample_id for case in context_of(run).benchmark.test]
    assert len(whole) == 160
    first = [case.sample_id for case in context_of(run, asked=40).benchmark.test]
    assert first == [sample for sample in whole if sample in looks.sample_ids[:40]]
    assert len(context_of(run_of(tmp_path), asked=40).benchmark.test) == 160, "nobody looks at it"


def test_the_account_of_a_phase_says_how_many_were_asked_where_it_grows(tmp_path: Path) -> None:
    run = run_of(tmp_path)
    assert context_of(run, execution="e").account() == {"execution": "e", "generation": 2}
    assert context_of(run, execution="e", asked=40).account() == {"execution": "e", "generation": 2, "asked": 40}
    assert context_of(run).execution != context_of(run).execution


@pytest.mark.parametrize(
    ("budget", "caps"),
    [
        ("", []),
        ("budget: {max_usd: 3}", [("sweep", 3.0)]),
        ("budget: {max_usd_per_cell: 1}", [("cell", 1.0)]),
        ("budget: {max_usd: 0, max_usd_per_cell: 0}", [("sweep", 0.0), ("cell", 0.0)]),
    ],
)
def test_calls_are_made_under_the_caps_of_sweep_and_cell(
    tmp_path: Path, budget: str, caps: Sequence[tuple[str, float]]
) -> None:
    given = context_of(run_of(tmp_path, budget=budget))
    bound, names = given.binding("judge"), {"sweep": "sweep:given", "cell": f"cell:{given.cell.id}"}
    assert bound.caps == tuple(Cap(names[kind], usd) for kind, usd in caps)
    assert (bound.scope.model, bound.scope.role, bound.scope.generation) == ("judge", "judge", 2)
    assert bound.model.model == "offline/judge"


def test_a_role_is_there_if_the_config_names_a_model_for_it(tmp_path: Path) -> None:
    given = context_of(run_of(tmp_path))
    assert (given.has_role("judge"), given.has_role("embedding")) == (True, False)


@pytest.mark.parametrize(("phase", "at_once"), [("optimise", 3), ("generate", 3), ("score", 5)])
def test_as_many_calls_are_made_at_once_as_the_models_of_the_phase_take(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, phase: str, at_once: int
) -> None:
    given: dict[str, Any] = {}

    async def run_all(_runtime: Any, cases: Any, one: Any, **options: Any) -> None:
        given.update(options)

    monkeypatch.setattr(context_module, "run_all", run_all)
    context = context_of(run_of(tmp_path), phase)
    assert context.runtime.run(context.each([], cast("Any", None))) == []
    assert given == {"calls_at_once": at_once, "cell": context.cell.id}


def test_each_case_is_worked_on_under_its_name_and_told_of_without_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cases = [Case(f"s{n}", {}, repeat=n) for n in range(5)]
    context, told, reported = context_of(run_of(tmp_path)), list[Any](), list[Any]()

    async def work(case: Case) -> Any:
        return case.sample_id, CURRENT_SAMPLE.get()

    outside = context.runtime.run(_current())
    found = context.runtime.run(context.each_telling(cases, work, lambda: told.append(CURRENT_SAMPLE.get())))
    assert found == [(f"s{n}", (f"s{n}", n)) for n in range(5)]
    assert told == [outside] * 5
    monkeypatch.setattr(context_module, "report", lambda cell, phase, done, total: reported.append((done, total)))
    assert len(context.runtime.run(context.each(cases, work))) == 5
    assert reported == [(n, 5) for n in range(1, 6)]


async def _current() -> Any:
    return CURRENT_SAMPLE.get()


def test_without_answers_no_sample_has_used_anything(tmp_path: Path) -> None:
    assert context_of(run_of(tmp_path), "score").sample_usage() == {}


def test_how_long_the_offline_model_took_is_nobodys_latency(toy_run: Path) -> None:
    run = open_run(str(toy_run))
    (cell, *_) = [cell for cell in run.plan.cells if cell.label == "ask"]
    usage = CellContext(run, cell, "score").sample_usage()
    assert len(usage) == 24
    assert {own.latency_s for own in usage.values()} == {None}
    assert all(own.tokens_in for own in usage.values())


# -- the console -------------------------------------------------------------------------------------------------------


def test_each_group_is_shown_under_its_names_a_line_a_system(toy_run: Path) -> None:
    first, second = read_console(open_run(str(toy_run))).split("\n\n")
    heading, *lines = first.splitlines()
    assert (heading, second.splitlines()[0]) == ("toy · sums · reader · seed 0", "toy · sums · reader · seed 1")
    assert [line.partition(" | ")[0] for line in lines] == ["weak", "middle", "strong", "ask"]
    fields = [own.partition("=") for own in lines[0].split(" | ")[1:]]
    assert [name for name, _, _ in fields] == ["Digits", "Right_%", "F1", "n"]
    assert [len(value.partition(".")[2]) for _, _, value in fields] == [3, 3, 3, 0]


# -- a desk for a cell whose folder is elsewhere -----------------------------------------------------------------------


@pytest.fixture
def away(toy_run: Path, request: pytest.FixtureRequest) -> SweepRun:
    run = open_run(str(toy_run))
    store = Store(cast("Path", UPath(f"memory://{abs(hash(request.node.nodeid))}/lab")))
    return replace(run, store=store, ledger=run.ledger_url)


def test_a_phase_has_a_folder_though_nothing_lies_in_it(away: SweepRun) -> None:
    with desk(away, away.plan.cells[0], lambda: None) as near:
        assert near.store.cell_dir(away.plan.cells[0]).is_dir()
        assert near.results is away.store


def test_what_no_phase_reads_is_not_brought_along(away: SweepRun) -> None:
    cell = away.plan.cells[0]
    read = {"predictions.jsonl", "done/generate.json", "program.json"}
    unread = {"cell.json", "scores.jsonl", "manifest.json", "evaluation_results/a.txt", "metric_logs/b", "logs/c/d"}
    for name in read | unread:
        put(away.store.cell_dir(cell) / name, name.encode())
    with desk(away, cell, lambda: None) as near:
        folder = near.store.cell_dir(cell)
        assert {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()} == read
    assert all((away.store.cell_dir(cell) / name).exists() for name in unread), "nor is it dropped"


# -- crossings ---------------------------------------------------------------------------------------------------------


def crossings(run: SweepRun) -> Crossings:
    return Crossings(run, run.runtime(), "toys.explain", 1.0)


def test_answers_that_are_given_are_scored_and_the_others_asked_for(toy_run: Path) -> None:
    run = open_run(str(toy_run))
    (cell, *_) = [cell for cell in run.plan.cells if cell.label == "ask"]
    cases = run.plan.benchmark(cell).test[:3]
    before = (run.store.cell_dir(cell) / "predictions.jsonl").read_bytes()
    given = {case.sample_id: Answer(case.sample_id, {"answer": case.gold}) for case in cases[:2]}
    rows = crossings(run).rows(cell, Exchanged(cases, given))
    assert [(row.sample_id, row.status) for row in rows] == [(case.sample_id, "ok") for case in cases]
    assert [row.scores["right"] for row in rows[:2]] == [1.0, 1.0]
    assert rows[2].scores["right"] == 0.0, "the offline model does not add"
    assert len(crossings(run).rows(cell, Exchanged(cases[:1]))) == 1
    assert (run.store.cell_dir(cell) / "predictions.jsonl").read_bytes() == before


def test_a_crossed_cell_works_in_a_folder_of_its_own_with_the_program_that_was_found(
    toy_run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = open_run(str(toy_run))
    run = replace(run, store=Store(tmp_path, run.store.cache_dir), ledger=run.ledger_url)
    cell, seen = run.plan.cells[0], list[Any]()

    async def look(context: CellContext, cases: Any) -> list[Any]:
        seen.append((context.folder.is_dir(), (context.folder / PROGRAM).exists(), context.folder))
        return []

    async def score(context: CellContext, cases: Any, answers: Any) -> list[Any]:
        return []

    monkeypatch.setattr(crossing, "answer_cases", look)
    monkeypatch.setattr(crossing, "score_answers", score)
    exchanged = Exchanged(run.plan.benchmark(cell).test[:1])
    crossings(run).rows(cell, exchanged)
    write_text(run.store.cell_dir(cell) / PROGRAM, "{}")
    crossings(run).rows(cell, exchanged)
    assert [(there, program) for there, program, _ in seen] == [(True, False), (True, True)]
    assert not any(folder.exists() or folder.is_relative_to(tmp_path) for _, _, folder in seen)


# -- systems -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("fails", [False, True])
def test_a_system_that_can_be_closed_is_closed_at_the_end(fails: bool) -> None:
    closed: list[bool] = []

    class System:
        async def aclose(self) -> None:
            closed.append(True)

    async def ask(system: object) -> None:
        spec = SimpleNamespace(build=lambda context, options: system)
        resolved = SimpleNamespace(system_spec=spec, system_options=None)
        cell = SimpleNamespace(optimised=False)
        before = len(closed)
        context = SimpleNamespace(resolved=resolved, lm=lambda role: None, cell=cell, folder=Path())
        async with opened_system(cast("Any", context)) as opened:
            assert opened is system
            assert len(closed) == before
            if fails:
                raise ValueError("no answer")

    with pytest.raises(ValueError, match="no answer") if fails else nullcontext():
        asyncio.run(ask(System()))
    assert closed == [True]
    with pytest.raises(ValueError, match="no answer") if fails else nullcontext():
        asyncio.run(ask(object()))
    assert closed == [True], "one that cannot be closed is left at that"
