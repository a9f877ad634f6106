"""Results of other tools, read from files as those tools write them, and compared by paired tests."""

from __future__ import annotations

import json
import re
import struct
import zipfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from seedbed.cli.main import main
from seedbed.errors import UserError
from seedbed.phases.imports.read import read_files


def inspect_log(path: Path, values: Mapping[int, Any], *, model: str = "openai/a", epochs: int = 1) -> Path:
    """A log with a score of the scorer `match` by sample; None is a failed sample."""
    samples = [
        {
            "id": number,
            "epoch": epoch,
            "input": f"What is {number}?",
            "target": str(number),
            **({"error": {"message": "no reply"}} if value is None else {"scores": {"match": {"value": value}}}),
        }
        for epoch in range(1, epochs + 1)
        for number, value in values.items()
    ]
    header = {"version": 2, "status": "success", "eval": {"task": "sums", "model": model, "created": "2026-01-01"}}
    if path.suffix == ".json":
        path.write_text(json.dumps({**header, "samples": samples}), encoding="utf-8")
        return path
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("header.json", json.dumps(header))
        for sample in samples:
            archive.writestr(f"samples/{sample['id']}_epoch_{sample['epoch']}.json", json.dumps(sample))
        # What inspect_ai writes beside the samples.
        archive.writestr("summaries.json", json.dumps([{"id": 1, "epoch": 1, "scores": {"match": {"value": "C"}}}]))
        archive.writestr("_journal/start.json", json.dumps({"version": 2}))
    return path


def lm_eval_file(folder: Path, rows: Sequence[Mapping[str, Any]], task: str = "arc_easy") -> Path:
    folder.mkdir(exist_ok=True)
    path = folder / f"samples_{task}_2026-01-31T09-15-27.123456.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def document(number: int, **scores: Any) -> dict[str, Any]:
    row = {"doc_id": number, "doc": {"q": number}, "target": "1", "arguments": {}, "resps": [["-1.5", "False"]]}
    return {
        **row,
        "filtered_resps": [["-1.5"]],
        "filter": "none",
        "metrics": [*scores],
        "doc_hash": "ab" * 32,
        **scores,
    }


def packed_by_zstandard(path: Path) -> Path:
    """The same log as inspect_ai packs it, which Python's zipfile cannot."""
    with zipfile.ZipFile(path) as archive:
        contents = {name: archive.read(name) for name in archive.namelist()}
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in contents.items():
            archive.writestr(name, pa.compress(content, "zstd", asbytes=True))
        starts = [info.header_offset for info in archive.infolist()]
    data = bytearray(path.read_bytes())
    for start in starts:
        struct.pack_into("<H", data, start + 8, 93)
    for found in re.finditer(b"PK\x01\x02", bytes(data)):
        struct.pack_into("<H", data, found.start() + 10, 93)
    path.write_bytes(data)
    return path


def test_a_log_packed_by_zstandard_is_read(tmp_path: Path) -> None:
    path = packed_by_zstandard(inspect_log(tmp_path / "a.eval", {1: "C", 2: "I"}))
    with zipfile.ZipFile(path) as archive, pytest.raises(NotImplementedError):
        archive.read("header.json")
    (table,) = read_files([path], "a").tables
    assert [row.scores["match"] for row in table.rows] == [1.0, 0.0]
    path.write_bytes(path.read_bytes().replace(b"\x28\xb5\x2f\xfd", b"\0\0\0\0"))
    with pytest.raises(UserError, match=r"a\.eval: cannot be read as a log of inspect_ai \(.* is damaged") as refused:
        read_files([path], "a")
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize("ending", ["json", "eval"])
def test_inspect_letters_are_right_or_wrong(tmp_path: Path, ending: str) -> None:
    (table,) = read_files([inspect_log(tmp_path / f"a.{ending}", {1: "C", 2: "I", 3: None})], "a").tables
    assert (table.benchmark, table.model) == ("sums", "openai/a")
    assert [(m.name, m.kind, m.range) for m in table.metrics] == [("match", "rate", (0.0, 1.0))]
    assert [dict(row.scores) for row in table.rows] == [{"match": 1.0}, {"match": 0.0}, {}]
    assert table.rows[2].error == "no reply"


def test_partial_marks_are_no_rate_and_numbers_claim_nothing(tmp_path: Path) -> None:
    (partial,) = read_files([inspect_log(tmp_path / "a.json", {1: "C", 2: "P"})], "a").tables
    assert (partial.metrics[0].kind, [row.scores["match"] for row in partial.rows]) == ("mean", [1.0, 0.5])
    (number,) = read_files([inspect_log(tmp_path / "b.json", {1: {"len": 7.5, "why": "x"}, 2: {"len": 1}})], "b").tables
    assert [(m.name, m.range, m.higher_is_better) for m in number.metrics] == [("match/len", None, None)]
    assert number.left_out == ["match/why"]


def test_epochs_are_repeats_of_one_sample(tmp_path: Path) -> None:
    imported = read_files([inspect_log(tmp_path / "a.json", {1: "C", 2: "I"}, epochs=3)], "a")
    (table,) = imported.score_tables()
    assert (table.values["system"].shape, list(table.seeds["system"])) == ((2, 1), [1, 2, 3])


