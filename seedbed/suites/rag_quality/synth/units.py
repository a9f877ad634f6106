"""Documents, and the pieces that questions are asked about. The same document always gives the same pieces."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from seedbed.errors import UserError
from seedbed.lm.language import detect
from seedbed.storage.hashing import hash_file

SUFFIXES = (".txt", ".md")
LARGEST, SMALLEST = 600, 75
"""Weights between which the splitter looks for pieces that are enough in number."""

_PARAGRAPH = re.compile(r"\S(?:.*?\S)?(?=\s*\n\s*\n|\s*\Z)", re.DOTALL)
_SENTENCE_END = re.compile(r"[。！？]+[”」』）]*\s*|[.!?؟…]+[\"'”’)]*(?:\s+|\Z)|\n+")
_WIDE = re.compile(r"[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\u0e00-\u0e7f]")
_HEADING_WEIGHT = 40


@dataclass(frozen=True, slots=True)
class Document:
    document_id: str
    text: str
    sha256: str
    language: str


@dataclass(frozen=True, slots=True)
class Unit:
    """A piece of a document: `text` is exactly the document's text from `start` to `end`."""

    unit_id: str
    document_id: str
    start: int
    end: int
    text: str
    language: str

    def to_json(self) -> dict[str, object]:
        return {
            "unit_id": self.unit_id,
            "document_id": self.document_id,
            "span": [self.start, self.end],
            "text": self.text,
        }


def read_documents(paths: Sequence[Path]) -> list[Document]:
    """Text files, and those in folders, in the order given; two of one name are told apart by their folder."""
    files = [file for path in paths for file in _files(path)]
    names = [file.name for file in files]
    documents: list[Document] = []
    for file in files:
        try:
            text = file.read_text(encoding="utf-8-sig").replace("\r\n", "\n")
        except UnicodeDecodeError as error:
            raise UserError(f"{file}: not UTF-8 text (byte {error.start}); save it as UTF-8.") from None
        if not text.strip():
            raise UserError(f"{file}: is empty; give a document with text.")
        name = file.name if names.count(file.name) == 1 else f"{file.parent.name}/{file.name}"
        documents.append(Document(name, text, hash_file(file), detect(text)))
    if len({document.sha256 for document in documents}) < len(documents):
        raise UserError("the same document is given twice; name each once.")
    return documents


def split(documents: Sequence[Document], *, wanted: int) -> list[Unit]:
    """Pieces of at most a certain weight. The weight is halved until there are `wanted` of them, or no smaller piece
    could carry a question. Equal texts are one unit."""
    weight = LARGEST
    while True:
        units = {unit.unit_id: unit for document in documents for unit in _split(document, weight)}
        if len(units) >= wanted or weight // 2 < SMALLEST:
            return list(units.values())
        weight //= 2


def _files(path: Path) -> list[Path]:
    if path.is_dir():
        found = sorted(file for file in path.rglob("*") if file.suffix in SUFFIXES)
        if not found:
            raise UserError(f"{path}: holds no {' or '.join(SUFFIXES)} file; name the documents themselves.")
        return found
    if not path.exists():
        raise UserError(f"{path}: no such document.")
    return [path]


def _split(document: Document, weight: int) -> Iterator[Unit]:
    pieces = [piece for paragraph in _paragraphs(document.text) for piece in _pieces(document.text, paragraph, weight)]
    for start, end in pieces:
        text = document.text[start:end]
        unit_id = hashlib.sha256(text.encode("utf-8")).hexdigest()[:16]
        yield Unit(unit_id, document.document_id, start, end, text, detect(text))


def _paragraphs(text: str) -> Iterator[tuple[int, int]]:
    """Places of the paragraphs; what is too short to be asked about (a heading) goes with the one after it."""
    start: int | None = None
    end = 0
    for match in _PARAGRAPH.finditer(text):
        start, end = (match.start() if start is None else start), match.end()
        if _weight(text[start:end]) >= _HEADING_WEIGHT:
            yield start, end
            start = None
    if start is not None:
        yield start, end


def _pieces(text: str, paragraph: tuple[int, int], weight: int) -> Iterator[tuple[int, int]]:
    """The paragraph cut at sentence ends into pieces up to a weight; a single sentence is never cut."""
    start, stop = paragraph
    ends = [start + match.end() for match in _SENTENCE_END.finditer(text[start:stop])] or [stop]
    if ends[-1] != stop:
        ends.append(stop)
    last = start
    for end in ends:
        if last > start and _weight(text[start:end]) > weight:
            yield _trimmed(text, start, last)
            start = last
        last = end
    yield _trimmed(text, start, stop)


def _trimmed(text: str, start: int, end: int) -> tuple[int, int]:
    piece = text[start:end]
    return start + len(piece) - len(piece.lstrip()), end - (len(piece) - len(piece.rstrip()))


def _weight(text: str) -> int:
    """Letters, those of dense scripts counted three times."""
    return len(text) + 2 * len(_WIDE.findall(text))
