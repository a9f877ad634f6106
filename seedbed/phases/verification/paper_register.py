"""Sentences of a paper that are registered in a small YAML file, where the paper itself is to hold no macro.

claims:
  - {text: "multi reaches an F1 of 0.612", is: tiny/multi/f1}
  - {text: "significantly better than direct (p = 0.012)", is: tiny/multi/f1/verdict}
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from seedbed.errors import UserError
from seedbed.phases.verification.paper_claims import CLAIM_WORDS, NUMBER
from seedbed.phases.verification.paper_source import TexFile
from seedbed.storage.yamlfile import YamlFile, read_yaml

_SHAPE = "claims of a paper are a YAML mapping with 'claims:', a list of {text: ..., is: ADDRESS}"
_LOOSE = re.compile(rf"(?P<number>{NUMBER})|(?P<claim>\b{CLAIM_WORDS}\b)", re.I)
_WORDS = r"[\w'-]+(?:\s+[\w'-]+){0,2}?"


@dataclass(frozen=True, slots=True)
class Claim:
    """A sentence, or a part of one, and what its numbers and words are about."""

    text: str
    addresses: Sequence[str]
    """One, or one a number."""
    line: int
    """In the YAML file."""

    def found_in(self, file: TexFile) -> Iterator[tuple[int, int]]:
        """Where a file says this, whatever numbers and claims it says it with."""
        for found in self._pattern.finditer(file.text):
            yield found.start(), found.end()

    @property
    def _pattern(self) -> re.Pattern[str]:
        parts: list[str] = []
        at = 0
        for loose in _LOOSE.finditer(self.text):
            parts += [_fixed(self.text[at : loose.start()]), rf"(?:{NUMBER})" if loose["number"] else _WORDS]
            at = loose.end()
        return re.compile("".join([*parts, _fixed(self.text[at:])]), re.I)


def read_claims(path: Path) -> list[Claim]:
    source = read_yaml(path, shape=_SHAPE)
    unknown = [name for name in source.data if name != "claims"]
    if unknown:
        raise source.error((unknown[0],), f"is not known; {_SHAPE}.")
    rows: Any = source.data.get("claims")
    if not isinstance(rows, list):
        raise UserError(f"{path}: {_SHAPE}.")
    return [_claim(source, place, row) for place, row in enumerate(cast("list[Any]", rows))]


def _claim(source: YamlFile, place: int, row: Any) -> Claim:
    at = ("claims", place)
    if not isinstance(row, Mapping) or set(cast("Mapping[str, Any]", row)) != {"text", "is"}:
        raise source.error(at, "a claim has the fields text and is, and no other.")
    text: Any = row["text"]
    told: Any = row["is"]
    addresses = cast("list[Any]", told) if isinstance(told, list) else [told]
    if not isinstance(text, str) or not text.strip():
        raise source.error((*at, "text"), "must be words of the paper, as they stand there.")
    if not addresses or not all(isinstance(address, str) for address in addresses):
        raise source.error((*at, "is"), "must be an address such as tiny/multi/f1, or a list with one a number.")
    if not _LOOSE.search(text):
        raise source.error((*at, "text"), "holds no number and no claim such as 'significantly better'.")
    return Claim(" ".join(text.split()), addresses, source.lines[at])


def _fixed(text: str) -> str:
    """Words as they stand, with any space or line break between them."""
    parts = [re.escape(word) for word in re.split(r"(\s+)", text) if word and not word.isspace()]
    lead, trail = (r"\s+" if text[:1].isspace() else ""), (r"\s+" if text[-1:].isspace() else "")
    return lead + r"[\s~]+".join(parts) + trail if parts else r"\s+" if text else ""
