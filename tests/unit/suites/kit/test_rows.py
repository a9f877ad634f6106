"""The one reader of users' rows: formats, lines, and what it says of files that cannot be read."""

from __future__ import annotations

import csv
import gzip
import io
import json
from pathlib import Path
from typing import Any

import pyarrow as arrow
import pyarrow.parquet as parquet
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, ConfigDict

from seedbed.errors import UserError
from seedbed.suites.kit.rows import Row, UniqueIds, numbered_rows, read_rows


def wrote(path: Path, text: str) -> Path:
    path.write_text(text, encoding="utf-8", newline="")
    return path


def test_a_csv_row_is_named_by_the_line_it_begins_on(tmp_path: Path) -> None:
    path = wrote(tmp_path / "a.csv", 'id,text\r\n1,"two\r\nlines"\r\n\r\n2,\r\n')
    assert list(numbered_rows(path)) == [(2, {"id": "1", "text": "two\r\nlines"}), (5, {"id": "2", "text": None})]


def test_tabs_part_the_fields_of_a_tsv(tmp_path: Path) -> None:
    assert list(numbered_rows(wrote(tmp_path / "a.tsv", "id\ttext\n1\ta, b\n"))) == [(2, {"id": "1", "text": "a, b"})]


def test_a_byte_order_mark_is_no_part_of_the_first_column(tmp_path: Path) -> None:
    assert list(numbered_rows(wrote(tmp_path / "a.csv", "\ufeffid\n7\n"))) == [(2, {"id": "7"})]


def test_a_field_of_a_megabyte_is_read(tmp_path: Path) -> None:
    [(_, row)] = numbered_rows(wrote(tmp_path / "a.csv", f"id,text\n1,{'x' * 1_000_000}\n"))
    assert len(row["text"]) == 1_000_000


