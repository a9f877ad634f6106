"""Citations of laws: read from running text, and checked against an index of laws."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

from seedbed.suites.contract_risk.numerals import NUMERAL_CHARS, to_int

LawVerdict = Literal["valid", "unknown_law", "no_such_article", "incomplete"]


class LawRef(NamedTuple):
    """A citation; without an article it is incomplete, neither right nor wrong."""

    law: str
    article: int | None


@dataclass(frozen=True, slots=True)
class LawEntry:
    max_article: int
    aliases: Sequence[str] = ()


@dataclass(frozen=True)
class LawIndex:
    """Which laws exist and how many articles each has."""

    laws: Mapping[str, LawEntry]
    _by_name: dict[str, str] = field(init=False, repr=False, compare=False, default_factory=dict[str, str])

    def __post_init__(self) -> None:
        for law, entry in self.laws.items():
            for name in (law, *entry.aliases):
                self._by_name[law_name(name)] = law

    def find(self, name: str) -> str | None:
        """The law's name in the index, whatever title or alias it is cited by."""
        return self._by_name.get(law_name(name))

    def check(self, ref: LawRef) -> LawVerdict:
        """A law without an article, or an article without a law, is incomplete; the rest is right or wrong."""
        if not ref.law or ref.article is None:
            return "incomplete"
        law = self.find(ref.law)
        if law is None:
            return "unknown_law"
        return "valid" if 1 <= ref.article <= self.laws[law].max_article else "no_such_article"


_NUMERAL = rf"(?:\d+|[{NUMERAL_CHARS}]+)"
_KINDS = "法典|法|条例|规定|解释|办法|规则|细则"
# A bare name must be followed by an article: "依法" and "方法" are no laws.
_TOKEN = re.compile(
    # A title may hold another: 《…〈…〉…》, or with the same marks twice.
    rf"《(?P<title>(?:[^《》〈〉]|〈[^〈〉]*〉|《[^《》]*》)+)》|〈(?P<single>[^〈〉]+)〉"
    rf"|(?P<bare>[\u4e00-\u9fff]{{1,40}}?(?:{_KINDS}))(?=\s*(?:[(（][^)）]*[)）])?\s*第\s*{_NUMERAL}\s*条)"
    rf"|第\s*(?P<articles>{_NUMERAL}(?:\s*[、,和至~-]\s*{_NUMERAL})*)\s*条"
)
_ALONE = re.compile(r"[\u4e00-\u9fff]{1,30}法典|[\u4e00-\u9fff]{2,30}(?:法|条例)|[民刑]法|宪法")
_LEAD = re.compile(r"^(?:以及|根据|依据|依照|按照|参照|违反|适用|另见|参见|见|和|及|与|或|且|由|以)+")
_SPLIT = re.compile(r"[、,和至~-]")
_NOT_A_NAME = re.compile(r"[《》〈〉【】\[\]「」\"“”'\s]")


def law_name(name: str) -> str:
    """The name by which laws are compared: no brackets, no 中华人民共和国, no year of a version."""
    plain = _NOT_A_NAME.sub("", unicodedata.normalize("NFKC", name))
    plain = re.sub(r"\((?:19|20)\d\d[^)]*\)$", "", plain)
    return plain.removeprefix("中华人民共和国")


def read_laws(text: str) -> list[LawRef]:
    """Every citation of a text, in order, each once. An article without a law belongs to the law before it."""
    found: list[LawRef] = []
    law, cited = "", True
    plain = unicodedata.normalize("NFKC", text)
    for match in _TOKEN.finditer(plain):
        if articles := match["articles"]:
            found.extend(LawRef(law, to_int(part.strip())) for part in _SPLIT.split(articles))
            cited = True
            continue
        if not cited:
            found.append(LawRef(law, None))
        law, cited = law_name(match["title"] or match["single"] or _LEAD.sub("", match["bare"])), False
    if not cited:
        found.append(LawRef(law, None))
    found.extend(_bare_names(plain))
    return list(dict.fromkeys(found))


def _bare_names(text: str) -> list[LawRef]:
    """Laws that are named alone, without title marks and without an article."""
    parts = (part.strip(" 。.") for part in re.split(r"[;；,，、\n]", text))
    return [LawRef(law_name(_LEAD.sub("", part)), None) for part in parts if _ALONE.fullmatch(_LEAD.sub("", part))]