def test_lm_eval_names_task_model_and_filters(tmp_path: Path) -> None:
    rows = [document(0, acc=1.0, acc_norm=0.0, bleu=["a", "b"]), {**document(0, acc=0.0), "filter": "strict"}]
    rows += [document(1, acc=0.0, acc_norm=1.0, brier_score=0.3)]
    (table,) = read_files([lm_eval_file(tmp_path / "org__model", rows)], "a").tables
    assert (table.benchmark, table.model) == ("arc_easy", "org__model")
    kinds = {metric.name: (metric.kind, metric.range) for metric in table.metrics}
    assert kinds == {
        "acc": ("rate", (0.0, 1.0)),
        "acc_norm": ("rate", (0.0, 1.0)),
        "acc,strict": ("rate", (0.0, 1.0)),
        "brier_score": ("mean", None),
    }
    assert table.left_out == ["bleu"]
    assert len(table.rows) == 2


def test_two_lm_eval_runs_are_compared_sample_by_sample(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = ["--out", str(tmp_path / "out")]
    old = lm_eval_file(tmp_path / "old", [document(n, acc=float(n % 4 == 0)) for n in range(40)])
    new = lm_eval_file(tmp_path / "new", [document(n, acc=float(n % 4 != 1)) for n in range(40)])
    assert main(["import", str(old), "--name", "old", *out]) == 0
    assert "acc: 0.250 [" in (shown := capsys.readouterr().out)
    assert "n=40" in shown
    assert main(["import", str(new), "--name", "new", *out]) == 0
    capsys.readouterr()
    assert main(["compare", "old", "new", "--json", *out]) == 0
    (found,) = json.loads(capsys.readouterr().out)
    assert (found["difference"], found["n_pairs"], found["verdict"]) == (pytest.approx(0.5), 40, "better")
    assert found["test"] == "mcnemar"
    assert found["p"] == pytest.approx(2 * 0.5**20)
    assert main(["compare", "old", "new", *out]) == 0
    assert "imported · acc" in capsys.readouterr().out


def test_only_the_same_question_is_a_pair(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = ["--out", str(tmp_path / "out")]
    other = [{**document(n, acc=1.0), "doc_hash": "cd" * 32} for n in range(9)]
    for name, rows in (("a", [document(n, acc=0.0) for n in range(9)]), ("b", other)):
        assert main(["import", str(lm_eval_file(tmp_path / name, rows)), "--name", name, *out]) == 0
    capsys.readouterr()
    assert main(["compare", "a", "b", *out]) == 0
    assert "not compared: acc (no sample has this score on both sides)" in capsys.readouterr().out


def test_two_inspect_logs_with_a_failed_sample(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = ["--out", str(tmp_path / "out")]
    first = inspect_log(tmp_path / "one.json", {n: "C" if n % 2 else "I" for n in range(30)})
    second = inspect_log(tmp_path / "two.eval", {n: None if n == 3 else "C" for n in range(30)}, model="openai/b")
    assert [main(["import", str(path), *out]) for path in (first, second)] == [0, 0]
    assert "sums · openai/b: 30 samples x 1, 1 errors" in capsys.readouterr().out
    assert main(["compare", "one", "two", "--json", *out]) == 0
    (found,) = json.loads(capsys.readouterr().out)
    assert (found["n_pairs"], found["n_missing"]) == (29, 1)
    assert found["verdict"] == "better"


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("a.json", b"{", r"a\.json:1: not valid JSON"),
        ("a.json", b"{}", r"a\.json: is not known; give a log of inspect_ai"),
        ("a.json", b'{"eval": {}, "status": "x"}', r"a\.json: is no log of inspect_ai \(eval\.task"),
        ("a.json", b'{"eval": {"task": "t", "model": "m"}, "status": "x"}', r"a\.json: holds no samples"),
        ("a.json", b'{"eval": {"task": "t", "model": "m"}, "status": "x", "samples": [3]}', r"sample 1 has no id"),
        ("a.eval", b"PK", r"a\.eval: cannot be read as a log of inspect_ai"),
        ("a.jsonl", b"", r"a\.jsonl: is not known"),
        ("a.jsonl", b'{"doc_id": 1, "resps": []}\n{"doc_id":', r"a\.jsonl:2: not valid JSON"),
        ("a.jsonl", b'{"doc_id": 1, "resps": []}\n[]\n', r"a\.jsonl:2: has no doc_id and resps"),
        ("a.jsonl", b'{"doc_id": 1, "resps": [], "acc": 1}\n' * 2, r"a\.jsonl:2: document 1 has 'acc' twice"),
        ("a.bin", b"\xff\xfe", r"a\.bin: is no text"),
    ],
)
def test_what_is_no_such_file_is_one_sentence(tmp_path: Path, name: str, content: bytes, said: str) -> None:
    (tmp_path / name).write_bytes(content)
    with pytest.raises(UserError, match=said) as refused:
        read_files([tmp_path / name], "a")
    assert "\n" not in str(refused.value)
    assert main(["import", str(tmp_path / name), "--out", str(tmp_path / "out")]) == 2
    assert not (tmp_path / "out").exists()


def test_files_of_two_tools_do_not_mix(tmp_path: Path) -> None:
    paths = [inspect_log(tmp_path / "a.json", {1: "C"}), lm_eval_file(tmp_path / "m", [document(0, acc=1.0)])]
    with pytest.raises(UserError, match="come from inspect_ai and lm-evaluation-harness; import them apart"):
        read_files(paths, "a")
