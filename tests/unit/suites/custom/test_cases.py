# ruff: noqa: E501 - a table reads best a row a line
"""Cases from a user's file, chosen and split as asked."""

from __future__ import annotations

import csv
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

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
