"""Answers and scores made again from the ledger: what differs is told, what cannot be made is said, nothing is left."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from seedbed.errors import CellFailed
from seedbed.lm.runtime import LMRuntime
from seedbed.phases.context import read_run
from seedbed.phases.verification import answers_again
from seedbed.phases.verification.answers_again import Aside, check_again
from seedbed.phases.verification.checker import Checker
from seedbed.suite import GENERATE_TIMES
from seedbed.sweep.cell import Cell
from tests.support.forgeries.copies import Copy, copy_of
from tests.support.forgeries.edits import put, rows_edited

STRONG = "experiment_runs/seed_1/sums_strong_Baseline_reader"
ASK = "experiment_runs/seed_1/sums_ask_Baseline_reader"
OTHER = "experiment_runs/seed_0/sums_ask_Baseline_reader"
_TOLD = "the replies in the ledger give"


class Again:
    """A copy of results, and what is said of a cell's when it is made again."""

    def __init__(self, copy: Copy, folder: Path) -> None:
        self.copy = copy
        self.run = read_run(copy.run)
        self.folder = folder
        self.aside = Aside(folder, self.run.store.ledger_url, self.run)

    def cell(self, folder: str) -> Cell:
        return next(cell for cell in self.run.plan.cells if cell.folder == folder)

    def __call__(self, folder: str) -> tuple[list[str], list[str]]:
        check = Checker(self.copy.root)
        check_again(check, self.run, self.cell(folder), self.aside)
        assert not (self.folder / folder).exists(), "what was made again is gone"
        return [str(one).removeprefix(f"{folder}/") for one in check.differences], list(check.unchecked)

    def forget(self, folder: str, *, calls: bool) -> None:
        """The replies to a cell's requests, and that they were ever sent."""
        own = f"WHERE cell = '{self.cell(folder).id}'"
        with closing(sqlite3.connect(self.copy.root / "ledger.sqlite")) as connection:
            connection.execute(f"DELETE FROM responses WHERE key IN (SELECT key FROM attempts {own})")
            if calls:
                connection.execute(f"DELETE FROM attempts {own}")
            connection.commit()


@pytest.fixture
def again(toy_run: Path, tmp_path: Path) -> Iterator[Again]:
    made = Again(copy_of(toy_run, tmp_path / "out"), tmp_path / "aside")
    yield made
    made.aside.close()


def test_what_is_as_it_was_made_has_no_difference(again: Again) -> None:
    for folder in (STRONG, ASK):
        assert again(folder) == ([], [])


def test_an_answer_that_was_changed_is_told_and_no_score_is_made_from_it(again: Again) -> None:
    rows_edited(f"{STRONG}/predictions.jsonl", put(0, "output", "answer", to="forged"))(again.copy)
    (said,), unchecked = again(STRONG)
    assert said.startswith(f"predictions.jsonl: row 1 (q00000).output.answer is 'forged', {_TOLD} ")
    assert unchecked == []


def test_a_score_that_was_changed_is_told(again: Again) -> None:
    rows_edited(f"{ASK}/scores.jsonl", put(1, "scores", "digits", to=0.125))(again.copy)
    (said,), _ = again(ASK)
    assert said.startswith(f"scores.jsonl: row 2 (q00001).scores.digits is 0.125, {_TOLD} ")


def test_a_file_of_the_suite_is_compared_in_the_way_of_its_kind(again: Again, monkeypatch: pytest.MonkeyPatch) -> None:
    own, cell = answers_again.score, again.copy.root / STRONG

    def score(context: Any, folder: Path) -> Any:
        made = own(context, folder)
        (folder / "same.json").write_text('{"a": 1.0, "b": [2]}', encoding="utf-8")
        (folder / "other.json").write_text('{"a": 1}', encoding="utf-8")
        for name in ("same.txt", "other.txt", "never.txt"):
            (folder / name).write_text("1", encoding="utf-8")
        return made

    monkeypatch.setattr(answers_again, "score", score)
    (cell / "same.json").write_text('{\n"b": [2], "a": 1}', encoding="utf-8")
    (cell / "other.json").write_text('{"a": 2}', encoding="utf-8")
    (cell / "same.txt").write_text("1", encoding="utf-8")
    (cell / "other.txt").write_text("1.0", encoding="utf-8")
    (cell / "by_hand.txt").write_text("1", encoding="utf-8")
    rows_edited(f"{STRONG}/toy_answers.jsonl", put(2, "sample", to="forged"))(again.copy)
    assert again(STRONG) == (
        [
            "never.txt: is missing",
            f"other.json: a is 2, {_TOLD} 1",
            "other.txt: is not what the suite writes from the stored answers",
            f"toy_answers.jsonl: row 3 (q00002).sample is 'forged', {_TOLD} 'q00002'",
        ],
        [f"{STRONG}/by_hand.txt: no phase writes it"],
    )


