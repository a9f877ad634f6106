"""What each field of other tools' files becomes: metrics by their names, marks, repeats, what is left out."""

from __future__ import annotations

import json
import zipfile
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from seedbed.errors import UserError
from seedbed.phases.imports.declared import declare
from seedbed.phases.imports.imported import Imported, ImportedRow, ImportedTable, read_import
from seedbed.phases.imports.inspect_log import is_inspect_log, read_inspect
from seedbed.phases.imports.lm_eval import is_lm_eval, read_lm_eval
from seedbed.phases.imports.read import read_files
from seedbed.suite import Metric

# -- metrics -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "values", "graded", "kind", "higher", "range_"),
    [
        ("acc", {0.0, 1.0}, False, "rate", True, (0.0, 1.0)),
        ("acc,strict", {1.0}, False, "rate", True, (0.0, 1.0)),
        ("acc", {0.0, 0.5}, False, "mean", True, (0.0, 1.0)),
        ("own", {0.0, 1.0}, True, "rate", True, (0.0, 1.0)),
        ("own", {0.25}, True, "mean", True, (0.0, 1.0)),
        ("f1", {0.0, 1.0}, False, "mean", True, (0.0, 1.0)),
        ("perplexity,none", {12.5}, False, "mean", False, None),
        ("own", {0.0, 1.0}, False, "mean", None, None),
    ],
)
def test_a_metric_is_what_its_name_is_known_for_and_else_a_number(
    name: str, values: set[float], graded: bool, kind: str, higher: bool | None, range_: Any
) -> None:
    found = declare(name, values, graded=graded)
    assert (found.name, found.label) == (name, name)
    assert (found.kind, found.higher_is_better, found.range) == (kind, higher, range_)


# -- inspect_ai --------------------------------------------------------------------------------------------------------


def log(*samples: Mapping[str, Any]) -> dict[str, Any]:
    return {"status": "success", "eval": {"task": "sums", "model": "m"}, "samples": list(samples)}


def scored(value: Any, **more: Any) -> dict[str, Any]:
    return {"id": 1, "input": "1?", "target": "1", "scores": {"match": {"value": value}}, **more}


def rows(*samples: Mapping[str, Any]) -> ImportedTable:
    return read_inspect(Path("a.json"), log(*samples))


@pytest.mark.parametrize(
    ("value", "score"),
    [("C", 1.0), ("I", 0.0), ("P", 0.5), ("N", 0.0), (True, 1.0), (False, 0.0), (7, 7.0), (0.25, 0.25)],
)
def test_a_mark_is_a_number(value: Any, score: float) -> None:
    table = rows(scored(value))
    assert table.rows[0].scores == {"match": score}
    assert table.left_out == []


@pytest.mark.parametrize("value", ["X", None, [1, 2], float("nan")])
def test_a_value_that_is_no_number_is_left_out_by_name(value: Any) -> None:
    table = rows(scored(value))
    assert (table.rows[0].scores, table.left_out, table.metrics) == ({}, ["match"], [])


def test_a_metric_that_some_samples_have_is_not_left_out() -> None:
    table = rows(scored("X"), scored("C", id=2))
    assert (table.left_out, [metric.name for metric in table.metrics]) == ([], ["match"])


def test_letters_and_truths_are_a_rate_and_numbers_claim_nothing() -> None:
    def kind(*values: Any) -> Any:
        table = rows(*(scored(value, id=number) for number, value in enumerate(values)))
        return table.metrics[0].kind, table.metrics[0].higher_is_better

    assert kind("C", "I") == ("rate", True)
    assert kind(True, False) == ("rate", True)
    assert rows({**scored(1), "scores": {"own": {"value": 1}}}).metrics[0].higher_is_better is None
    assert rows({**scored(1), "scores": {"own": {"value": "C"}}}).metrics[0].kind == "rate"
    assert rows({**scored(1), "scores": {"own": 0.5}}).rows[0].scores == {"own": 0.5}, "a bare value"


def test_the_epoch_is_the_repeat_and_the_first_where_there_is_none() -> None:
    found = rows(scored("C", epoch=3), scored("C"), scored("C", epoch="two")).rows
    assert [row.seed for row in found] == [3, 1, 1]


def test_a_sample_is_named_by_its_number_and_its_question() -> None:
    one, same, other = (row.sample_id for row in rows(scored("C"), scored("I", epoch=2), scored("C", input="2?")).rows)
    assert one == same != other
    assert one.startswith("1:")
    assert len(one) == 2 + 12


def test_a_failed_sample_has_its_words_and_no_score() -> None:
    failed = rows(scored("C", error={"message": "no reply"}), scored("C", error={}), scored("C", error=None)).rows
    assert [(row.error, dict(row.scores)) for row in failed] == [
        ("no reply", {}),
        ("error", {}),
        (None, {"match": 1.0}),
    ]