def test_gzipped_lines_are_read_by_line(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl.gz"
    path.write_bytes(gzip.compress(b'{"id": 1}\n\n{"id": 2}\n', mtime=0))
    assert list(numbered_rows(path)) == [(1, {"id": 1}), (3, {"id": 2})]


@pytest.mark.parametrize("name", ["a.json", "a.jsonl", "a.txt"])
def test_an_array_is_read_element_by_element_with_their_lines(tmp_path: Path, name: str) -> None:
    path = wrote(tmp_path / name, '\n[\n  {"id": 1,\n   "a": [1, 2]},\n\n  {"id": 2}, {"id": 3}\n]\n')
    assert [(line, row["id"]) for line, row in numbered_rows(path)] == [(3, 1), (6, 2), (6, 3)]


def test_an_object_that_wraps_its_rows_is_unwrapped(tmp_path: Path) -> None:
    path = wrote(tmp_path / "a.json", '{"version": "1",\n "meta": [1],\n "cases": [\n  {"id": 1},\n  {"id": 2}\n]}')
    assert [(line, row["id"]) for line, row in numbered_rows(path)] == [(4, 1), (5, 2)]


@pytest.mark.parametrize(
    "text", ['{"domain": "d", "cases": [{"id": 1}, {"id": 2}]}', '{\n"cases": [{"id": 1}, {"id": 2}]\n}']
)
def test_so_is_one_in_a_file_that_is_named_for_lines(tmp_path: Path, text: str) -> None:
    assert [row["id"] for _, row in numbered_rows(wrote(tmp_path / "a.jsonl", text))] == [1, 2]


def test_a_line_with_a_list_of_its_own_stays_a_row(tmp_path: Path) -> None:
    assert list(numbered_rows(wrote(tmp_path / "a.jsonl", '{"id": 1, "items": ["x"]}'))) == [
        (1, {"id": 1, "items": ["x"]})
    ]


def test_an_object_of_rows_gives_each_its_key(tmp_path: Path) -> None:
    path = wrote(tmp_path / "a.json", '{\n "x": {"n": 1},\n "y": {"n": 2}\n}')
    assert list(numbered_rows(path, key="law")) == [(2, {"law": "x", "n": 1}), (3, {"law": "y", "n": 2})]


def test_a_single_object_is_one_row(tmp_path: Path) -> None:
    assert list(numbered_rows(wrote(tmp_path / "a.json", '{"id": 1,\n "n": 2}'))) == [(1, {"id": 1, "n": 2})]


def test_lines_in_a_file_named_json_are_lines_all_the_same(tmp_path: Path) -> None:
    path = wrote(tmp_path / "a.json", '{"id": 1}\n\n{"id": 2}\n')
    assert list(numbered_rows(path)) == [(1, {"id": 1}), (3, {"id": 2})]


def test_a_character_that_ends_lines_elsewhere_ends_none_here(tmp_path: Path) -> None:
    path = wrote(tmp_path / "a.jsonl", '{"id": "a\u2028b\x85"}\n{"id": 2}\n')
    assert [line for line, _ in numbered_rows(path)] == [1, 2]


def test_parquet_rows_are_counted(tmp_path: Path) -> None:
    path = tmp_path / "a.parquet"
    parquet.write_table(arrow.table({"id": ["a", "b"], "gold": [["x"], ["y", "z"]]}), path)
    assert list(numbered_rows(path)) == [(1, {"id": "a", "gold": ["x"]}), (2, {"id": "b", "gold": ["y", "z"]})]


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("a.jsonl", b'{"id": 1}\n\n{"id": \n', r"a\.jsonl:3: not valid JSON .*mend or remove the line\.$"),
        ("a.json", b'[\n{"id": 1},\n{"id": }\n]', r"a\.json:3: not valid JSON"),
        ("a.jsonl", b'{"id": 1}\n{"id": NaN}\n', r"a\.jsonl:2: not valid JSON \(NaN is no JSON value, null is\)"),
        ("a.jsonl", b'{"id": ' + b"9" * 5000 + b"}", r"a\.jsonl:1: not valid JSON \(Exceeds the limit"),
        ("a.jsonl", b'{"id": ' + b"[" * 100_000, r"a\.jsonl:1: JSON nested too deep"),
        ("a.jsonl", b'{"id": 1}\n{"id": "\\ud83d"}', r"a\.jsonl:2: holds half a character \('\\ud83d'\)"),
        ("a.jsonl", b'{"id": 1}\n\xff\xfe', r"a\.jsonl:2: not UTF-8 text \(byte 1 of the line is 0xff\)"),
        ("a.csv", b"id,text\n1,caf\xe9\n", r"a\.csv:2: not UTF-8 text"),
        ("a.csv", b'id,text\n1,x\n2,"open\n', r"a\.csv:3: not valid CSV .*mend the quotes"),
        ("a.csv", b"id,text\n1,x,y\n", r"a\.csv:2: has 3 fields, but the header names 2"),
        ("a.csv", b"id,id\n1,x\n", r"a\.csv:1: the column 'id' stands twice"),
        ("a.csv", b"id,text\n", r"a\.csv: holds no row; each is \{id\}\.$"),
        ("a.json", b"[]", r"a\.json: holds no row"),
        ("a.json", b"", r"a\.json: holds no row"),
        ("a.json", b'[\n{"id": 1},\n"x"\n]', r"a\.json:3: not an object but str; each row is \{id\}\.$"),
        ("a.jsonl.gz", gzip.compress(b'{"id": 1}\n' * 9, mtime=0)[:-9], r"a\.jsonl\.gz:\d+: not a whole gzip file"),
        ("a.jsonl.gz", b'{"id": 1}\n', r"a\.jsonl\.gz:1: not a whole gzip file"),
        ("a.parquet", b"PAR1 not really", r"a\.parquet: cannot be read as Parquet"),
    ],
)
def test_a_file_that_cannot_be_read_is_one_sentence(tmp_path: Path, name: str, content: bytes, said: str) -> None:
    (tmp_path / name).write_bytes(content)
    with pytest.raises(UserError, match=said) as caught:
        list(numbered_rows(tmp_path / name, shape="{id}"))
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("name", ["a.jsonl", "a.csv", "a.parquet"])
def test_a_missing_file_and_a_folder_are_named(tmp_path: Path, name: str) -> None:
    with pytest.raises(UserError, match="no such file"):
        list(numbered_rows(tmp_path / name))
    (tmp_path / name).mkdir()
    with pytest.raises(UserError, match="is a folder"):
        list(numbered_rows(tmp_path / name))


def _row(**data: Any) -> Row:
    return Row(Path("f.jsonl"), 4, data)


class Shape(BaseModel):
    model_config = ConfigDict(extra="forbid")
    id: str
    parts: list[str] = []


