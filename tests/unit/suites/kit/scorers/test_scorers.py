"""Scorers that any suite can have: what each says of an answer, and that nothing undefined becomes a 0."""

from __future__ import annotations

import asyncio
import inspect
from pathlib import Path
from typing import Any, cast

import pytest
from pydantic import ValidationError

from seedbed.suite import Case, PhaseContext, Scored, resolve
from seedbed.sweep.registry import get_scorer, scorer_names
from seedbed.sweep.resolved import AddedScorer

NOWHERE = cast(PhaseContext, None)


def scored(name: str, answer: Any, right: Any, folder: Path | None = None, /, **options: Any) -> Any:
    """By metric, what a scorer says; None where it has nothing to say at all."""
    spec = get_scorer(name)
    chosen: Any = resolve(spec.options).model_validate(options, context={"folder": folder})
    output = answer if isinstance(answer, dict) else {"answer": answer}
    found: Any = resolve(spec.score)(NOWHERE, Case("c", {"q": "?"}, right), output, chosen)
    found = asyncio.run(found) if inspect.isawaitable(found) else found
    if not isinstance(found, Scored):
        return found
    assert set(found.values) <= {metric.name for metric in AddedScorer(name, spec, chosen).declared}
    return dict(found.values)


@pytest.mark.parametrize(
    ("answer", "gold", "options", "value"),
    [
        ("paris.", "Paris", {}, 1.0),
        ("paris", "Paris", {"strict": True}, 0.0),
        ("Paris, France", "Paris", {}, 0.0),
        ("Roma", ["Rome", "Roma"], {}, 1.0),
        ("+", "-", {}, 0.0),
        ("", "Paris", {}, 0.0),
    ],
)
def test_exact(answer: str, gold: Any, options: dict[str, Any], value: float) -> None:
    assert scored("exact", answer, gold, **options) == {"exact": value}


@pytest.mark.parametrize(
    ("answer", "gold", "options", "value"),
    [
        ("It is Paris, of course.", "Paris", {}, 1.0),
        ("Parisian", "Paris", {}, 0.0),
        ("首都是东京都。", "东京", {}, 1.0),
        ("a b c", None, {"contains": ["a", "c"]}, 1.0),
        ("a b", None, {"contains": ["a", "c"]}, 0.0),
    ],
)
def test_contains(answer: str, gold: Any, options: dict[str, Any], value: float) -> None:
    assert scored("contains", answer, gold, **options) == {"contains": value}


def test_regex_finds_or_matches_the_whole() -> None:
    assert scored("regex", "in 1994.", None, regex=r"\d{4}") == {"regex": 1.0}
    assert scored("regex", "in 1994.", None, regex=r"\d{4}", whole=True) == {"regex": 0.0}
    with pytest.raises(ValidationError, match="is no regular expression"):
        scored("regex", "x", None, regex="(")


@pytest.mark.parametrize(
    ("answer", "choice", "valid"),
    [
        ("Positive", 1.0, 1.0),
        ("The mood is positive.", 1.0, 1.0),
        ("negative", 0.0, 1.0),
        ("positive or negative?", 0.0, 0.0),
        ("good", 0.0, 0.0),
        ("Not negative at all.\npositive", 1.0, 1.0),
    ],
)
def test_choice_takes_the_one_that_is_named(answer: str, choice: float, valid: float) -> None:
    found = scored("choice", answer, "positive", choice=["positive", "negative"])
    assert found == {"choice": choice, "valid": valid}


@pytest.mark.parametrize(
    ("answer", "gold", "options", "values"),
    [
        ("about 1,250 km", "1250", {}, (1.0, 0.0)),
        ("3.16", "3.14", {}, (0.0, 0.02)),
        ("3.16", "3.14", {"tolerance": 0.05}, (1.0, 0.02)),
        ("101", "100", {"relative": 0.01}, (1.0, 1.0)),
        ("7 times 6 is 42", "42", {}, (1.0, 0.0)),
        ("7 times 6 is 42", "42", {"take": "first"}, (0.0, 35.0)),
        ("−5", "-5", {}, (1.0, 0.0)),
        ("many", "42", {}, (0.0, None)),
    ],
)
def test_numeric(answer: str, gold: str, options: dict[str, Any], values: tuple[float, float | None]) -> None:
    found = scored("numeric", answer, gold, **options)
    assert (found["numeric"], found["off"]) == pytest.approx(values)


