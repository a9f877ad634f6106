"""Texts as rows: a folder with a file a row, or a file with a line a row."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from seedbed.errors import UserError
from seedbed.suites.kit.rows import Row

_ENDINGS = (".txt", ".md")


def is_texts(path: Path) -> bool:
    return path.is_dir() or path.suffix.lower() in _ENDINGS


def text_rows(path: Path) -> Iterator[Row]:
    """Of a folder: `id`, `name`, `folder` (where a file lies below it) and `text` of every file, in the order of their
    names. Of a file: `text` of every line that says something."""
    if not path.is_dir():
        yield from _line_rows(path)
        return
    files = [file for file in sorted(path.rglob("*")) if file.suffix.lower() in _ENDINGS and file.is_file()]
    if not files:
        raise UserError(
            f"{path}: holds no file that ends in {' or '.join(_ENDINGS)}; name a folder of texts, or a file."
        )
    for file in files:
        inside = file.relative_to(path)
        folder = inside.parent.as_posix()
        fields = {"id": inside.as_posix(), "name": file.stem, "folder": "" if folder == "." else folder}
        yield Row(file, 1, {**fields, "text": _text(file).strip()})


def _line_rows(path: Path) -> Iterator[Row]:
    number = 0
    for line, text in enumerate(_text(path).splitlines(), start=1):
        if text.strip():
            number += 1
            yield Row(path, line, {"text": text.strip()})
    if not number:
        raise UserError(f"{path}: holds no line; each is a case.")


def _text(path: Path) -> str:
    try:
        data = path.read_bytes()
    except OSError as error:
        raise UserError(f"{path}: cannot be read ({error.strerror}).") from None
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise UserError(f"{path}:{line}: not UTF-8 text (0x{data[error.start]:02x}); save it as UTF-8.") from None
    if "\0" in text:
        line = text.count("\n", 0, text.index("\0")) + 1
        raise UserError(f"{path}:{line}: holds a NUL byte, which no text has; save it as UTF-8.")
    return text