@pytest.mark.parametrize(
    ("ask", "said"),
    [
        (lambda: _row(b=1).need("a", "A"), "f.jsonl:4: field a or A is missing; the row has b."),
        (lambda: _row(a=3).text("a"), "f.jsonl:4: field a: 3 is not a text; quote it."),
        (lambda: _row(a=" ").text("a"), "f.jsonl:4: field a is empty; give a text."),
        (lambda: _row(a={"x": 1}).texts("a"), "f.jsonl:4: field a: {'x': 1} is no list of texts"),
        (lambda: _row(a=True).identity("a"), "f.jsonl:4: field a: True is no id; write a text or a whole number."),
        (lambda: _row(a="many").number("a"), "f.jsonl:4: field a: 'many' is no number of at least 0; write one."),
        (lambda: _row(a=-1).number("a"), "f.jsonl:4: field a: -1 is no number of at least 0; write one."),
        (lambda: _row(a=[1]).inner("a"), "f.jsonl:4: field a: [1] is no object; write {...}."),
        (lambda: _row(a="x" * 100).number("a"), "…"),
        (lambda: _row(id="a", prats=[]).checked(Shape), "field prats: unknown; did you mean 'parts'?"),
        (lambda: _row(parts=[]).checked(Shape), "f.jsonl:4: field id: is required; add it."),
        (lambda: _row(id="a", parts=["x", 3]).checked(Shape), "field parts.1: Input should be a valid string (got 3)."),
    ],
)
def test_a_wrong_field_is_one_sentence_with_file_line_and_remedy(ask: Any, said: str) -> None:
    with pytest.raises(UserError) as caught:
        ask()
    assert said in str(caught.value)
    assert len(str(caught.value)) < 200


def test_fields_are_taken_by_the_first_name_a_row_has() -> None:
    assert _row(B="x").text("a", "B") == "x"
    assert _row(a=7).identity("a") == "7"
    assert _row(a="2.5").number("a") == 2.5
    assert (_row(a="x").texts("a"), _row(a=["x", " "]).texts("a"), _row().texts("a")) == (["x"], ["x"], [])


def test_an_id_that_stands_twice_on_one_line_is_found(tmp_path: Path) -> None:
    ids = UniqueIds("case_id")
    rows = list(read_rows(wrote(tmp_path / "a.json", '[{"id": "a"}, {"id": "a"}]')))
    ids.add(rows[0], "a")
    with pytest.raises(UserError, match=r"a\.json:1: case_id 'a' stands twice, first on line 1; make ids unique"):
        ids.add(rows[1], "a")


_CELL = st.text(st.characters(codec="utf-8", exclude_characters="\0"), min_size=1, max_size=8)


@given(rows=st.lists(st.tuples(_CELL, _CELL), min_size=1, max_size=6), blanks=st.integers(0, 2))
def test_any_text_comes_back_from_csv_and_json_with_its_line(
    tmp_path_factory: pytest.TempPathFactory, rows: list[tuple[str, str]], blanks: int
) -> None:
    folder = tmp_path_factory.mktemp("rows")
    wanted = [{"a": a, "b": b} for a, b in rows]
    lines = "".join("\n" * blanks + json.dumps(row, ensure_ascii=False) + "\n" for row in wanted)
    found = list(numbered_rows(wrote(folder / "a.jsonl", lines)))
    assert found == [((blanks + 1) * place, row) for place, row in enumerate(wanted, start=1)]
    table, begins = io.StringIO(), list[int]()
    writer = csv.writer(table, quoting=csv.QUOTE_ALL)
    for row in [("a", "b"), *rows]:
        begins.append(table.getvalue().count("\n") + 1)
        writer.writerow(row)
    found = list(numbered_rows(wrote(folder / "a.csv", table.getvalue())))
    assert found == list(zip(begins[1:], wanted, strict=True))


def test_a_row_is_refused_in_one_line_whatever_its_fields_are_called() -> None:
    row = Row(Path("rows.jsonl"), 2, {"la\ng": 1, "x\x85\x1b[31m\ud800": 2, "größe": 3})
    with pytest.raises(UserError) as caught:
        row.need("lang")
    said = str(caught.value)
    assert len(said.splitlines()) == 1
    assert said.endswith("the row has la\\ng, x\\x85\\x1b[31m\\ud800, größe.")


def test_a_page_where_a_word_belongs_is_not_quoted_whole() -> None:
    told = str(Row(Path("a.jsonl"), 2, {}).error(f"field lang: unknown language {'x' * 5000!r}; known are de, en"))
    assert told.startswith("a.jsonl:2: field lang: unknown language 'xxx")
    assert told.endswith("; known are de, en")
    assert len(told) < 1300
