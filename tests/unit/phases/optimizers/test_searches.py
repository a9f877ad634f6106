"""What each search of DSPy is asked for, and when those of GEPA and those that score by `dspy.Evaluate` are ended."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from types import SimpleNamespace
from typing import Any, cast

import dspy
import optuna
import pytest
import tqdm

from seedbed.lm.compat.dspy import BARS, PRINTING
from seedbed.lm.compat.gepa import BAR
from seedbed.phases.optimizers import gepa as gepa_module
from seedbed.phases.optimizers.gepa import FullEvaluations, gepa
from seedbed.phases.optimizers.others import bootstrap, copro, mipro, simba
from seedbed.phases.optimizers.plateau import Plateau, SearchEnded, until_flat
from seedbed.phases.optimizers.silence import silence
from seedbed.suite import Feedback
from seedbed.sweep.optimizers import (
    BootstrapOptions,
    CoproOptions,
    GepaBudgetOptions,
    GepaOptions,
    Job,
    MiproOptions,
    SimbaOptions,
    StopOptions,
)

TRAIN = [dspy.Example(n=n).with_inputs("n") for n in range(7)]
VAL = [dspy.Example(n=n).with_inputs("n") for n in range(10, 14)]


class Search:
    """Stands in for a search of DSPy and keeps what it is asked for."""

    asked: Mapping[str, Any]
    compiled: Mapping[str, Any]

    def __init__(self, **asked: Any) -> None:
        type(self).asked = asked

    def compile(self, program: Any, **compiled: Any) -> Any:
        type(self).compiled = compiled
        return program


@pytest.fixture
def search(monkeypatch: pytest.MonkeyPatch) -> type[Search]:
    for name in ("GEPA", "MIPROv2", "BootstrapFewShot", "SIMBA", "COPRO"):
        monkeypatch.setattr(dspy, name, Search)
    return Search


class Judge:
    def __init__(self) -> None:
        self.logged: list[bool] = []

    def __call__(self, example: Any, prediction: Any, *, logged: bool = True) -> Feedback:
        self.logged.append(logged)
        return Feedback(0.25, "try harder")


def job(name: str, options: Any, judge: Judge | None = None) -> Job:
    program = cast("Any", SimpleNamespace())
    return Job(name, options, program, TRAIN, VAL, judge or Judge(), cast("Any", "task"), cast("Any", "reflects"), 0)


def stops(search: type[Search]) -> list[Any]:
    return search.asked["gepa_kwargs"].get("stop_callbacks", [])


def test_gepa_with_a_budget_counts_metric_calls(search: type[Search]) -> None:
    made = job("GEPA", GepaBudgetOptions(max_metric_calls=50, minibatch=4, threads=2))
    assert gepa(made) is made.program
    asked = search.asked
    assert (asked["max_metric_calls"], asked["reflection_minibatch_size"], asked["num_threads"]) == (50, 4, 2)
    assert (asked["reflection_lm"], asked["seed"], asked["use_merge"], asked["gepa_kwargs"]) == (
        "reflects",
        0,
        False,
        {},
    )
    # An unreadable answer is something to learn from, a judge that gives another score the second time no matter.
    assert (asked["add_format_failure_as_feedback"], asked["warn_on_score_mismatch"]) == (True, False)
    assert search.compiled == {"trainset": TRAIN, "valset": VAL}


def test_gepa_merge_merges(search: type[Search]) -> None:
    gepa(job("GEPA-MERGE", GepaBudgetOptions(max_metric_calls=50)))
    assert search.asked["use_merge"] is True


def test_gepa_of_full_evaluations_has_no_other_limit_but_its_patience(search: type[Search]) -> None:
    gepa(job("GEPA-2", GepaOptions(minibatch=3)))
    assert search.asked["max_metric_calls"] >= 10**9
    (rule,) = stops(search)
    # Ten times all of train, in minibatches of three: 3 of 7 examples.
    assert ended(rule, [1] * 100) == 29
    gepa(job("GEPA-2", GepaOptions(stop=StopOptions(patience=5))))
    assert [type(rule).__name__ for rule in stops(search)] == ["FullEvaluations", "Plateau"]


def test_gepa_ends_at_a_plateau_where_that_is_wanted(search: type[Search]) -> None:
    gepa(job("GEPA", GepaBudgetOptions(max_metric_calls=50, stop=StopOptions(patience=2))))
    (rule,) = stops(search)
    states = [SimpleNamespace(i=i, program_full_scores_val_set=[0.5]) for i in range(-1, 3)]
    assert [rule(state) for state in states] == [False, False, True, True]


def test_a_plateau_without_any_score_is_counted_from_the_start() -> None:
    rule = gepa_module.Plateau(3)
    states = [SimpleNamespace(i=i, program_full_scores_val_set=[]) for i in range(-1, 3)]
    assert [rule(state) for state in states] == [False, False, False, True]


def test_gepa_is_told_score_and_words_and_a_second_look_is_not_logged(search: type[Search]) -> None:
    judge = Judge()
    gepa(job("GEPA", GepaBudgetOptions(max_metric_calls=5), judge))
    metric = search.asked["metric"]
    told = metric(TRAIN[0], dspy.Prediction())
    assert (told.score, told.feedback) == (0.25, "try harder")
    metric(TRAIN[0], dspy.Prediction(), None, "predictor", None)
    assert judge.logged == [True, False]


def ended(rule: FullEvaluations, evaluations: list[int]) -> int | None:
    """The proposal at which a search ends that has made so many full evaluations by each; -1 is before the first."""
    for number, done in enumerate(evaluations, start=-1):
        if rule(SimpleNamespace(i=number, num_full_ds_evals=done)):
            return number
    return None


@pytest.mark.parametrize(
    ("evaluations", "end"),
    [
        ([1, 1, 2, 2, 3, 3], 3),
        ([3], -1),
        ([1, 1, 1, 1, 1, 1], 3),
        ([1, 1, 1, 2, 2, 2, 2, 2], 6),
        ([0, 0, 0, 0, 0, 0], 3),
        ([1, 1, 1, 1], None),
    ],
)
def test_a_search_ends_at_so_many_evaluations_or_after_proposals_in_vain(
    evaluations: list[int], end: int | None
) -> None:
    assert ended(FullEvaluations(3, 4), evaluations) == end


def test_the_other_searches_are_asked_as_the_config_has_it(search: type[Search]) -> None:
    made = job("MIPROv2-Heavy", MiproOptions(threads=3, max_bootstrapped_demos=1, max_labeled_demos=2))
    assert mipro(made) is made.program
    # Seed 0 would be taken for none given.
    assert (search.asked["auto"], search.asked["seed"], search.compiled["seed"]) == ("heavy", 1, 1)
    assert (search.asked["task_model"], search.asked["prompt_model"]) == ("task", "reflects")
    assert (search.compiled["trainset"], search.compiled["valset"]) == (TRAIN, VAL)
    mipro(job("MIPROv2-Light", MiproOptions()))
    assert search.asked["auto"] == "light"
    bootstrap(job("BootstrapFewShot", BootstrapOptions(max_rounds=2)))
    assert (search.asked["metric_threshold"], search.asked["max_rounds"]) == (1.0, 2)
    assert search.compiled == {"trainset": TRAIN}
    copro(job("COPRO", CoproOptions(breadth=4, depth=2, threads=5)))
    assert (search.asked["breadth"], search.asked["depth"]) == (4, 2)
    assert search.compiled["eval_kwargs"] == {"num_threads": 5, "display_progress": False, "display_table": 0}


@pytest.mark.parametrize(("batch", "taken"), [(5, 5), (11, 11), (32, 11)])
def test_simba_takes_train_and_val_together_and_no_more_than_there_is(
    search: type[Search], batch: int, taken: int
) -> None:
    simba(job("SIMBA", SimbaOptions(batch=batch)))
    assert search.asked["bsize"] == taken
    assert search.compiled == {"trainset": [*TRAIN, *VAL], "seed": 0}


# -- plateaus of searches that score by dspy.Evaluate ------------------------------------------------------------------


class Program:
    def __init__(self, score: float) -> None:
        self.score = score

    def deepcopy(self) -> Program:
        return Program(self.score)


def scored(rule: Plateau, score: float | None, *, devset: Any = TRAIN, program: Any = None) -> Any:
    program = program or Program(score or 0.0)
    rule.on_evaluate_start("call", SimpleNamespace(devset=TRAIN), {"devset": devset, "program": program})
    rule.on_evaluate_end("call", None if score is None else SimpleNamespace(score=score))
    return program


def test_the_best_program_is_kept_as_it_was_scored() -> None:
    rule = Plateau(5)
    program = scored(rule, 0.5)
    assert rule.best is not program
    program.score = 99.0
    scored(rule, 0.4)
    assert cast("Any", rule.best).score == 0.5
    scored(rule, 0.6, devset=None)
    assert cast("Any", rule.best).score == 0.6, "no examples named are all of them"


def test_what_failed_or_saw_a_part_only_is_no_round() -> None:
    rule = Plateau(1)
    scored(rule, 0.5)
    for _ in range(3):
        scored(rule, None)
        scored(rule, 0.9, devset=TRAIN[:3])
    scored(rule, 0.4)
    with pytest.raises(SearchEnded):
        scored(rule, 0.9)
    assert cast("Any", rule.best).score == 0.5


def test_an_equal_score_is_no_gain() -> None:
    rule = Plateau(2)
    for score in (0.5, 0.5, 0.5):
        scored(rule, score)
    with pytest.raises(SearchEnded):
        scored(rule, 0.9)


def test_with_a_proposer_a_round_is_all_that_is_scored_until_it_is_asked_again() -> None:
    proposer, other = cast("Any", object()), object()
    rule = Plateau(2, proposer)

    def proposed() -> None:
        rule.on_lm_start("call", proposer, {})

    for score in (0.5, 0.4, 0.3, 0.2):
        scored(rule, score)
        rule.on_lm_start("call", other, {})
    proposed()
    proposed()
    for score in (0.4, 0.6):
        scored(rule, score)
    for _ in range(2):
        proposed()
        scored(rule, 0.1)
    with pytest.raises(SearchEnded):
        proposed()
    assert cast("Any", rule.best).score == 0.6


def test_who_listens_to_dspy_already_is_told_of_a_search_that_may_end() -> None:
    listener = cast("Any", object())
    made = job("COPRO", CoproOptions(stop=StopOptions(patience=1)))
    with dspy.context(callbacks=[listener]):
        found = until_flat(made, lambda: cast("Any", list(dspy.settings.callbacks)))
    assert [type(own) for own in cast("Any", found)] == [object, Plateau]


# -- what they print ---------------------------------------------------------------------------------------------------


@pytest.fixture
def silent() -> None:
    silence()
    silence()


@pytest.mark.usefixtures("silent")
@pytest.mark.parametrize("name", PRINTING, ids=lambda name: name.owner)
def test_what_a_search_prints_goes_to_the_log(
    name: Any, caplog: pytest.LogCaptureFixture, capsys: pytest.CaptureFixture[str]
) -> None:
    with caplog.at_level(logging.DEBUG, "seedbed.optimizers"):
        vars(name.module())["print"]("step", 3, flush=True)
    assert (caplog.messages, capsys.readouterr().out) == (["step 3"], "")


@pytest.mark.usefixtures("silent")
def test_no_bars_are_drawn_whoever_asks_for_them(capsys: pytest.CaptureFixture[str]) -> None:
    bars = [vars(name.module())["tqdm"].tqdm for name in BARS] + [vars(BAR.module())["tqdm"]]
    for bar in bars:
        assert list(bar(range(3), disable=False)) == [0, 1, 2]
        made = bar(total=3, desc="searching")
        made.update()
        made.set_description("found")
        made.close()
        # DSPy empties the set of all bars from any thread, while others enter and leave it.
        assert not issubclass(bar, tqdm.tqdm)
    captured = capsys.readouterr()
    assert (captured.out, captured.err) == ("", "")


@pytest.mark.usefixtures("silent")
@pytest.mark.parametrize(
    "name", ["dspy.teleprompt.simba", "dspy.evaluate.evaluate", "dspy.utils.parallelizer", "dspy.propose"]
)
def test_lines_of_every_evaluation_are_not_logged_twice(name: str) -> None:
    assert not logging.getLogger(name).isEnabledFor(logging.ERROR)


@pytest.mark.usefixtures("silent")
def test_optuna_logs_its_warnings_alone() -> None:
    assert optuna.logging.get_verbosity() == optuna.logging.WARNING


@pytest.mark.usefixtures("silent")
@pytest.mark.parametrize(
    ("message", "shown"),
    [
        ("Input contains fields not in signature: ['max_depth'].", False),
        ("Input contains fields not in signature: ['previous_instructions', 'a'].", False),
        ("Input contains fields not in signature: ['mine'].", True),
        ("A ['max_depth'] of previous_instructions", True),
    ],
)
def test_a_proposers_own_fields_are_no_warning(message: str, shown: bool) -> None:
    record = logging.LogRecord("dspy.predict.predict", logging.WARNING, "", 1, message, (), None)
    assert bool(logging.getLogger("dspy.predict.predict").filter(record)) is shown
