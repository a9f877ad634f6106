"""The files of a cell, forged one at a time with all hashes renewed: what is told, and what may be otherwise."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from seedbed.phases.context import SweepRun, read_run
from seedbed.phases.verification.cell_files import check_cell, check_identity
from seedbed.phases.verification.checker import Checker
from seedbed.storage.store import read_json, read_jsonl
from seedbed.suite import GENERATE_TIMES
from seedbed.sweep.cell import Cell
from tests.support.forgeries.copies import Change, Copy, renew
from tests.support.forgeries.edits import edited, more, put, replaced, rows_edited

CELL = "experiment_runs/seed_1/sums_strong_Baseline_reader"


@pytest.fixture
def copy(toy_run: Path, tmp_path: Path) -> Copy:
    """The cell, and what says which run it is of."""
    root = toy_run.parents[2]
    run = tmp_path / toy_run.relative_to(root)
    run.mkdir(parents=True)
    shutil.copytree(root / CELL, tmp_path / CELL)
    for name in ("plan.json", "run.json", "manifest.json"):
        shutil.copyfile(toy_run / name, run / name)
    return Copy(tmp_path, run)


def opened(copy: Copy) -> tuple[SweepRun, Cell]:
    run = read_run(copy.run)
    return run, next(cell for cell in run.plan.cells if cell.folder == CELL)


def checked(copy: Copy, *, with_cases: bool = True) -> Checker:
    run, cell = opened(copy)
    check = Checker(copy.root)
    check_cell(check, run, cell, None, with_cases=with_cases)
    return check


def told(copy: Copy, *, with_cases: bool = True) -> list[str]:
    renew(copy)
    return [str(d).removeprefix(f"{CELL}/") for d in checked(copy, with_cases=with_cases).differences]


def test_every_file_of_a_cell_is_looked_at_and_follows_from_its_rows(copy: Copy) -> None:
    check = checked(copy)
    assert (check.differences, check.unchecked) == ([], {})
    there = {str(path.relative_to(copy.root)) for path in (copy.root / CELL).rglob("*") if path.is_file()}
    assert check.files == {name for name in there if "toy_answers" not in name}


def read_predictions(copy: Copy) -> list[dict[str, Any]]:
    return list(read_jsonl(copy.root / CELL / "predictions.jsonl"))


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (
            edited(f"{CELL}/cell.json", put("title", to="best")),
            ["cell.json: title is 'best', the plan gives 'strong · "],
        ),
        (
            edited(f"{CELL}/config.json", put("model", "temperature", to=0.1)),
            ["config.json: model.temperature is 0.1, the plan"],
        ),
        (
            edited(f"{CELL}/config.json", put("system_options", "skill", to=0.1)),
            ["config.json: system_options.skill is 0.1, the"],
        ),
        (
            edited(f"{CELL}/config.json", put("benchmark_options", "n", to=7)),
            ["config.json: benchmark_options.n is 7, the plan"],
        ),
        (edited(f"{CELL}/config.json", put("cell", "seed", to=7)), ["config.json: cell.seed is 7, the plan gives 1"]),
        (
            edited(f"{CELL}/config.json", put("roles", to={"judge": "x"})),
            ["config.json: roles has 1 entries, the plan gives 0"],
        ),
        (
            edited(f"{CELL}/manifest.json", put("suite", "version", to="9")),
            ["manifest.json: suite.version is '9', the plan gives '1'"],
        ),
        (
            edited(f"{CELL}/manifest.json", put("data_hash", to="0")),
            ["manifest.json: data_hash is '0', the plan gives "],
        ),
        (
            edited(f"{CELL}/manifest.json", put("roles", to={})),
            ["manifest.json: roles has 0 entries, the plan gives 1"],
        ),
        (
            edited(f"{CELL}/metrics.json", put("metrics", "strong", "n", to=7)),
            ["metrics.json: metrics.strong.n is 7, the stored rows give 24"],
        ),
        (
            edited(f"{CELL}/metrics.json", put("usage", "generate", "tokens_in", to=7)),
            [
                "done/score.json: result.usage.generate.tokens_in is 0, the ledger gives 7",
                "done/generate.json: result.usage.tokens_in is 0, the ledger gives 7",
                "evaluation_results/result.json: ",
                "evaluation_results/evaluation_result.txt: line 2 is ",
            ],
        ),
        (
            edited(f"{CELL}/done/score.json", put("result", "metrics", "n", to=7)),
            ["done/score.json: result.metrics.n is 7, the stored rows give "],
        ),
        (edited(f"{CELL}/done/score.json", put("key", to="0")), ["done/score.json: key is '0', the plan gives "]),
        (
            edited(f"{CELL}/done/generate.json", put("cell_id", to="0")),
            ["done/generate.json: cell_id is '0', the plan gives "],
        ),
        (
            edited(f"{CELL}/done/generate.json", put("result", "n", to=more)),
            ["done/generate.json: result.n and n_errors[0] is 25, the stored rows give 24"],
        ),
        (
            edited(f"{CELL}/done/generate.json", put("result", "n_errors", to=9)),
            ["done/generate.json: result.n and n_errors[1] is 9, the stored rows give "],
        ),
        (
            rows_edited(f"{CELL}/predictions.jsonl", put(1, "sample_id", to="another")),
            ["predictions.jsonl: sample_id of rows[1] is 'another', scores.jsonl gives 'q00001'"],
        ),
        (
            edited(f"{CELL}/evaluation_results/result.json", put("score", to=7)),
            ["evaluation_results/result.json: score is 7, the stored rows give "],
        ),
        (
            replaced(f"{CELL}/evaluation_results/evaluation_result.txt", r"\n\d+\.\d+,", "\n7.0,"),
            ["evaluation_results/evaluation_result.txt: line 2 is '7.0,"],
        ),
        (
            rows_edited(f"{CELL}/metric_logs/test.jsonl", put(0, "score", to=0.125)),
            ["metric_logs/test.jsonl: row 1 (q00000).score is 0.125, the stored rows give "],
        ),
    ],
)
def test_what_is_forged_is_told_where_it_stands_and_nowhere_else(copy: Copy, change: Change, said: list[str]) -> None:
    change(copy)
    found = told(copy)
    assert len(found) == len(said), found
    assert sorted(one[: len(start)] for one, start in zip(sorted(found), sorted(said), strict=True)) == sorted(said)


@pytest.mark.parametrize(
    "change",
    [
        edited(f"{CELL}/config.json", put("cell", "scoring", to={})),
        edited(f"{CELL}/config.json", put("cell", "experiment", to=7)),
        edited(f"{CELL}/config.json", put("cell", "in_looks", to=True)),
        edited(f"{CELL}/config.json", put("benchmark_options", "path", to="elsewhere")),
        edited(f"{CELL}/manifest.json", put("roles", "task", to="another name")),
        edited(f"{CELL}/manifest.json", put("benchmark_options", "path", to="elsewhere")),
        edited(f"{CELL}/manifest.json", put("python", to="2.7")),
        edited(f"{CELL}/manifest.json", put("config_hash", to="0")),
    ],
)
def test_what_changes_no_answer_may_be_otherwise(copy: Copy, change: Change) -> None:
    change(copy)
    assert told(copy) == []


def test_settings_that_change_no_answer_are_said_and_are_no_difference(copy: Copy) -> None:
    edited(f"{CELL}/config.json", put("model", "timeout_s", to=7))(copy)
    renew(copy)
    assert list(checked(copy).unchecked) == [
        f"{CELL}/config.json: model.timeout_s (changes no answer, and differs from the sweep's config of today)"
    ]
    edited(f"{CELL}/config.json", put("model", "retries", to=7))(copy)
    renew(copy)
    check = checked(copy)
    assert check.differences == []
    (said,) = check.unchecked
    assert {"model.timeout_s", "model.retries"} <= set(said.replace(",", "").split())


def test_without_the_cases_what_is_known_from_them_is_not_compared(copy: Copy) -> None:
    edited(f"{CELL}/manifest.json", put("data_hash", to="0"))(copy)
    edited(f"{CELL}/manifest.json", put("excluded", to={"q1": "why"}))(copy)
    assert told(copy, with_cases=False) == []
    assert len(told(copy)) == 2


@pytest.mark.parametrize("name", ["cell.json", "config.json", "manifest.json", "metrics.json", "done/score.json"])
def test_a_file_that_is_gone_is_missing(copy: Copy, name: str) -> None:
    (copy.root / CELL / name).unlink()
    assert f"{CELL}/{name}: is missing" in [str(one) for one in checked(copy).differences]


@pytest.mark.parametrize(
    "name", ["evaluation_results/result.json", "evaluation_results/evaluation_result.txt", "metric_logs/test.jsonl"]
)
def test_one_file_that_is_gone_keeps_no_other_from_being_checked(copy: Copy, name: str) -> None:
    (copy.root / CELL / name).unlink()
    rows_edited(f"{CELL}/scores.jsonl", put(0, "scores", "digits", to=0.125))(copy)
    found = told(copy)
    assert f"{name}: is missing" in found
    others = {"evaluation_results/result.json", "evaluation_results/evaluation_result.txt", "metric_logs/test.jsonl"}
    assert others - {name} <= {one.partition(":")[0] for one in found}


def test_a_byte_more_is_told_by_the_hash_alone(copy: Copy) -> None:
    path = copy.root / CELL / "scores.jsonl"
    size = path.stat().st_size
    path.write_bytes(path.read_bytes() + b"\n")
    assert [str(one) for one in checked(copy).differences] == [
        f"{CELL}/scores.jsonl: has changed since it was written (its hash differs)",
        f"{CELL}/done/score.json: files.scores.jsonl is {size}, the plan gives {size + 1}",
    ]


def _unnamed(data: Any) -> None:
    del data["sha256"]["scores.jsonl"]


def test_a_marker_names_a_hash_for_every_file_of_its_phase(copy: Copy) -> None:
    edited(f"{CELL}/done/score.json", _unnamed)(copy)
    found = [one.what for one in checked(copy).differences]
    n = len(read_json(copy.root / CELL / "done/score.json")["sha256"])
    assert f"the names under sha256 has {n} entries, the phase writes {n + 1}" in found


def test_an_answer_that_cannot_be_read_is_no_error_and_any_other_failure_is_one(copy: Copy) -> None:
    path, answers = f"{CELL}/predictions.jsonl", read_predictions(copy)
    failed = sum("error" in row for row in answers)
    place = next(place for place, row in enumerate(answers) if "error" not in row)

    def fail(kind: str) -> Change:
        def edit(rows: list[Any]) -> None:
            rows[place] = {"sample_id": rows[place]["sample_id"], "error": {"kind": kind}}

        return rows_edited(path, edit)

    fail("context_length")(copy)
    assert told(copy) == []
    fail("ValueError")(copy)
    said = f"done/generate.json: result.n and n_errors[1] is {failed}, the stored rows give {failed + 1}"
    assert told(copy) == [said]


def test_times_are_a_file_of_their_phase_where_there_are_some(copy: Copy) -> None:
    (copy.root / CELL / GENERATE_TIMES).write_text("{}\n", encoding="utf-8")
    assert [str(one).removeprefix(f"{CELL}/") for one in checked(copy).differences] == [
        f"done/generate.json: files.{GENERATE_TIMES} is missing",
        "done/generate.json: the names under sha256 has 2 entries, the phase writes 3",
        "done/generate.json: the names under sha256[1] is 'predictions.jsonl', the phase writes 'generate_times.jsonl'",
    ]


def test_a_phase_is_of_the_runs_generation_or_a_later_one(copy: Copy) -> None:
    run, _ = opened(copy)
    for generation, said in ((run.generation + 1, []), (run.generation, []), (run.generation - 1, ["done/score.json"])):
        edited(f"{CELL}/done/score.json", put("generation", to=generation))(copy)
        assert [one.partition(": ")[0] for one in told(copy)] == said
    assert told(copy) == [
        f"done/score.json: generation is {run.generation - 1}, the run's is {run.generation}",
    ]


def test_a_cells_id_is_the_hash_of_its_parts_and_they_are_those_of_today(copy: Copy) -> None:
    run, cell = opened(copy)

    def said(cell: Cell, *, with_cases: bool = True) -> list[str]:
        check = Checker(copy.root)
        check_identity(check, run, cell, with_cases=with_cases)
        assert check.figures == 1
        return [one.what.partition(", its")[0] for one in check.differences]

    assert said(cell) == []
    other = replace(cell, answers={**cell.answers, "seed": "0"})
    given = f"the id of {cell.title!r} is {cell.id!r}"
    part = f"the part 'seed' of {cell.title!r} is not what the config, the code and the data here give"
    assert said(other) == [given, part]
    assert said(other, with_cases=False) == [given]
