# ruff: noqa: E501 - a table of mistakes reads best a row a line
"""A hundred files that cannot be read: each is one sentence with the line, and exit code 2."""

from __future__ import annotations

import gzip
import io
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from seedbed.cli.main import main

CSV = b"country,capital\nPeru,Lima\nChad,N'Djamena\n"
TSV = CSV.replace(b",", b"\t")
LINE = b'{"country": "Peru", "capital": "Lima"}\n'
TEXT: dict[str, Any] = {"inputs": ["text"], "answer": None}


def parquet(*columns: tuple[str, Any]) -> bytes:
    file = io.BytesIO()
    pq.write_table(pa.Table.from_arrays([pa.array(c) for _, c in columns], names=[n for n, _ in columns]), file)
    return file.getvalue()


TABLE = parquet(("country", ["Peru"]), ("capital", ["Lima"]))

Malformed = tuple[str, bytes, dict[str, Any], str]
"""A file's name and content, options of the benchmark, and what is said behind the file's name."""

# fmt: off
ENCODINGS: Mapping[str, Malformed] = {
    "UTF-16": ("a.csv", CSV.decode().encode("utf-16"), {}, ":1: not UTF-8 text (byte 1 of the line is 0xff); save it as UTF-8."),
    "UTF-16 the other way round": ("a.csv", b"\xfe\xff" + CSV.decode().encode("utf-16-be"), {}, ":1: not UTF-8 text"),
    "UTF-16 without a mark": ("a.csv", CSV.decode().encode("utf-16-le"), {}, ":1: holds a NUL byte"),
    "UTF-32": ("a.tsv", TSV.decode().encode("utf-32"), {}, ":1: not UTF-8 text"),
    "Latin-1 in csv": ("a.csv", "country,capital\nPeru,Lima\nTogo,Lomé\n".encode("latin-1"), {}, ":3: not UTF-8 text (byte 9 of the line is 0xe9)"),
    "Latin-1 in tsv": ("a.tsv", TSV + "Togo\tLomé\n".encode("latin-1"), {}, ":4: not UTF-8 text"),
    "GB 18030": ("a.jsonl", LINE + '{"country": "秘鲁", "capital": "利马"}\n'.encode("gb18030"), {}, ":2: not UTF-8 text"),
    "Shift JIS": ("a.json", '[\n{"country": "ペルー", "capital": "x"}]'.encode("shift-jis"), {}, ":2: not UTF-8 text"),
    "half a character at the end": ("a.jsonl", LINE + '{"country": "Perú'.encode()[:-1], {}, ":2: not UTF-8 text"),
    "an overlong form": ("a.csv", CSV + b"Oman,\xc0\xaf\n", {}, ":4: not UTF-8 text"),
    "an encoded surrogate": ("a.csv", CSV + b"Oman,\xed\xa0\x80\n", {}, ":4: not UTF-8 text"),
    "a surrogate in JSON": ("a.jsonl", LINE + b'{"country": "\\ud83d", "capital": "x"}\n', {}, ":2: holds half a character ('\\ud83d')"),
    "a surrogate in an array": ("a.json", b'[\n{"country": "a", "capital": "b"},\n\n{"country": "\\ud83d", "capital": "x"}]', {}, ":4: holds half a character"),
    "a NUL in csv": ("a.csv", CSV + b"Om\0an,x\n", {}, ":4: holds a NUL byte, which no text has"),
    "a NUL in jsonl": ("a.jsonl", LINE + b'{"country": "a\0b", "capital": "x"}\n', {}, ":2: holds a NUL byte"),
    "an escaped NUL": ("a.jsonl", LINE + b'{"country": {"x": ["a\\u0000b"]}, "capital": "x"}\n', {}, ":2: not valid JSON (holds the character \\u0000"),
    "Latin-1 in a text": ("a.txt", b"ok\ncaf\xe9\n", TEXT, ":2: not UTF-8 text"),
    "a NUL in a text": ("a.txt", b"ok\na\0b\n", TEXT, ":2: holds a NUL byte"),
    "bytes in a text": ("a.md", b"\xff\n", TEXT, ":1: not UTF-8 text"),
    "Latin-1 in gzip": ("a.csv.gz", gzip.compress("country,capital\nTogo,Lomé\n".encode("latin-1"), mtime=0), {}, ":2: not UTF-8 text"),
    "Latin-1 in parquet": ("a.parquet", parquet(("country", ["qq"]), ("capital", ["x"])).replace(b"qq", b"\xff\xfe"), {}, ":1: a text of this row is not UTF-8"),
}
TABLES: Mapping[str, Malformed] = {
    "an open quote": ("a.csv", CSV + b'"Oman,Muscat\n', {}, ":4: not valid CSV (unexpected end of data); mend the quotes of the row."),
    "an open quote in tsv": ("a.tsv", TSV + b'"Oman\tMuscat\n', {}, ":4: not valid CSV"),
    "a letter behind a quote": ("a.csv", CSV + b'"Oman"x,Muscat\n', {}, ":4: not valid CSV"),
    "a field too many": ("a.csv", CSV + b"Oman,Muscat,x\n", {}, ":4: has 3 fields, but the header names 2; quote texts that hold ','."),
    "a field too many in tsv": ("a.tsv", TSV + b"a\tb\tc\n", {}, ":4: has 3 fields"),
    "a field too many behind a long row": ("a.csv", CSV + b'"Om\nan",Muscat\nFiji,Suva,x\n', {}, ":6: has 3 fields"),
    "semicolons": ("a.csv", CSV.replace(b",", b";"), {}, ":2: there is no column 'country', which `inputs` names; did you mean 'country;capital'?"),
    "no header": ("a.csv", b"Peru,Lima\nChad,N'Djamena\n", {}, ":2: there is no column 'country', which `inputs` names; Known: Lima, Peru."),
    "a column twice": ("a.csv", b"country,country\nPeru,Lima\n", {}, ":1: the column 'country' stands twice in the header; rename one."),
    "a column twice in tsv": ("a.tsv", b"a\tcapital\ta\nPeru\tLima\tx\n", {}, ":1: the column 'a' stands twice"),
    "two columns without a name": ("a.csv", b"country,,\nPeru,Lima,x\n", {}, ":1: the column '' stands twice"),
    "a space before a name": ("a.csv", b"country, capital\nPeru,Lima\n", {}, ":2: there is no column 'capital', which `answer` names; did you mean ' capital'?"),
    "other letters": ("a.csv", b"Country,Capital\nPeru,Lima\n", {}, ":2: there is no column 'country', which `inputs` names; did you mean 'Country'?"),
    "nothing": ("a.csv", b"", {}, ": holds no row"),
    "nothing in tsv": ("a.tsv", b"", {}, ": holds no row"),
    "a mark alone": ("a.csv", b"\xef\xbb\xbf", {}, ": holds no row"),
    "a header alone": ("a.csv", b"country,capital\n", {}, ": holds no row"),
    "blank lines": ("a.csv", b"\n\n\n", {}, ": holds no row"),
    "empty cells": ("a.csv", b"country,capital\n,\n,\n", {}, ": holds no row"),
    "no gzip": ("a.csv.gz", CSV, {}, ":1: not a whole gzip file"),
    "half a gzip": ("a.csv.gz", gzip.compress(CSV * 50, mtime=0)[:-12], {}, "not a whole gzip file (Compressed file ended"),
    "a wrong sum": ("a.jsonl.gz", gzip.compress(LINE * 50, mtime=0)[:-8] + bytes(8), {}, ":51: not a whole gzip file (CRC check failed"),
    "an empty gzip": ("a.jsonl.gz", gzip.compress(b"", mtime=0), {}, ": holds no row"),
    "no parquet": ("a.parquet", CSV, {}, ": cannot be read as Parquet"),
    "half a parquet": ("a.parquet", TABLE[:-20], {}, ": cannot be read as Parquet"),
    "the first bytes of a parquet": ("a.parquet", TABLE[:4], {}, ": cannot be read as Parquet"),
    "an empty parquet": ("a.parquet", b"", {}, ": cannot be read as Parquet"),
    "a parquet with a hole": ("a.parquet", TABLE[:10] + b"\xff" * 20 + TABLE[30:], {}, ": cannot be read as Parquet"),
    "a zipped parquet": ("a.parquet.gz", gzip.compress(TABLE, mtime=0), {}, ": cannot be read as Parquet"),
    "a parquet without rows": ("a.parquet", parquet(("country", pa.array([], pa.string())), ("capital", pa.array([], pa.string()))), {}, ": holds no row"),
    "a parquet without the column": ("a.parquet", parquet(("country", ["Peru"])), {}, ":1: there is no column 'capital'"),
    "a parquet with a column twice": ("a.parquet", parquet(("country", ["a"]), ("country", ["b"]), ("capital", ["c"])), {}, ": the column 'country' stands twice"),
    "bytes in a column": ("a.parquet", parquet(("country", [b"\xff\xfe"]), ("capital", ["x"])), {}, ":1: field country: b'\\xff\\xfe' is bytes, which has no place in a prompt; write text."),
    "a duration in a column": ("a.parquet", parquet(("country", pa.array([5], pa.duration("s"))), ("capital", ["x"])), {}, ":1: field country: datetime.timedelta(seconds=5) is timedelta"),
    "a workbook": ("a.xlsx", b"PK\x03\x04xxxx\xff", {}, ": is no file of rows that can be read; save it as csv, tsv, jsonl, json or parquet."),
    "YAML": ("a.yaml", b"- country: Peru\n", {}, ": is no file of rows that can be read"),
    "XML": ("a.xml", b"<a/>", {}, ": is no file of rows that can be read"),
    "no ending": ("cases", CSV, {}, ":1: not valid JSON"),
}
DOCUMENTS: Mapping[str, Malformed] = {
    "half a line": ("a.jsonl", LINE + b'{"country": \n', {}, ":2: not valid JSON (Expecting value); mend or remove the line."),
    "two objects on a line": ("a.jsonl", LINE.strip() + LINE, {}, ":1: not valid JSON (Extra data)"),
    "a list on a line": ("a.jsonl", LINE + b"[1]\n", {}, ":2: not an object but list"),
    "a text on a line": ("a.jsonl", LINE + b'"Peru"\n', {}, ":2: not an object but str"),
    "csv in jsonl": ("a.jsonl", CSV, {}, ":1: not valid JSON"),
    "YAML in jsonl": ("a.jsonl", b"country: Peru\n", {}, ":1: not valid JSON"),
    "a key twice": ("a.jsonl", LINE + b'{"country": "a", "country": "b", "capital": "c"}\n', {}, ":2: not valid JSON (the key 'country' stands twice in an object)"),
    "a key twice in an array": ("a.json", b'[\n{"country": "a", "capital": "c"},\n{"country": "a",\n"country": "b"}]', {}, ":3: not valid JSON (the key 'country'"),
    "Infinity": ("a.jsonl", LINE + b'{"country": Infinity, "capital": "x"}\n', {}, ":2: not valid JSON (Infinity is no JSON value, null is)"),
    "NaN": ("a.json", b'[\n{"country": "a", "capital": "b"},\n{"country": NaN, "capital": "Lima"}]', {}, ":3: not valid JSON (NaN is no JSON value, null is)"),
    "a number without end": ("a.jsonl", LINE + b'{"country": "x", "capital": ' + b"9" * 5000 + b"}\n", {}, ":2: not valid JSON (Exceeds the limit"),
    "too deep": ("a.json", b"[" * 100_000, {}, ":1: JSON nested too deep"),
    "blank lines in jsonl": ("a.jsonl", b"  \n \n", {}, ": holds no row"),
    "an empty array": ("a.json", b"[]", {}, ": holds no row"),
    "an empty file": ("a.json", b"", {}, ": holds no row"),
    "an empty object": ("a.json", b"{}", {}, ":1: there is no column 'country'"),
    "a number": ("a.json", b"3", {}, ":1: not an object but int"),
    "null": ("a.json", b"null", {}, ":1: not an object but NoneType"),
    "an array of numbers": ("a.json", b"[\n1,\n2]", {}, ":2: not an object but int"),
    "null in an array": ("a.json", b'[\n{"country": "a", "capital": "b"},\nnull]', {}, ":3: not an object but NoneType"),
    "a comma at the end": ("a.json", b'[{"country": "a", "capital": "b"},\n]', {}, ":2: not valid JSON"),
    "single quotes": ("a.json", b"[{'country': 'a'}]", {}, ":1: not valid JSON"),
    "a comment": ("a.json", b'[\n// x\n{"country": "a", "capital": "b"}]', {}, ":2: not valid JSON"),
    "half an array": ("a.json", b'[\n{"country": "a", "capital": "b"},\n{"country": "c"', {}, ":3: not valid JSON"),
    "something behind the array": ("a.json", b'[{"country": "a", "capital": "b"}]\n]', {}, ":2: not valid JSON (Extra data)"),
    "a text of blank lines": ("a.txt", b"\n  \n", TEXT, ": holds no line; each is a case."),
    "an empty text": ("a.md", b"", TEXT, ": holds no line"),
}
COLUMNS: Mapping[str, Malformed] = {
    "an answer that is not there": ("a.csv", CSV, {"answer": "captial"}, ":2: there is no column 'captial', which `answer` names; did you mean 'capital'?"),
    "an input that is not there": ("a.csv", CSV, {"inputs": ["land"]}, ":2: there is no column 'land', which `inputs` names"),
    "a renamed input that is not there": ("a.csv", CSV, {"inputs": {"land": "contry"}}, ":2: there is no column 'contry', which `inputs` names; did you mean 'country'?"),
    "an id that is not there": ("a.csv", CSV, {"id": "key"}, ":2: there is no column 'key', which `id` names"),
    "a cluster that is not there": ("a.csv", CSV, {"cluster": "x"}, ":2: there is no column 'x', which `cluster` names"),
    "a condition that is not there": ("a.csv", CSV, {"where": {"x": 1}}, ":2: there is no column 'x', which `where` names"),
    "a split that is not there": ("a.csv", CSV, {"split": {"by": "x"}}, ":2: there is no column 'x', which `split` names"),
    "an answer missing in a line": ("a.jsonl", LINE + b'{"country": "Chad"}\n', {}, ":2: there is no column 'capital', which `answer` names"),
    "an input missing in a line": ("a.jsonl", LINE + b'{"capital": "Lima"}\n', {}, ":2: there is no column 'country', which `inputs` names"),
    "an id missing in a line": ("a.jsonl", b'{"id": 1, "country": "x", "capital": "a"}\n' + LINE, {}, ":2: there is no column 'id', which `id` names"),
    "no column left": ("a.txt", b"ok\n", {"inputs": None, "answer": "text"}, ":1: has no column left for the inputs; name them under `inputs`."),
    "no answer in a text": ("a.txt", b"ok\n", {"inputs": ["text"], "answer": "label"}, ":1: there is no column 'label'"),
    "nothing left": ("a.csv", CSV, {"where": {"country": "Mars"}}, ": none of its 2 rows meets `where`; change the conditions."),
    "nothing left to test": ("a.csv", b"country,capital,part\na,b,train\nc,d,val\n", {"split": {"by": "part"}}, ": no case is left for the test split; change `split`."),
    "an id twice in csv": ("a.csv", b"id,country,capital\n7,a,b\n8,x,y\n7,c,d\n", {}, ":4: id '7' stands twice, first on line 2; make ids unique."),
    "an id twice in tsv": ("a.tsv", b"id\tcountry\tcapital\n7\ta\tb\n7\tc\td\n", {}, ":3: id '7' stands twice"),
    "an id twice, once as a number": ("a.jsonl", b'{"id": 1, "country": "x", "capital": "a"}\n\n{"id": "1", "country": "y", "capital": "a"}\n', {}, ":3: id '1' stands twice, first on line 1"),
    "an id twice in json": ("a.json", b'[\n{"id": "a", "country": "x", "capital": "a"},\n{"id": "a", "country": "x", "capital": "a"}]', {}, ":3: id 'a' stands twice, first on line 2"),
    "an id twice in parquet": ("a.parquet", parquet(("id", ["a", "a"]), ("country", ["x", "y"]), ("capital", ["x", "y"])), {}, ":2: id 'a' stands twice, first on line 1"),
    "an id twice in a column of one's own": ("a.csv", b"country,capital\nPeru,Lima\nPeru,Cusco\n", {"id": "country", "inputs": ["capital"]}, ":3: id 'Peru' stands twice, first on line 2"),
    "an empty id": ("a.csv", b"country,capital\nPeru,Lima\n,Cusco\n", {"id": "country", "inputs": ["capital"]}, ":3: field country is missing"),
    "a blank id": ("a.jsonl", b'{"id": " ", "country": "x", "capital": "a"}\n', {}, ":1: field id: ' ' is no id; write a text or a whole number."),
    "a list as id": ("a.jsonl", b'{"id": [1], "country": "x", "capital": "a"}\n', {}, ":1: field id: [1] is no id"),
    "a list as id in parquet": ("a.parquet", parquet(("id", [["a"]]), ("country", ["x"]), ("capital", ["x"])), {}, ":1: field id: ['a'] is no id"),
    "a fraction as id": ("a.jsonl", b'{"id": 1.5, "country": "x", "capital": "a"}\n', {}, ":1: field id: 1.5 is no id"),
    "a truth as id": ("a.jsonl", b'{"id": true, "country": "x", "capital": "a"}\n', {}, ":1: field id: True is no id"),
    "null as id": ("a.jsonl", b'{"id": 1, "country": "x", "capital": "a"}\n{"id": null, "country": "x", "capital": "a"}\n', {}, ":2: field id is missing"),
    "a list in a list": ("a.jsonl", LINE + b'{"country": "Peru", "capital": [["Lima"]]}\n', {}, ":2: the answer holds a list within a list"),
    "no number": ("a.csv", CSV, {"where": {"country": {"min": 3}}}, ":2: field country: 'Peru' is no number, and `where` compares it with one; mend it."),
    "a list where a number is": ("a.jsonl", b'{"country": [1], "capital": "x"}\n', {"where": {"country": {"max": 1}}}, ":1: field country: [1] is no number"),
    "no split of this name": ("a.csv", CSV, {"split": {"by": "country"}}, ":2: field country: 'Peru' is no split; write train, val or test."),
    "null as split": ("a.jsonl", LINE[:-2] + b', "part": null}\n', {"split": {"by": "part"}}, ":1: field part: None is no split"),
}
# fmt: on
KINDS = {"encodings": ENCODINGS, "tables": TABLES, "documents": DOCUMENTS, "columns": COLUMNS}
ALL = {f"{kind}: {name}": entry for kind, own in KINDS.items() for name, entry in own.items()}


