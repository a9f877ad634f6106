# ruff: noqa: E501 - a table of mistakes reads best a row a line
"""Cases from a user's file: the same from every format, chosen and split as asked, refused in one sentence."""

from __future__ import annotations

import csv
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from seedbed.errors import UserError
from seedbed.suite import Benchmark
from seedbed.suites.custom.cases import load
from seedbed.suites.custom.options import CaseOptions
from seedbed.sweep.identity import case_hash

ROWS: Sequence[Mapping[str, Any]] = [
    {"country": f"Land{i}", "capital": f"Town {i}", "size": 10 * i, "part": ("train", "dev", "test")[i % 3], "island": i % 2 == 0}
    for i in range(1, 31)
]  # fmt: skip


def write(path: Path, rows: Sequence[Mapping[str, Any]] = ROWS) -> Path:
    match path.suffix:
        case ".csv" | ".tsv":
            with path.open("w", encoding="utf-8", newline="") as handle:
                writer = csv.DictWriter(handle, list(rows[0]), delimiter="\t" if path.suffix == ".tsv" else ",")
                writer.writeheader()
                writer.writerows({k: str(v).lower() if isinstance(v, bool) else v for k, v in r.items()} for r in rows)
        case ".jsonl":
            path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
        case ".json":
            path.write_text(json.dumps(list(rows), indent=1), encoding="utf-8")
        case _:
            import pyarrow as pa
            import pyarrow.parquet as pq

            pq.write_table(pa.Table.from_pylist([dict(row) for row in rows]), path)
    return path


def read(path: Path, **options: Any) -> Benchmark:
    return load(CaseOptions.model_validate({"path": path, "inputs": ["country"], "answer": "capital", **options}))


def test_every_format_gives_the_same_cases(tmp_path: Path) -> None:
    chosen = {
        "inputs": ["country", "size", "island"],
        "cluster": "size",
        "where": {"size": {"min": 50}, "island": True},
        "sample": {"n": 9, "seed": 3},
        "split": {"by": "part"},
    }
    endings = ("csv", "tsv", "jsonl", "json", "parquet")
    made = [read(write(tmp_path / f"cases.{ending}"), **chosen) for ending in endings]
    assert len({case_hash(benchmark) for benchmark in made}) == 1
    case = made[0].test[0]
    assert (case.inputs["size"], case.inputs["island"]) == (case.cluster, "true")
    assert made[0].excluded == {"where": 17, "sample": 4}


def test_a_sample_comes_from_all_over_the_file_and_one_row_more_changes_one_case(tmp_path: Path) -> None:
    rows = [{"id": f"c{i}", **row} for i, row in enumerate(ROWS)]
    before = {c.sample_id for c in read(write(tmp_path / "a.jsonl", rows), sample={"n": 10}).test}
    more = [*rows[:15], {"id": "new", **ROWS[0]}, *rows[15:]]
    after = {c.sample_id for c in read(write(tmp_path / "b.jsonl", more), sample={"n": 10}).test}
    assert len(before) == 10
    assert before != {f"c{i}" for i in range(10)}
    assert len(before - after) <= 1
    assert before != {c.sample_id for c in read(tmp_path / "a.jsonl", sample={"n": 10, "seed": 1}).test}


def test_shares_keep_clusters_together(tmp_path: Path) -> None:
    rows = [{**row, "group": f"g{i // 3}"} for i, row in enumerate(ROWS)]
    made = read(write(tmp_path / "a.csv", rows), cluster="group", split={"train": 0.2, "val": 0.3})
    parts = [{case.cluster for case in split} for split in (made.train, made.val, made.test)]
    assert [len(part) for part in parts] == [2, 3, 5]
    assert not parts[0] & parts[1] | parts[0] & parts[2] | parts[1] & parts[2]


def test_several_columns_and_parted_cells_are_accepted_answers(tmp_path: Path) -> None:
    rows = [{"q": "a", "one": "x|y", "two": "z"}, {"q": "b", "one": "x", "two": ""}, {"q": "c", "one": "", "two": ""}]
    made = read(write(tmp_path / "a.csv", rows), inputs=["q"], answer=["one", "two"], separator="|")
    assert [case.gold for case in made.test] == [["x", "y", "z"], "x", None]
    assert made.warnings == ["1 of 3 test cases have no answer; scorers that compare with it leave them out."]


def test_columns_may_be_renamed_and_all_the_rest_are_inputs(tmp_path: Path) -> None:
    path = write(tmp_path / "a.csv")
    assert dict(read(path, inputs={"land": "country"}).test[0].inputs) == {"land": "Land1"}
    assert set(read(path, inputs=None).test[0].inputs) == {"country", "size", "part", "island"}
    assert read(path).test[0].meta == {"size": "10", "part": "dev", "island": "false"}


def test_a_folder_of_texts_is_a_case_a_file(tmp_path: Path) -> None:
    for name, text in (("spam/a.txt", "Buy now"), ("ham/b.md", "See you"), ("ham/c.csv", "no text")):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text, encoding="utf-8")
    made = read(tmp_path, inputs=["text"], answer="folder")
    assert [(c.sample_id, c.inputs["text"], c.gold) for c in made.test] == [
        ("ham/b.md", "See you", "ham"),
        ("spam/a.txt", "Buy now", "spam"),
    ]