def test_a_sample_without_scores_is_kept() -> None:
    assert rows(scored("C"), {"id": 2, "scores": None}).rows[1].scores == {}


@pytest.mark.parametrize(
    ("name", "whole", "expected"),
    [
        ("a.eval", None, True),
        ("a.json", {"eval": {}, "status": "x", "more": 1}, True),
        ("a.json", {"eval": {}}, False),
        ("a.json", ["eval", "status"], False),
    ],
)
def test_a_log_is_known_by_its_ending_or_its_fields(name: str, whole: Any, expected: bool) -> None:
    assert is_inspect_log(Path(name), whole) is expected


def test_of_a_zip_only_samples_and_header_are_read(tmp_path: Path) -> None:
    path = tmp_path / "a.eval"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("header.json", json.dumps({key: own for key, own in log().items() if key != "samples"}))
        archive.writestr("samples/2.json", json.dumps(scored("I", id=2)))
        archive.writestr("samples/1.json", json.dumps(scored("C", id=1)))
        archive.writestr("samples/notes.txt", "no JSON")
        archive.writestr("other/3.json", "no JSON")
    assert [row.scores["match"] for row in read_inspect(path).rows] == [1.0, 0.0]


# -- lm-evaluation-harness ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("first", "expected"),
    [
        ({"doc_id": 0, "resps": []}, True),
        ({"doc_id": 0, "filtered_resps": []}, True),
        ({"doc_id": 0}, False),
        ({"resps": [], "filtered_resps": []}, False),
        (["doc_id", "resps"], False),
    ],
)
def test_a_sample_of_the_harness_has_a_document_and_its_replies(first: Any, expected: bool) -> None:
    assert is_lm_eval(first) is expected


def harness(*samples: Mapping[str, Any], name: str = "samples_arc_2026-01-31T09-15-27.1.jsonl") -> ImportedTable:
    lines = [(number, {"doc_id": 0, "resps": [], **sample}) for number, sample in enumerate(samples, start=1)]
    return read_lm_eval(Path("folder/of_model") / name, lines)


def test_without_a_list_of_metrics_all_that_is_not_the_harness_own_is_one() -> None:
    table = harness({"acc": 1, "target": 3, "f1": True, "bleu": ["a"], "rank": float("nan")})
    assert table.rows[0].scores == {"acc": 1.0, "f1": 1.0}
    assert table.left_out == ["bleu", "rank"]
    assert harness({"metrics": ["acc", "gone"], "acc": 1, "f1": 0.5}).rows[0].scores == {"acc": 1.0}


def test_a_metric_is_named_with_its_filter_unless_that_is_the_plain_one() -> None:
    scores = harness({"acc": 1}, {"acc": 0, "filter": "strict"}, {"f1": 1, "filter": "none"}).rows[0].scores
    assert scores == {"acc": 1.0, "acc,strict": 0.0, "f1": 1.0}


def test_a_document_is_named_by_its_number_and_the_first_letters_of_its_hash() -> None:
    found = harness({"acc": 1, "doc_hash": "0123456789abcdef"}, {"acc": 1, "doc_id": 1}).rows
    assert [(row.sample_id, row.seed) for row in found] == [("0:0123456789ab", 1), ("1:", 1)]


def test_the_task_is_told_by_the_name_of_the_file(tmp_path: Path) -> None:
    assert harness({"acc": 1}).benchmark == "arc"
    assert harness({"acc": 1}, name="samples_arc_easy.jsonl").benchmark == "arc_easy"
    assert harness({"acc": 1}, name="mine.jsonl").benchmark == "mine"
    assert harness({"acc": 1}).model == "of_model"
    assert read_lm_eval(Path("/a.jsonl"), [(1, {"doc_id": 0, "resps": [], "acc": 1})]).model == "unknown"


# -- several files -----------------------------------------------------------------------------------------------------


def written(path: Path, whole: Mapping[str, Any]) -> Path:
    path.write_text(json.dumps(whole), encoding="utf-8")
    return path


def test_files_of_one_task_and_model_are_repeats_in_their_order(tmp_path: Path) -> None:
    first = written(tmp_path / "a.json", log(scored("C", epoch=1), scored("C", epoch=2)))
    more = {**scored("I"), "scores": {"match": {"value": "I"}, "len": {"value": "long"}, "why": {"value": "so"}}}
    second = written(tmp_path / "b.json", log(more))
    (table,) = read_files([first, second, second], "a").tables
    assert [(row.seed, row.scores["match"]) for row in table.rows] == [(1, 1.0), (2, 1.0), (3, 0.0), (4, 0.0)]
    assert table.left_out == ["len", "why"]
    counted = written(tmp_path / "c.json", log({**scored("C"), "scores": {"len": {"value": 3}}}))
    (table,) = read_files([second, counted], "a").tables
    assert sorted(metric.name for metric in table.metrics) == ["len", "match"]
    assert table.left_out == ["why"], "another file has it as a number"