def test_overlap_is_of_words_or_of_characters() -> None:
    assert scored("f1", "the answer is Paris", "Paris")["f1"] == pytest.approx(0.4)
    assert scored("f1", "东京都", "东京")["f1"] == pytest.approx(0.8)
    assert scored("f1", "a b", ["x", "a b"])["f1"] == 1.0
    found = scored("rouge", "the cat sat on the mat", "the cat was on the mat")
    assert found == pytest.approx({"rougeL": 5 / 6, "rouge1": 5 / 6, "rouge2": 3 / 5})


def test_bleu_and_chrf_are_sacrebleus() -> None:
    sacrebleu: Any = pytest.importorskip("sacrebleu")
    answer, gold = "the cat sat on the mat", "the cat sat on a mat"
    assert scored("bleu", answer, gold)["bleu"] == pytest.approx(sacrebleu.sentence_bleu(answer, [gold]).score)
    assert scored("chrf", answer, gold)["chrf"] == pytest.approx(sacrebleu.sentence_chrf(answer, [gold]).score)
    assert scored("bleu", "今天天气很好", "今天天气很好")["bleu"] == pytest.approx(100)


def test_json_fields_compares_an_object_field_by_field() -> None:
    gold = {"name": "Ada", "age": "36", "tags": ["a"]}
    assert scored("json_fields", {"name": "ada", "age": 36.0, "tags": ["a"]}, gold) == {
        "fields": 1.0,
        "all_fields": 1.0,
    }
    found = scored("json_fields", '{"name": "Bob", "age": 36}', gold, json_fields=["name", "age"])
    assert found == {"fields": 0.5, "all_fields": 0.0}
    assert scored("json_fields", {"age": 36}, '{"age": 36}') == {"fields": 1.0, "all_fields": 1.0}


def test_code_is_a_function_beside_the_config(tmp_path: Path) -> None:
    (tmp_path / "checks.py").write_text("def short(answer, gold):\n    return len(answer) <= len(gold)\n")
    assert scored("code", "ab", "abc", tmp_path, code="checks.py:short") == {"code": 1.0}
    (tmp_path / "checks.py").write_text("def short(answer, gold):\n    return None\n")
    assert scored("code", "ab", "abc", tmp_path, code="checks.py:short") == {"code": None}
    for text, said in (
        ("checks.py:long", "defines no function 'long'"),
        ("other.py:short", "other.py does not exist"),
        ("checks.short", "write FILE.py:FUNCTION"),
    ):
        with pytest.raises(ValidationError, match=said):
            scored("code", "ab", "abc", tmp_path, code=text)
    (tmp_path / "checks.py").write_text("def short(question):\n    return 1\n")
    with pytest.raises(ValidationError, match="asks for 'question'; there are output, answer, gold"):
        scored("code", "ab", "abc", tmp_path, code="checks.py:short")


@pytest.mark.parametrize("name", ["exact", "contains", "numeric", "f1", "rouge", "bleu", "json_fields", "similarity"])
def test_a_case_without_a_gold_answer_has_no_value(name: str) -> None:
    assert scored(name, "x", None) is None


def test_a_field_that_is_not_there_is_said() -> None:
    with pytest.raises(ValueError, match="no field 'label', only answer, why; name one with `field:`"):
        scored("exact", {"answer": "x", "why": "y"}, "x", field="label")
    with pytest.raises(ValueError, match="has no field 'answer', only level; name one with `gold:`"):
        scored("exact", "x", {"level": "x"})
    assert scored("exact", {"label": "x", "why": ""}, {"level": "X"}, field="label", gold="level") == {"exact": 1.0}


def test_every_scorer_declares_what_its_metrics_are() -> None:
    needed: dict[str, Any] = {
        "regex": {"regex": "x"},
        "judge": {"judge": "good?", "scale": [0, 10]},
        "preference": {"preference": "better?"},
        "code": {"code": f"{Path(__file__).name}:scored"},
    }
    for name in scorer_names():
        spec = get_scorer(name)
        if name == "code" or getattr(spec.score, "__module__", "").startswith("tests"):
            continue
        chosen: Any = resolve(spec.options).model_validate(needed.get(name, {}))
        for metric in AddedScorer(name, spec, chosen).declared:
            assert metric.kind in ("rate", "mean")
            assert metric.label
    judge = get_scorer("judge")
    options: Any = resolve(judge.options).model_validate(needed["judge"])
    assert AddedScorer("judge", judge, options).declared[0].range == (0.0, 10.0)
