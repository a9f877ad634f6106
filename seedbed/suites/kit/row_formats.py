"""How rows lie in files: CSV, TSV, JSON lines, JSON and Parquet, plain or gzipped; each row with the line it begins on.

What cannot be read is one sentence that names the file and the line, whatever is wrong with it.
"""

from __future__ import annotations

import csv
import gzip
import json
import re
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any, cast

from seedbed.errors import UserError

Numbered = tuple[int, Any]
"""The line something begins on, and what stands there."""

WRAPPERS = frozenset({"cases", "data", "dialogues", "examples", "items", "questions", "records", "rows", "samples"})
"""Keys under which a JSON object holds its rows."""

_LINE_NAMES = (".jsonl", ".ndjson")
_OTHER_NAMES = (
    *(".xlsx", ".xls", ".ods", ".docx", ".pdf", ".xml", ".html", ".yaml", ".yml", ".arrow", ".feather"),
    *(".avro", ".orc", ".zip", ".bz2", ".xz", ".zst", ".tar", ".pkl", ".pickle", ".npy", ".npz", ".h5", ".sqlite"),
)
"""Files that hold rows, but not in a way that is read here."""
_SKIPPED = re.compile(r"[ \t\r\n,]*")
_COLON = re.compile(r"\s*:\s*")
_ODD_CHARACTER = re.compile(r"\\u(?:[dD][89a-fA-F]|0000)")
_LARGEST_FIELD = 2**31 - 1


def file_rows(path: Path, key: str) -> Iterator[Numbered]:
    """The rows of a file by its name. `key` is the field that takes the key of a row in a JSON object of rows."""
    name = path.name.lower().removesuffix(".gz")
    if name.endswith(_OTHER_NAMES):
        raise UserError(f"{path}: is no file of rows that can be read; save it as csv, tsv, jsonl, json or parquet.")
    if name.endswith(".parquet"):
        return _parquet_rows(path)
    if name.endswith((".csv", ".tsv")):
        return _csv_rows(path, "\t" if name.endswith(".tsv") else ",")
    return _line_rows(path) if _holds_lines(path, name) else _document_rows(path, key)


def _opened(path: Path) -> IO[bytes]:
    try:
        return cast("IO[bytes]", gzip.open(path, "rb")) if path.suffix == ".gz" else path.open("rb")
    except FileNotFoundError:
        raise UserError(f"{path}: no such file.") from None
    except IsADirectoryError:
        raise UserError(f"{path}: is a folder; name the file in it.") from None
    except OSError as error:
        raise UserError(f"{path}: cannot be read ({error.strerror}).") from None


def _lines(path: Path) -> Iterator[tuple[int, str]]:
    """Only line feeds part lines: a JSON string may hold other characters that end lines elsewhere."""
    number = 0
    with _opened(path) as handle:
        try:
            for number, line in enumerate(handle, start=1):
                text = line.decode("utf-8-sig" if number == 1 else "utf-8")
                if "\0" in text:
                    raise UserError(f"{path}:{number}: holds a NUL byte, which no text has; save it as UTF-8.")
                yield number, text
        except UnicodeDecodeError as error:
            what = f"byte {error.start + 1} of the line is 0x{error.object[error.start]:02x}"
            raise UserError(f"{path}:{number}: not UTF-8 text ({what}); save it as UTF-8.") from None
        except (gzip.BadGzipFile, EOFError, zlib.error) as error:
            raise UserError(f"{path}:{number + 1}: not a whole gzip file ({error}); make it anew.") from None


def _holds_lines(path: Path, name: str) -> bool:
    """Whether each line is a row of its own: files named .json often hold lines, and .jsonl one array or object."""
    lines = (text for _, text in _lines(path) if text.strip())
    first = next(lines, "")
    if first.lstrip().startswith("["):
        return False
    if name.endswith(_LINE_NAMES):
        return not (first.strip() == "{" or (next(lines, None) is None and _wraps_rows(first)))
    try:
        return isinstance(json.loads(first), dict) and next(lines, None) is not None
    except (ValueError, RecursionError):
        return False


def _wraps_rows(text: str) -> bool:
    try:
        whole: Any = json.loads(text)
    except (ValueError, RecursionError):
        return False
    members = cast("dict[str, Any]", whole).items() if isinstance(whole, dict) else ()
    lists = (cast("list[Any]", value) for name, value in members if name in WRAPPERS and isinstance(value, list))
    return any(own and all(isinstance(item, dict) for item in own) for own in lists)


def _line_rows(path: Path) -> Iterator[Numbered]:
    for number, text in _lines(path):
        if text.strip():
            yield number, _parsed(path, text, number)


def _document_rows(path: Path, key: str) -> Iterator[Numbered]:
    """An array of rows, an object with one under a key of WRAPPERS, an object of rows by key, or a single row."""
    text = "".join(text for _, text in _lines(path))
    if not text.strip():
        return
    whole = _parsed(path, text)
    start = len(text) - len(text.lstrip())
    if isinstance(whole, list):
        yield from _elements(text, start)
        return
    members = list(_members(text, start)) if isinstance(whole, dict) else []
    wrapped = next((at for name, at, value in members if name in WRAPPERS and isinstance(value, list)), None)
    if wrapped is not None:
        yield from _elements(text, wrapped)
    elif members and all(isinstance(value, dict) for _, _, value in members):
        for name, at, value in members:
            yield text.count("\n", 0, at) + 1, {key: name, **value}
    else:
        yield text.count("\n", 0, start) + 1, whole


def _elements(text: str, at: int) -> Iterator[Numbered]:
    """The elements of the array that begins there, in a text known to be JSON."""
    decoder, counted = json.JSONDecoder(), 0
    line, at = 1, at + 1
    while text[at := _after(_SKIPPED, text, at)] != "]":
        line, counted = line + text.count("\n", counted, at), at
        value, at = decoder.raw_decode(text, at)
        yield line, value


