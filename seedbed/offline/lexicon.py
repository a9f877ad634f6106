"""What the offline model knows of languages and the world, from files that ship with the package.

Sentences (`parallel.jsonl`) and names (`names.jsonl`) come with the sample data of the suites, which register their
folders; common words and units (`vocabulary.jsonl`) and general knowledge (`knowledge.jsonl`) lie beside this module.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, cast

from seedbed.lm.types import JsonDict
from seedbed.offline import text as texts

Kind = Literal["name", "word", "unit"]
_HERE = Path(__file__).parent
_CACHED_TEXTS = 20_000
_ARABIC_PARTICLES = ("و", "ب", "ل", "ف")


@dataclass(frozen=True, slots=True)
class Mention:
    """A place in a text that names a concept. Concepts are the same in all languages."""

    start: int
    end: int
    concept: int
    kind: Kind


@dataclass(frozen=True, slots=True)
class Knowledge:
    """A fact that can be recalled without a document."""

    keywords: Mapping[str, tuple[str, ...]]
    """By language, words that must all occur in the question."""
    answer: Mapping[str, str]


class Lexicon:
    """Indexes over the files, built once. Looking up is a few dictionary accesses a word."""

    def __init__(self, sentences: Iterable[JsonDict], names: Iterable[JsonDict], knowledge: Iterable[JsonDict]) -> None:
        self.knowledge = tuple(
            Knowledge({lang: tuple(words) for lang, words in row["keywords"].items()}, row["answer"])
            for row in knowledge
        )
        self._sentences: dict[str, JsonDict] = {}
        self._kinds: list[Kind] = []
        self._forms: list[dict[str, str]] = []
        self._phrases: dict[str, int] = {}
        self._longest_phrase = 1
        self._unspaced: dict[str, list[tuple[str, int]]] = {}
        self._units: dict[str, int] = {}
        self._seen: dict[str, tuple[Mention, ...]] = {}
        for row in sentences:
            for name, value in row.items():
                if isinstance(value, str) and name != "topic":
                    self._sentences.setdefault(texts.sentence_key(value), row)
        for row in names:
            self._add(row, "name")
        for row in _rows(_HERE / "vocabulary.jsonl"):
            self._add(row, cast(Kind, row.pop("kind")))
        for entries in self._unspaced.values():
            entries.sort(key=lambda entry: len(entry[0]), reverse=True)

    @classmethod
    def load(cls, *folders: Path) -> Lexicon:
        """Reads `parallel.jsonl`, `names.jsonl` and `knowledge.jsonl` of each folder that has them."""
        return cls(*([row for folder in folders for row in _rows(folder / name)] for name in _FILES))

    def translate(self, text: str, target: str) -> str | None:
        """By the memory of sentences first, then as a name or phrase; None when neither knows it."""
        row = self._sentences.get(texts.sentence_key(text))
        if row is not None and isinstance(row.get(target), str):
            return str(row[target])
        concept = self._phrases.get(texts.phrase_key(text))
        return self._forms[concept].get(target) if concept is not None else None

    def translate_unit(self, unit: str, target: str) -> str | None:
        concept = self._units.get(unit.casefold())
        return self._forms[concept].get(target) if concept is not None else None

    def unit_at(self, text: str) -> str | None:
        """The longest unit that the text begins with."""
        for length in range(min(len(text), 22), 0, -1):
            begins = text[:length]
            if begins.casefold() in self._units and not _runs_on(text, length):
                return begins
        return None

    def same_unit(self, unit: str, other: str) -> bool:
        concept = self._units.get(unit.casefold())
        return concept is not None and concept == self._units.get(other.casefold())

    def mentions(self, text: str) -> tuple[Mention, ...]:
        """Names and common words in the text, the longest at each place, in order."""
        known = self._seen.get(text)
        if known is None:
            if len(self._seen) >= _CACHED_TEXTS:
                self._seen.clear()
            found = [*self._spaced_mentions(text), *self._unspaced_mentions(text)]
            known = self._seen[text] = tuple(sorted(found, key=lambda mention: mention.start))
        return known

    def _add(self, row: JsonDict, kind: Kind) -> None:
        forms = {lang: [value] if isinstance(value, str) else list(value) for lang, value in row.items()}
        english = texts.phrase_key(forms["en"][0]) if forms.get("en") else ""
        concept = self._phrases.get(english, len(self._forms)) if kind == "name" else len(self._forms)
        if concept == len(self._forms):
            self._kinds.append(kind)
            self._forms.append({lang: values[0] for lang, values in forms.items() if values})
        for form in (form for values in forms.values() for form in values):
            if kind == "unit":
                self._units.setdefault(form.casefold(), concept)
            else:
                self._index(form, concept)

    def _index(self, form: str, concept: int) -> None:
        key = texts.phrase_key(form)
        if not key:
            return
        self._phrases.setdefault(key, concept)
        if any(texts.is_wide(char) for char in form):
            if len(form) > 1:  # single characters are parts of too many words
                self._unspaced.setdefault(form[0].casefold(), []).append((form.casefold(), concept))
        else:
            self._longest_phrase = max(self._longest_phrase, key.count(" ") + 1)

    def _spaced_mentions(self, text: str) -> Iterator[Mention]:
        found = [match for match in texts.words(text) if not texts.is_wide(match.group())]
        stems = [texts.stem(match.group()) for match in found]
        at = 0
        while at < len(found):
            for end in range(min(len(found), at + self._longest_phrase), at, -1):
                concept = self._concept(stems[at:end])
                if concept is not None:
                    yield Mention(found[at].start(), found[end - 1].end(), concept, self._kinds[concept])
                    at = end
                    break
            else:
                at += 1

    def _concept(self, stems: list[str]) -> int | None:
        key = " ".join(stems)
        # Arabic writes "and", "in" and "to" as a letter before the word.
        return self._phrases.get(key, self._phrases.get(key[1:]) if key.startswith(_ARABIC_PARTICLES) else None)

    def _unspaced_mentions(self, text: str) -> Iterator[Mention]:
        folded = text.casefold()
        if len(folded) != len(text):  # a few letters grow when folded, which would shift the places
            folded = text
        at = 0
        while at < len(folded):
            for form, concept in self._unspaced.get(folded[at], ()):
                if folded.startswith(form, at):
                    yield Mention(at, at + len(form), concept, self._kinds[concept])
                    at += len(form) - 1
                    break
            at += 1


_FILES = ("parallel.jsonl", "names.jsonl", "knowledge.jsonl")


def _runs_on(text: str, length: int) -> bool:
    """Whether the word goes on after `length` letters: "m" is no unit in "men"."""
    return text[length - 1].isalpha() and not texts.is_wide(text[length - 1]) and text[length : length + 1].isalpha()


def _rows(path: Path) -> list[JsonDict]:
    if not path.is_file():
        return []
    with path.open(encoding="utf-8") as lines:
        return [json.loads(line) for line in lines if line.strip()]