GOOD = b"country,capital\nPeru,Lima\nChad,N'Djamena\n"
MALFORMED: Mapping[str, tuple[str, bytes, dict[str, Any], str]] = {
    "no such column": ("a.csv", GOOD, {"answer": "captial"}, r"a\.csv:2: there is no column 'captial', which `answer` names; did you mean 'capital'\?"),
    "no such input": ("a.csv", GOOD, {"inputs": ["land"]}, r"a\.csv:2: there is no column 'land', which `inputs` names"),
    "no such id": ("a.csv", GOOD, {"id": "key"}, r"a\.csv:2: there is no column 'key', which `id` names"),
    "no such cluster": ("a.csv", GOOD, {"cluster": "x"}, r"a\.csv:2: there is no column 'x', which `cluster` names"),
    "no such condition": ("a.csv", GOOD, {"where": {"x": 1}}, r"a\.csv:2: there is no column 'x', which `where` names"),
    "no such split": ("a.csv", GOOD, {"split": {"by": "x"}}, r"a\.csv:2: there is no column 'x', which `split` names"),
    "no split of this name": ("a.csv", GOOD, {"split": {"by": "country"}}, r"a\.csv:2: field country: 'Peru' is no split; write train, val or test"),
    "nothing left": ("a.csv", GOOD, {"where": {"country": "Mars"}}, r"a\.csv: none of its 2 rows meets `where`"),
    "not a number": ("a.csv", GOOD, {"where": {"country": {"min": 3}}}, r"a\.csv:2: field country: 'Peru' is no number"),
    "the same id": ("a.csv", b"country,capital\nPeru,Lima\nPeru,Cusco\n", {"id": "country", "inputs": ["capital"]}, r"a\.csv:3: id 'Peru' stands twice, first on line 2"),
    "an empty id": ("a.csv", b"country,capital\nPeru,Lima\n,Cusco\n", {"id": "country", "inputs": ["capital"]}, r"a\.csv:3: field country is missing"),
    "latin letters": ("a.csv", b"country,capital\nPeru,Lima\nTogo,Lom\xe9\n", {}, r"a\.csv:3: not UTF-8 text"),
    "an open quote": ("a.csv", b'country,capital\n"Peru,Lima\n', {}, r"a\.csv:2: not valid CSV"),
    "a field too many": ("a.csv", b"country,capital\nPeru,Lima,x\n", {}, r"a\.csv:2: has 3 fields"),
    "a column twice": ("a.csv", b"country,country\nPeru,Lima\n", {}, r"a\.csv:1: the column 'country' stands twice"),
    "nothing": ("a.csv", b"", {}, r"a\.csv: holds no row"),
    "a header alone": ("a.csv", b"country,capital\n", {}, r"a\.csv: holds no row"),
    "no JSON": ("a.jsonl", b'{"country": "Peru", "capital": "Lima"}\n{"country": \n', {}, r"a\.jsonl:2: not valid JSON"),
    "no object": ("a.jsonl", b'{"country": "Peru", "capital": "Lima"}\n[1]\n', {}, r"a\.jsonl:2: not an object but list"),
    "a missing field": ("a.jsonl", b'{"country": "Peru", "capital": "Lima"}\n{"country": "Chad"}\n', {}, r"a\.jsonl:2: there is no column 'capital'"),
    "a list in a list": ("a.jsonl", b'{"country": "Peru", "capital": [["Lima"]]}\n', {}, r"a\.jsonl:1: the answer holds a list within a list"),
    "NaN": ("a.json", b'[{"country": NaN, "capital": "Lima"}]', {}, r"a\.json:1: not valid JSON"),
    "no parquet": ("a.parquet", b"PAR1....", {}, r"a\.parquet: cannot be read as Parquet"),
    "no text": ("a.txt", b"\n\n", {"inputs": ["text"], "answer": None}, r"a\.txt: holds no line"),
    "bytes in a text": ("a.txt", b"ok\n\xff\n", {"inputs": ["text"], "answer": None}, r"a\.txt:2: not UTF-8 text"),
    "no column left": ("a.txt", b"ok\n", {"inputs": None, "answer": "text"}, r"a\.txt:1: has no column left for the inputs"),
}  # fmt: skip


@pytest.mark.parametrize("name", MALFORMED)
def test_what_cannot_be_read_is_one_sentence_with_the_line(name: str, tmp_path: Path) -> None:
    file, content, options, said = MALFORMED[name]
    (tmp_path / file).write_bytes(content)
    with pytest.raises(UserError, match=said) as refused:
        read(tmp_path / file, **options)
    assert "\n" not in str(refused.value)
    assert str(refused.value).startswith(str(tmp_path))


def test_an_empty_folder_says_what_it_should_hold(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"holds no file that ends in \.txt or \.md"):
        read(tmp_path)