def _members(text: str, at: int) -> Iterator[tuple[str, int, Any]]:
    """Key, place of the value and value of each member of the object that begins there."""
    decoder, at = json.JSONDecoder(), at + 1
    while text[at := _after(_SKIPPED, text, at)] != "}":
        name, at = decoder.raw_decode(text, at)
        start = _after(_COLON, text, at)
        value, at = decoder.raw_decode(text, start)
        yield name, start, value


def _after(pattern: re.Pattern[str], text: str, at: int) -> int:
    match = pattern.match(text, at)
    return match.end() if match else at


def _parsed(path: Path, text: str, line: int = 1) -> Any:
    """The value of a JSON text that begins on that line."""
    remedy = "mend or remove the line"
    try:
        # What is missing at the end is missing on the last line that says something.
        return _strict(json.loads(text.rstrip(), parse_constant=_no_constant, object_pairs_hook=_each_key_once), text)
    except json.JSONDecodeError as error:
        raise UserError(f"{path}:{line + error.lineno - 1}: not valid JSON ({error.msg}); {remedy}.") from None
    except RecursionError:
        raise UserError(f"{path}:{line}: JSON nested too deep to be read; {remedy}.") from None
    except UnicodeEncodeError as error:
        half, place = error.object[error.start], line + _lines_before_odd(text)
        raise UserError(f"{path}:{place}: holds half a character ({half!r}); {remedy}.") from None
    except ValueError as error:
        said, place = str(error).partition(";")[0], line + _lines_before_odd(text)
        raise UserError(f"{path}:{place}: not valid JSON ({said}); {remedy}.") from None


def _strict(value: Any, text: str) -> Any:
    """The value, if it can be written as text again and kept in any database."""
    if _ODD_CHARACTER.search(text):
        json.dumps(value, ensure_ascii=False).encode()
        _refuse_nul(value)
    return value


def _lines_before_odd(text: str) -> int:
    """Of an array, how many lines lie before the first element that is refused; 0 of anything else."""
    at = len(text) - len(text.lstrip()) + 1
    if text[at - 1 : at] != "[":
        return 0
    decoder = json.JSONDecoder(parse_constant=_no_constant, object_pairs_hook=_each_key_once)
    try:
        while True:
            at = _after(_SKIPPED, text, at)
            value, end = decoder.raw_decode(text, at)
            _strict(value, text[at:end])
            at = end
    except ValueError:
        return text.count("\n", 0, at)


def _no_constant(name: str) -> Any:
    raise ValueError(f"{name} is no JSON value, null is")


def _each_key_once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"the key {twice[:60]!r} stands twice in an object")
    return found


def _refuse_nul(value: Any) -> None:
    """Databases take no text with that character in it."""
    match value:
        case str() if "\0" in value:
            raise ValueError("holds the character \\u0000, which no text has")
        case list():
            for item in cast("list[Any]", value):
                _refuse_nul(item)
        case dict():
            for name, item in cast("dict[str, Any]", value).items():
                _refuse_nul(name)
                _refuse_nul(item)
        case _:
            pass


def _csv_rows(path: Path, delimiter: str) -> Iterator[Numbered]:
    """Rows under a header, named by the line they begin on: texts may hold line breaks. An empty field is None."""
    csv.field_size_limit(_LARGEST_FIELD)  # its own limit, 128 kB, is less than a document
    reader = csv.reader((text for _, text in _lines(path)), delimiter=delimiter, strict=True)
    header: list[str] = []
    while True:
        line = reader.line_num + 1
        try:
            cells = next(reader, None)
        except csv.Error as error:
            raise UserError(f"{path}:{line}: not valid CSV ({error}); mend the quotes of the row.") from None
        if cells is None:
            return
        if not any(cells):
            continue
        if not header:
            header = _checked_header(path, line, cells)
        elif len(cells) > len(header):
            raise UserError(
                f"{path}:{line}: has {len(cells)} fields, but the header names {len(header)}; quote texts that hold "
                f"{delimiter!r}."
            )
        else:
            given = [*cells, *[""] * (len(header) - len(cells))]
            yield line, {name: cell or None for name, cell in zip(header, given, strict=True)}


def _checked_header(path: Path, line: int | None, names: list[str]) -> list[str]:
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        place = str(path) if line is None else f"{path}:{line}"
        raise UserError(f"{place}: the column {twice!r} stands twice in the header; rename one.")
    return names


def _parquet_rows(path: Path) -> Iterator[Numbered]:
    """Counted from 1: such a file has no lines."""
    _opened(path).close()
    import pyarrow as arrow
    import pyarrow.parquet as parquet

    number = 0
    try:
        file = parquet.ParquetFile(path)
        _checked_header(path, None, list(file.schema_arrow.names))
        for batch in file.iter_batches():
            for row in _batch_rows(path, number, batch):
                number += 1
                yield number, row
    except (arrow.ArrowException, OSError) as error:
        said = str(error).splitlines()[0].rstrip(".")
        raise UserError(f"{path}: cannot be read as Parquet ({said}); make it anew.") from None


def _batch_rows(path: Path, before: int, batch: Any) -> list[dict[str, Any]]:
    try:
        return batch.to_pylist()
    except UnicodeDecodeError:
        return [_only_row(path, before + at + 1, batch.slice(at, 1)) for at in range(batch.num_rows)]


def _only_row(path: Path, number: int, batch: Any) -> dict[str, Any]:
    try:
        return batch.to_pylist()[0]
    except UnicodeDecodeError:
        raise UserError(f"{path}:{number}: a text of this row is not UTF-8; make the file anew.") from None
