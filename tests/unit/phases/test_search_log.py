"""What an optimizer tried, whatever the order in which its threads come back."""

from __future__ import annotations

import threading
from types import SimpleNamespace
from typing import Any

import pytest

from seedbed.lm.ledger.reads import PhaseUsage
from seedbed.phases.search import SearchLog, prompts_of
from seedbed.suite import Case


def program(instructions: str, *demos: dict[str, Any]) -> Any:
    predictor = SimpleNamespace(signature=SimpleNamespace(instructions=instructions), demos=list(demos))
    return SimpleNamespace(named_predictors=lambda: [("say", predictor)])


class Search:
    """A search over three examples of val, two of which have the same inputs, and one of train."""

    def __init__(self) -> None:
        self.calls = 0
        val = [Case("v1", {"q": 1}), Case("v2", {"q": 2}), Case("v3", {"q": 2})]
        self.log = SearchLog({"val": val, "train": [Case("t1", {"q": 9})]}, self._usage)

    def _usage(self) -> PhaseUsage:
        self.calls += 1
        return PhaseUsage(self.calls, 10, 4, 0, 0, 0.1 + 0.2, None, 0.0, {}, 0)

    def score(self, own: Any, **scores: float) -> None:
        self.log.called(own)
        for sample, score in scores.items():
            self.log.scored(sample, score)


FIRST, SECOND = program("Be brief."), program("Be kind.", {"q": 7, "answer": "yes"})


@pytest.fixture
def search() -> Search:
    return Search()


def test_a_candidate_is_known_by_its_prompts_and_numbered_as_it_came(search: Search) -> None:
    first, second = search.log.candidate(FIRST), search.log.candidate(SECOND)
    assert search.log.candidate(program("Be brief.")) is first
    assert (first.index, second.index) == (0, 1)
    assert (len(first.id), first.id != second.id) == (12, True)
    assert second.prompts == {"say": {"instructions": "Be kind.", "demos": [{"q": "7", "answer": "yes"}]}}
    assert prompts_of(SECOND) == second.prompts


def test_a_row_says_what_a_candidate_scored_and_whether_on_all_of_val(search: Search) -> None:
    search.score(FIRST, v1=1.0, t1=0.0)
    search.score(SECOND, v1=0.5, v2=1.0, v3=0.0)
    first, second = search.log.candidates(SECOND)
    assert (first["candidate"], first["chosen"], second["candidate"], second["chosen"]) == (0, False, 1, True)
    assert (first["val_score"], first["n_val"], first["whole_val"]) == (1.0, 1, False)
    assert (first["train_score"], first["n_train"]) == (0.0, 1)
    assert (second["val_score"], second["n_val"], second["whole_val"], second["train_score"]) == (0.5, 3, True, None)
    assert (second["instructions"], second["n_demos"]) == ({"say": "Be kind."}, {"say": 1})
    assert "metric_calls" not in first


def test_a_point_of_the_learning_curve_is_where_val_was_first_whole(search: Search) -> None:
    search.score(FIRST, v1=1.0, v2=1.0)
    assert search.calls == 0
    search.score(FIRST, t1=1.0, v3=1.0)
    search.score(FIRST, v1=0.0, v2=0.0)
    assert search.calls == 1, "and not again"
    (row,) = search.log.candidates(FIRST)
    assert (row["metric_calls"], row["lm_calls"], row["tokens_in"], row["tokens_out"]) == (4, 1, 10, 4)
    assert row["list_usd"] == 0.3
    assert 0 <= row["seconds"] < 60
    assert row["val_score"] == pytest.approx(1 / 3), "the latest score of an example counts"
    assert search.log.metric_calls == 6


def test_the_time_of_a_point_is_told_to_a_thousandth(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = iter([100.0, 101.23456])
    monkeypatch.setattr("seedbed.phases.search.time", SimpleNamespace(monotonic=lambda: next(clock)))
    search = Search()
    search.score(FIRST, v1=1.0, v2=1.0, v3=1.0)
    assert search.log.candidates(FIRST)[0]["seconds"] == 1.235


def test_train_alone_is_no_point_of_the_curve() -> None:
    search = Search()
    log = SearchLog({"val": [Case("v", {})], "train": [Case("t", {})]}, search._usage)  # pyright: ignore
    log.called(FIRST)
    log.scored("t", 1.0)
    assert search.calls == 0


def test_judgements_are_listed_by_candidate_and_sample_whatever_came_first(search: Search) -> None:
    search.log.candidate(FIRST)
    search.score(SECOND, v3=0.5, v1=0.25)
    search.score(FIRST, v2=1.0, t1=0.0)
    search.score(FIRST, v2=0.75)
    assert search.log.metric_rows("val") == [
        {"candidate": 0, "sample_id": "v2", "score": 1.0},
        {"candidate": 0, "sample_id": "v2", "score": 0.75},
        {"candidate": 1, "sample_id": "v1", "score": 0.25},
        {"candidate": 1, "sample_id": "v3", "score": 0.5},
    ]
    assert search.log.metric_rows("train") == [{"candidate": 0, "sample_id": "t1", "score": 0.0}]


def test_scores_belong_to_the_program_that_was_called_in_their_thread(search: Search) -> None:
    search.log.called(FIRST)
    other = threading.Thread(target=search.score, args=(SECOND,), kwargs={"v1": 0.5})
    other.start()
    other.join()
    search.log.scored("v2", 1.0)
    assert [row["candidate"] for row in search.log.metric_rows("val")] == [0, 1]
    stranger = threading.Thread(target=search.log.scored, args=("v3", 1.0))
    stranger.start()
    stranger.join()
    search.log.scored("of no split", 1.0)
    assert search.log.metric_calls == 2, "neither without a program nor of another sample"


def test_no_answer_scores_nothing_and_twins_are_taken_in_turn(search: Search) -> None:
    search.log.failed({"q": 2})
    assert search.log.metric_calls == 0, "no program was asked in this thread"
    search.log.called(FIRST)
    search.log.failed({"q": 5})
    assert search.log.metric_calls == 0
    for _ in range(3):
        search.log.failed({"q": 2})
    rows = search.log.metric_rows("val")
    assert [row["sample_id"] for row in rows] == ["v2", "v2", "v3"], "past the last twin it is the first again"
    assert {row["score"] for row in rows} == {0.0}
