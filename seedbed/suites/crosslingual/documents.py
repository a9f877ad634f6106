"""The documents of a corpus: their rows, and how they are kept and searched by words."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import orjson

from seedbed.suites.crosslingual.scripts import language_mask
from seedbed.suites.kit.retrieval.collection import Collection, read_collection
from seedbed.suites.kit.retrieval.recipe import Recipe
from seedbed.suites.kit.rows import Row
from seedbed.suites.kit.tokenise import TOKENS_VERSION, tokenise

if TYPE_CHECKING:
    from seedbed.suites.crosslingual.leaks import Leaks

_VERSION = "documents, 1"
"""Of the form in which they are kept, and of the rules of Leaks."""


@dataclass(frozen=True, slots=True)
class Document:
    doc_id: str
    lang: str
    title: str
    text: str
    other_titles: tuple[str, ...] = ()
    """Its title in other languages, as an encyclopedia's language links give them: indexed, not shown."""
    built_from: frozenset[str] = field(default_factory=frozenset[str])
    """Questions whose answers this document was made from; it is kept out of their benchmark's index."""

    @property
    def block(self) -> str:
        """The document as a model reads it and a translator gets it."""
        return f"{self.title}\n{self.text}" if self.title else self.text

    @property
    def indexed(self) -> str:
        return "\n".join((self.title, *self.other_titles, self.text))


def searchable(documents: Iterable[Document], leaks: Leaks | None = None) -> Collection[Document]:
    """Documents that are at hand, without those that leak."""
    kept: list[Document] = []
    excluded: Counter[str] = Counter()
    for document in documents:
        reason = None if leaks is None else leaks.reason(document)
        if reason is None:
            kept.append(document)
        else:
            excluded[reason] += 1
    return Collection(kept, _indexed, tokenise, excluded)


def read_corpus(path: Path, leaks: Leaks | None = None) -> Collection[Document]:
    """The documents of a file without those that leak; ids must be unique, languages known."""

    def make(row: Row) -> list[Document] | str:
        document = _document(row)
        reason = None if leaks is None else leaks.reason(document)
        return [document] if reason is None else reason

    return read_collection(
        path,
        Recipe(
            shape="{doc_id, lang, text, title?}",
            make=make,
            text=_indexed,
            tokens=tokenise,
            dump=_dump,
            load=_load,
            version=[_VERSION, TOKENS_VERSION, leaks.version if leaks else None],
            unique=("doc_id", _id),
        ),
    )


def language_of(row: Row, *names: str) -> str:
    """The tag of a language whose script is known."""
    lang = row.text(*names)
    try:
        language_mask(lang)
    except ValueError as error:
        raise row.error(f"field {next(name for name in names if name in row.data)}: {error}") from None
    return lang


def _document(row: Row) -> Document:
    titles: Mapping[str, str] = row.inner("titles").data if row.data.get("titles") else {}
    return Document(
        doc_id=row.identity("doc_id"),
        lang=language_of(row, "lang"),
        title=str(row.data.get("title") or ""),
        text=row.text("text"),
        other_titles=tuple(sorted({str(title) for title in titles.values()})),
        built_from=frozenset(row.texts("built_from")),
    )


def _indexed(document: Document) -> str:
    return document.indexed


def _id(document: Document) -> str:
    return document.doc_id


def _dump(document: Document) -> bytes:
    own = document
    return orjson.dumps([own.doc_id, own.lang, own.title, own.text, own.other_titles, sorted(own.built_from)])


def _load(data: bytes) -> Document:
    doc_id, lang, title, text, other_titles, built_from = orjson.loads(data)
    return Document(doc_id, lang, title, text, tuple(other_titles), frozenset(built_from))