def test_files_of_another_task_or_model_are_tables_of_their_own(tmp_path: Path) -> None:
    first = written(tmp_path / "a.json", log(scored("C")))
    other = written(tmp_path / "b.json", {**log(scored("C")), "eval": {"task": "sums", "model": "n"}})
    found = read_files([first, other], "two")
    assert [(table.benchmark, table.model) for table in found.tables] == [("sums", "m"), ("sums", "n")]
    assert (found.name, found.tool) == ("two", "inspect_ai")


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ('{"doc_id": 0,\n"resps": []}', r"a\.jsonl:1: not valid JSON"),
        ('\n\n{"doc_id": 0, "resps": [], "acc": 1}\n{"doc_id"', r"a\.jsonl:4: not valid JSON"),
        ("[" * 100_000, r"a\.jsonl:1: JSON nested too deep to be read"),
        ('{"eval": {}}', r"a\.jsonl: is not known"),
    ],
)
def test_a_line_that_cannot_be_read_is_named(tmp_path: Path, content: str, said: str) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text(content, encoding="utf-8")
    with pytest.raises(UserError, match=said):
        read_files([path], "a")


def test_a_broken_log_is_named_with_its_line(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    path.write_text('{\n"eval": 1,\n"status"\n}', encoding="utf-8")
    with pytest.raises(UserError, match=r"a\.json:4: not valid JSON"):
        read_files([path], "a")


def test_a_mark_of_byte_order_is_no_part_of_a_file(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    path.write_text(json.dumps(log(scored("C"))), encoding="utf-8-sig")
    assert len(read_files([path], "a").tables[0].rows) == 1


# -- what is kept of it ------------------------------------------------------------------------------------------------

TABLE = ImportedTable(
    "sums",
    "m",
    [Metric("match", "Match", kind="rate"), Metric("len", "Length", higher_is_better=None, range=None)],
    [
        ImportedRow("a", 1, {"match": 1.0, "len": 4.0}),
        ImportedRow("a", 2, {"match": 0.0, "len": None}),
        ImportedRow("b", 1, {}, "no reply"),
        ImportedRow("b", 2, {"match": 1.0}),
    ],
    ["why"],
)


def test_an_import_is_read_back_as_it_was_written(tmp_path: Path) -> None:
    Imported("old", "inspect_ai", [TABLE]).write(tmp_path)
    again = read_import(tmp_path, "old")
    assert (again.name, again.tool, list(again.tables)) == ("old", "inspect_ai", [TABLE])


def test_an_import_of_another_version_is_made_anew(tmp_path: Path) -> None:
    path = Imported("old", "inspect_ai", [TABLE]).write(tmp_path)
    path.write_text(path.read_text(encoding="utf-8").replace('"version": 1', '"version": 2', 1), encoding="utf-8")
    with pytest.raises(
        UserError, match=r"old\.json: was written by another version of Seedbed; import the files again"
    ):
        read_import(tmp_path, "old")


def test_a_sample_scores_the_mean_of_its_repeats_and_what_failed_is_missing() -> None:
    (table,) = Imported("old", "inspect_ai", [TABLE]).score_tables()
    np.testing.assert_array_equal(table.values["system"], [[0.5, 4.0], [1.0, np.nan]])
    # Of b one repeat of two failed; no repeat of it has a length.
    np.testing.assert_array_equal(table.missing["system"], [[0.0, 0.0], [0.5, 1.0]])
    assert (list(table.sample_ids), list(table.clusters), list(table.seeds["system"])) == (["a", "b"], [0, 1], [1, 2])
    assert dict(table.failure_counts) == {("system", "error", "no reply"): 1}
    assert table.cells == {"system": []}


def test_without_failures_nothing_is_missing_and_long_reasons_are_cut() -> None:
    (whole,) = Imported(
        "old", "t", [replace(TABLE, rows=[row for row in TABLE.rows if row.error is None])]
    ).score_tables()
    assert (dict(whole.missing), dict(whole.failure_counts)) == ({}, {})
    rows = [ImportedRow(name, 1, {}, error) for name, error in (("a", "x" * 81), ("b", "x" * 90), ("c", ""))]
    (failed,) = Imported("old", "t", [replace(TABLE, rows=rows)]).score_tables()
    assert dict(failed.failure_counts) == {("system", "error", "x" * 80): 2, ("system", "error", ""): 1}


def test_the_metrics_of_an_import_are_those_of_all_its_tables() -> None:
    other = replace(TABLE, benchmark="more", metrics=[Metric("acc", "acc")])
    assert [metric.name for metric in Imported("old", "t", [TABLE, other, TABLE]).metrics()] == ["match", "len", "acc"]