def planned(folder: Path, path: str, options: Mapping[str, Any]) -> int:
    """The exit code of `seedbed plan` on a config whose cases lie there."""
    benchmark = {"name": "c", "path": path, "inputs": ["country"], "answer": "capital", **options}
    systems = [{"name": "s", "signature": "country -> capital"}]
    experiment = {
        "suite": "custom",
        "models": ["m"],
        "benchmarks": [benchmark],
        "systems": systems,
        "scorers": ["exact"],
    }
    config = {"name": "bad", "seeds": [0], "models": {"m": {"model": "offline/reader"}}, "experiments": [experiment]}
    (folder / "bad.yaml").write_text(json.dumps(config), encoding="utf-8")
    return main(["plan", str(folder / "bad.yaml"), "--out", str(folder / "out")])


def test_there_are_a_hundred() -> None:
    assert len(ALL) >= 100


@pytest.mark.parametrize("name", ALL)
def test_it_is_one_sentence_with_the_line(name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file, content, options, said = ALL[name]
    (tmp_path / file).write_bytes(content)
    assert planned(tmp_path, file, options) == 2
    told = capsys.readouterr().err
    assert told.startswith(f"seedbed: {tmp_path / file}:")
    assert said in told
    assert (told.count("\n"), told.endswith(".\n")) == (1, True)
    assert not (tmp_path / "out").exists()


def test_a_folder_of_texts_names_the_file_within(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    texts = tmp_path / "texts"
    texts.mkdir()
    assert planned(tmp_path, "texts", TEXT) == 2
    assert "texts: holds no file that ends in .txt or .md" in capsys.readouterr().err
    (texts / "a.txt").write_bytes(b"fine")
    (texts / "b.txt").write_bytes(b"fine\ncaf\xe9")
    assert planned(tmp_path, "texts", TEXT) == 2
    assert f"{texts / 'b.txt'}:2: not UTF-8 text (0xe9); save it as UTF-8." in capsys.readouterr().err
