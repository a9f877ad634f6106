"""Which phases of a cell are replayed, and what is known of them then."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from seedbed.phases import replay as module
from seedbed.phases.replay import Replayed, replay
from seedbed.storage.store import write_jsonl
from seedbed.suite import Answer, Case


class Replay:
    """A cell of two samples, some of whose phases are stale; what the looking runtime sees is written by hand."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.root = folder
        self.stale: tuple[str, ...] = ()
        self.starts_programs = False
        self.unknown: Sequence[tuple[str, str, bool]] = ()
        """Phase, sample and whether it is known, of the calls that are seen."""
        self.scored: list[dict[str, Any]] = []
        self.fails: Exception | None = None
        self.seen: list[Any] = [SimpleNamespace(phase="generate", sample="of the last cell", known=False)]
        monkeypatch.setattr(module, "stale", lambda run, cell, phase: "new" if phase in self.stale else None)
        monkeypatch.setattr(module, "_LookingContext", lambda run, cell, phase, scratch: phase)
        monkeypatch.setattr(module, "_generated", self._generated)
        monkeypatch.setattr(module, "_scored", lambda context, cases, given: (context, given))

    def run(self, asked: Any) -> None:
        phase, given = asked
        assert phase == "score"
        self.scored.append(given)
        self._see("score")
        if self.fails is not None:
            raise self.fails

    def __call__(self, *, grows: bool = False, optimised: bool = False) -> Replayed:
        phases = (*(("optimise",) if optimised else ()), "generate", "score")
        cell: Any = SimpleNamespace(phases=phases, title="the cell", folder="cell")
        options = SimpleNamespace(starts_programs=self.starts_programs)
        plan: Any = SimpleNamespace(
            resolve=lambda _: SimpleNamespace(system_options=options),
            benchmark=lambda _: SimpleNamespace(test=[Case("a", {}), Case("b", {})]),
        )
        looking: Any = self
        return replay(plan, self.root, looking, cell, self.root / "scratch", grows=grows)

    def _generated(self, context: Any, cases: Sequence[Case]) -> dict[str, Answer]:
        assert context == "generate"
        self._see("generate")
        return {case.sample_id: Answer(case.sample_id, {"by": "replay"}) for case in cases}

    def _see(self, phase: str) -> None:
        self.seen += [SimpleNamespace(phase=p, sample=s, known=k) for p, s, k in self.unknown if p == phase]


@pytest.fixture
def again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Replay:
    made = Replay(tmp_path, monkeypatch)
    (tmp_path / "cell").mkdir()
    write_jsonl(tmp_path / "cell" / "predictions.jsonl", [{"sample_id": "a", "output": {"by": "file"}}])
    return made


CALLS = [
    ("generate", "a", False),
    ("generate", "a", False),
    ("generate", "b", True),
    ("score", "a", False),
    ("score", "b", False),
]


def test_a_cell_that_is_done_is_not_asked(again: Replay) -> None:
    found = again()
    assert (found.seen, found.cut, found.unknown, again.scored) == ([], {}, [], [])


def test_answers_and_then_their_scores_are_replayed_and_samples_counted_once(again: Replay) -> None:
    again.stale, again.unknown = ("generate", "score"), CALLS
    found = again()
    assert found.cut == {"generate": 1, "score": 2}
    assert [call.sample for call in found.seen] == ["a", "a", "b", "a", "b"], "nothing of the cell before"
    assert found.unknown == []
    assert again.scored == [{name: Answer(name, {"by": "replay"}) for name in "ab"}]


def test_scores_alone_are_of_the_stored_answers(again: Replay) -> None:
    again.stale, again.unknown = ("score",), CALLS
    assert again().cut == {"score": 2}
    assert again.scored == [{"a": Answer("a", {"by": "file"})}]


def test_of_a_scoring_that_fails_nothing_is_known(again: Replay) -> None:
    again.stale, again.unknown, again.fails = ("score",), CALLS, ValueError("needs all answers")
    found = again()
    assert (found.unknown, found.cut) == (["score"], {"score": 2})


@pytest.mark.parametrize(
    ("stale", "starts_programs", "unknown"),
    [
        (("optimise", "generate", "score"), False, ["optimise", "generate", "score"]),
        (("generate", "score"), True, ["generate", "score"]),
        (("score",), True, []),
        (("generate", "score"), False, []),
    ],
)
def test_neither_searches_nor_programs_are_replayed(
    again: Replay, stale: tuple[str, ...], starts_programs: bool, unknown: list[str]
) -> None:
    again.stale, again.starts_programs = stale, starts_programs
    found = again(optimised=True)
    assert found.unknown == unknown
    assert bool(again.scored) is not bool(unknown)


def test_a_cell_that_grows_has_more_to_ask_whatever_is_done(again: Replay) -> None:
    again.unknown = CALLS
    found = again(grows=True, optimised=True)
    assert (found.cut, found.unknown) == ({"generate": 1, "score": 2}, []), "its search is done for good"
