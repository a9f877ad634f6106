"""What an optimizer is given: cases as worked examples, and the suite's word on every answer."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import dspy
import pytest

from seedbed.phases import optimise as module
from seedbed.phases.optimise import load_program, to_example
from seedbed.storage.store import write_json
from seedbed.suite import Case, Feedback


@pytest.mark.parametrize(
    ("gold", "fields"),
    [
        ({"answer": "x", 2: "y"}, {"answer": "x", "2": "y"}),
        ("x", {"reply": "x"}),
        (["x", "y"], {"reply": "x"}),
        (["x"], {"reply": "x"}),
        (["x", 1], {"reply": "x"}),
        ([1, "x"], {}),
        ([], {}),
        (7, {}),
        (None, {}),
    ],
)
def test_a_gold_is_shown_as_the_fields_of_an_answer(gold: Any, fields: dict[str, Any]) -> None:
    example = to_example(Case("a", {"question": "?"}, gold=gold), "reply")
    assert dict(example.labels().items(include_dspy=False)) == fields
    assert dict(example.inputs().items(include_dspy=False)) == {"question": "?"}
    assert example["dspy_sample_id"] == "a"


def test_a_gold_does_not_hide_an_input() -> None:
    assert to_example(Case("a", {"question": "?"}, gold={"question": "gold"})).question == "?"


class Judge:
    """Of a search on two examples, whose suite says what it thinks."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.checks, self.scored = 0, list[tuple[str, float]]()
        self.reports: list[tuple[int, int]] = []
        self.halted: list[Exception] = []
        self.says: Any = lambda case, output: Feedback(0.5 if output["answer"] == case.gold else 0.0)
        monkeypatch.setattr(module, "report", lambda cell, phase, done, total: self.reports.append((done, total)))
        guard = SimpleNamespace(check=self._check, halt=self._halt)
        suite = SimpleNamespace(feedback=lambda context, case, output: self.says(case, output))
        benchmark = SimpleNamespace(train=[Case("t", {}, gold="x")], val=[Case("v", {}, gold="y")])
        self.context: Any = SimpleNamespace(guard=guard, suite=suite, benchmark=benchmark, cell="cell")

    def _check(self) -> None:
        self.checks += 1

    def _halt(self, error: Exception) -> Exception:
        self.halted.append(error)
        return RuntimeError("halted")

    def __call__(self, sample: str, answer: str, expected: int = 3, **how: Any) -> Feedback:
        log: Any = _Log(self)
        judge = module._judge(self.context, log, expected)  # pyright: ignore[reportPrivateUsage]
        return judge(dspy.Example(dspy_sample_id=sample), dspy.Prediction(answer=answer), **how)


class _Log:
    def __init__(self, judge: Judge) -> None:
        self._judge = judge

    def scored(self, sample: str, score: float) -> None:
        self._judge.scored.append((sample, score))

    @property
    def metric_calls(self) -> int:
        return len(self._judge.scored)


@pytest.fixture
def judge(monkeypatch: pytest.MonkeyPatch) -> Judge:
    return Judge(monkeypatch)


def test_an_answer_is_judged_by_its_case_and_counted(judge: Judge) -> None:
    assert [judge(*own).score for own in (("t", "x"), ("v", "x"), ("v", "y"))] == [0.5, 0.0, 0.5]
    assert judge.scored == [("t", 0.5), ("v", 0.0), ("v", 0.5)]
    assert judge.checks == 3
    assert judge.reports == [(1, 3), (2, 3), (3, 4)], "the last is known only at the end"


def test_who_asks_for_words_alone_is_not_counted(judge: Judge) -> None:
    assert judge("t", "x", logged=False).score == 0.5
    assert (judge.scored, judge.reports) == ([], [])


def test_a_judge_that_fails_halts_the_search_and_scores_nothing(judge: Judge) -> None:
    def fail(*_: object) -> Feedback:
        raise ValueError("no verdict")

    judge.says = fail
    with pytest.raises(RuntimeError, match="halted"):
        judge("t", "x")
    assert [str(error) for error in judge.halted] == ["no verdict"]
    assert judge.scored == []


def test_suites_without_a_word_of_their_own_teach_by_their_scorers(
    judge: Judge, monkeypatch: pytest.MonkeyPatch
) -> None:
    judge.context.suite.feedback = None
    monkeypatch.setattr(module, "scorer_feedback", lambda context, case, output: Feedback(0.25))
    assert judge("t", "x").score == 0.25


class Say(dspy.Module):
    def __init__(self) -> None:
        super().__init__()
        self.say: Any = dspy.Predict("question -> answer")


def test_a_program_is_kept_without_the_model_it_was_found_with(tmp_path: Path) -> None:
    found = Say()
    found.say.signature = found.say.signature.with_instructions("Be brief.")
    found.say.demos = [dspy.Example(question="?", answer="yes")]
    found.say.lm = dspy.LM("openai/of-the-optimizer", api_key="none")
    context: Any = SimpleNamespace(cell=SimpleNamespace(optimizer="GEPA"))
    program = module._program(context, found)  # pyright: ignore[reportPrivateUsage]
    assert (program["optimizer"], program["instructions"], program["n_demos"]) == (
        "GEPA",
        {"say": "Be brief."},
        {"say": 1},
    )
    assert program["state"]["say"]["lm"] is None
    write_json(tmp_path / "program.json", program)
    loaded = Say()
    load_program(loaded, tmp_path)
    assert loaded.say.signature.instructions == "Be brief."
    assert [dict(demo) for demo in loaded.say.demos] == [{"question": "?", "answer": "yes"}]