def test_replies_that_were_not_kept_are_said_and_the_scores_are_checked_all_the_same(again: Again) -> None:
    again.forget(ASK, calls=False)
    rows_edited(f"{ASK}/scores.jsonl", put(1, "scores", "digits", to=0.125))(again.copy)
    told, (said,) = again(ASK)
    title = again.cell(ASK).title
    assert said == f"answers of {title!r}: they cannot be made again (24 of its requests have no reply on record)"
    assert [one.partition(" is ")[0] for one in told] == ["scores.jsonl: row 2 (q00001).scores.digits"]
    # The other seed asked the same: a reply that was missing has stopped no cell but its own.
    assert again(OTHER)[1][0].endswith("(24 of its requests have no reply on record)")


def test_requests_that_the_ledger_never_saw_are_a_difference(again: Again) -> None:
    again.forget(ASK, calls=True)
    (said,), unchecked = again(ASK)
    assert said.startswith("predictions.jsonl: the answers cannot be made again from the ledger: ReplayMiss: ")
    assert unchecked == []


@pytest.mark.parametrize(("what", "file"), [("generate", "predictions.jsonl"), ("score", "scores.jsonl")])
def test_what_cannot_be_made_here_is_said_and_what_cannot_be_made_at_all_is_told(
    again: Again, monkeypatch: pytest.MonkeyPatch, what: str, file: str
) -> None:
    named = {"generate": "answers", "score": "scores"}[what]

    def fails(error: Exception) -> tuple[list[str], list[str]]:
        def run(*_: Any) -> None:
            raise error

        monkeypatch.setattr(answers_again, what, run)
        return again(STRONG)

    title = again.cell(STRONG).title
    here = f"{named} of {title!r}: they cannot be made again here (OSError: no weights)"
    assert fails(OSError("no weights")) == ([], [here])
    at_all = f"{file}: the {named} cannot be made again from the ledger: CellFailed: no luck"
    assert fails(CellFailed("no luck")) == ([at_all], [])


def test_the_scorer_sees_the_times_of_the_answers_it_scores(again: Again, monkeypatch: pytest.MonkeyPatch) -> None:
    own, seen = answers_again.score, list[str]()

    def score(context: Any, folder: Path) -> Any:
        times = folder / GENERATE_TIMES
        seen.append(times.read_text("utf-8") if times.exists() else "")
        return own(context, folder)

    monkeypatch.setattr(answers_again, "score", score)
    again(STRONG)
    (again.copy.root / STRONG / GENERATE_TIMES).write_text("published", encoding="utf-8")
    again(STRONG)
    rows_edited(f"{STRONG}/predictions.jsonl", put(0, "output", "answer", to="forged"))(again.copy)
    again(STRONG)
    again.forget(ASK, calls=False)
    (again.copy.root / ASK / GENERATE_TIMES).write_text("published too", encoding="utf-8")
    again(ASK)
    assert [text for text in seen if text.startswith("published")] == ["published", "published too"]
    assert "published" not in seen[2], "answers that differ have the times they were made in"


def test_the_scorer_finds_what_the_search_chose(again: Again, monkeypatch: pytest.MonkeyPatch) -> None:
    own, seen = answers_again.score, list[list[str]]()

    def score(context: Any, folder: Path) -> Any:
        seen.append([(folder / name).read_text("utf-8") for name in ("program.json", "candidates.jsonl")])
        return own(context, folder)

    monkeypatch.setattr(answers_again, "score", score)
    for name in ("program.json", "candidates.jsonl"):
        (again.copy.root / STRONG / name).write_text(name, encoding="utf-8")
    again(STRONG)
    assert seen == [["program.json", "candidates.jsonl"]]


def test_nothing_is_left_though_the_scorer_cannot_be_stopped_well(
    again: Again, monkeypatch: pytest.MonkeyPatch
) -> None:
    def run(*_: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(answers_again, "score", run)
    with pytest.raises(KeyboardInterrupt):
        again(STRONG)
    assert not (again.folder / STRONG).exists()


def test_the_runtime_is_made_once_and_calls_no_model(again: Again, monkeypatch: pytest.MonkeyPatch) -> None:
    own, closed = LMRuntime.close, list[LMRuntime]()

    def close(runtime: LMRuntime) -> None:
        closed.append(runtime)
        own(runtime)

    monkeypatch.setattr(LMRuntime, "close", close)
    runtime = again.aside.runtime()
    assert again.aside.runtime() is runtime
    assert again.aside.run.replay
    assert json.dumps(again.aside.unanswered(again.cell(ASK))) == "0"
    runtime.stopped.set()
    other = again.aside.runtime()
    assert other is not runtime
    assert closed == [runtime]
    again.aside.close()
    again.aside.close()
    assert closed == [runtime, other]
    assert again.aside.runtime() is not other
