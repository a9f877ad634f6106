"""The LaTeX files of a paper, read for what they say of numbers: every macro of numbers.tex with file and line."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from seedbed.errors import UserError

_COMMENT = re.compile(r"(?<!\\)(?:\\\\)*%[^\n]*")
_VERBATIM = re.compile(
    r"\\begin\{(verbatim\*?|lstlisting|minted|comment)\}.*?\\end\{\1\}|\\verb\*?([^\sA-Za-z*]).*?\2", re.S
)
_READ = re.compile(r"\\(?:input|include|subfile)(?:\s*\{([^{}]+)\}|\s+([^\s\\{}]+))")
_MACRO = re.compile(r"\\(sb|sbsays)\s*\{([^{}]*)\}")
_DEFINED = re.compile(r"\\sb(row|name|number)\{([^{}]*)\}")
_DOLLAR = re.compile(r"(?<!\\)\$\$?")
_LARGEST = 20_000_000


@dataclass(frozen=True, slots=True)
class Mention:
    """A macro in a paper: \\sb{address}, or \\sbsays{address}{text}."""

    address: str
    text: str | None
    start: int
    end: int


@dataclass(frozen=True)
class TexFile:
    path: Path
    name: str
    """As a reader knows it: below the folder of the paper, or the whole path."""
    raw: str
    reads: list[str] = field(default_factory=list[str])

    @cached_property
    def text(self) -> str:
        """Without comments and without what is shown as it stands; every character in its old place."""
        return _COMMENT.sub(_blank, _VERBATIM.sub(_blank, self.raw))

    @cached_property
    def _starts(self) -> list[int]:
        return [0, *(found.end() for found in re.finditer("\n", self.raw))]

    def line(self, place: int) -> int:
        return bisect_right(self._starts, place)

    @cached_property
    def is_numbers(self) -> bool:
        """Whether it defines numbers, as numbers.tex does."""
        return r"\sbrow{" in self.text and r"\sbnumber{" in self.text

    def in_formula(self, place: int) -> bool:
        """Whether a dollar sign of the same paragraph is open there."""
        return len(_DOLLAR.findall(self.text[:place].rpartition("\n\n")[2])) % 2 == 1

    def mentions(self) -> Iterator[Mention]:
        for found in _MACRO.finditer(self.text):
            if found[1] == "sb":
                yield Mention(_address(found[2]), None, found.start(), found.end())
                continue
            end = _closed(self.text, found.end())
            if end is None:
                raise UserError(f"{self.name}:{self.line(found.start())}: \\sbsays needs a text in braces as well.")
            opened = self.text.index("{", found.end()) + 1
            yield Mention(_address(found[2]), self.text[opened : end - 1], found.start(), end)

    def definitions(self) -> Iterator[tuple[int, str, str]]:
        """Of a file that defines numbers: line, address (with the row's full name) and text of each."""
        row = ""
        for found in _DEFINED.finditer(self.text):
            if found[1] == "row":
                row = found[2]
            elif found[1] == "number":
                end = _closed(self.text, found.end())
                opened = found.end() + 1
                yield self.line(found.start()), f"{row}/{found[2]}", self.text[opened : end - 1] if end else ""


def read_paper(path: Path) -> list[TexFile]:
    """A paper and the files it reads, in their order; one that is not there stays in `reads` of who names it."""
    files: dict[Path, TexFile] = {}
    _follow(path, path.resolve().parent, files)
    return list(files.values())


def _follow(path: Path, folder: Path, files: dict[Path, TexFile]) -> None:
    place = path.resolve()
    if place in files:
        return
    name = place.relative_to(folder).as_posix() if place.is_relative_to(folder) else str(path)
    files[place] = own = TexFile(place, name, _read(place, name))
    if own.is_numbers:
        return
    for found in _READ.finditer(own.text):
        told = (found[1] or found[2]).strip()
        named = folder / told
        target = next((p for p in (named, named.with_name(f"{named.name}.tex")) if p.is_file()), None)
        if target is None:
            own.reads.append(told)
        elif target.suffix == ".tex":
            _follow(target, folder, files)


def _read(path: Path, name: str) -> str:
    try:
        if path.stat().st_size > _LARGEST:
            raise UserError(f"{name}: larger than {_LARGEST // 1_000_000} MB; give the LaTeX file of a paper.")
        return path.read_bytes().decode("utf-8").replace("\r\n", "\n")
    except FileNotFoundError:
        raise UserError(f"{path}: no such file; give the LaTeX file of the paper.") from None
    except IsADirectoryError:
        raise UserError(f"{path}: is a folder; give the LaTeX file of the paper.") from None
    except UnicodeDecodeError as error:
        line = error.object[: error.start].count(b"\n") + 1
        raise UserError(f"{name}:{line}: not UTF-8 text; save the file as UTF-8.") from None


def _address(text: str) -> str:
    return "".join(text.split())


def _blank(found: re.Match[str]) -> str:
    return re.sub(r"[^\n]", " ", found[0])


def _closed(text: str, place: int) -> int | None:
    """Where the braces end that open at a place, spaces before it apart; None where none opens or closes."""
    depth = 0
    while place < len(text):
        match text[place]:
            case "\\":
                place += 1
            case "{":
                depth += 1
            case "}":
                depth -= 1
                if depth == 0:
                    return place + 1
            case other:
                if depth == 0 and not other.isspace():
                    return None
        place += 1
    return None
