"""Reads a review out of a model's text. What does not keep to the output contract is not parsed, and says why."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from seedbed.suites.contract_risk.lawrefs import LawRef, read_laws
from seedbed.suites.contract_risk.levels import LEVELS, Level, highest

SECTIONS = ("等级", "证据", "分析", "法条", "建议")


@dataclass(frozen=True, slots=True)
class Review:
    """What a reviewer said, over all its risk blocks."""

    parse_success: bool
    level: Level | None
    """The highest of all blocks; it may be known although the review as a whole is not parsed."""
    evidence: list[str] = field(default_factory=list[str])
    laws: list[LawRef] = field(default_factory=list[LawRef])
    has_suggestion: bool = False
    missing_sections: list[str] = field(default_factory=list[str])
    names: list[str] = field(default_factory=list[str])
    raw: str = ""


@dataclass(frozen=True, slots=True)
class _Block:
    name: str
    sections: dict[str, list[str]]
    """Values by section; a section written twice has two."""

    def text(self, section: str) -> str:
        return "\n".join(self.sections.get(section, ())).strip()

    @property
    def missing(self) -> list[str]:
        return [section for section in SECTIONS if section not in self.sections]


_THINK = re.compile(r"<think(?:ing)?>.*?(?:</think(?:ing)?>|\Z)", re.DOTALL | re.IGNORECASE)
_THINK_END = re.compile(r"\A.*</think(?:ing)?>", re.DOTALL | re.IGNORECASE)
_FENCE = re.compile(r"^[ \t]*(?:```|~~~)[^\n]*$", re.MULTILINE)
_BLOCK = re.compile(r"^[ \t]*#{1,6}[ \t]*风险[^：:\n]{0,6}[：:]?(.*)$", re.MULTILINE)
_SECTION = re.compile(
    rf"^[ \t]*(?:[-*•+]|\d{{1,2}}[.、)])?[ \t]*\**[ \t]*(?:风险)?({'|'.join(SECTIONS)})[ \t]*\**[ \t]*[：:][ \t]*",
    re.MULTILINE,
)
_LEVEL = re.compile(r"(?:风险)?(?:等级)?[为是]?([高中低])(?:等|度|级)?(?:风险)?")
_LEVEL_PARTS = re.compile(r"[，,。.；;、/／|｜\s和或及至~—-]+")
_REMARK = re.compile(r"[（(][^（）()]*[)）]")
_QUOTES = re.compile(r"「([^「」]*)(?:」|\Z)|『([^『』]*)(?:』|\Z)|“([^“”]*)(?:”|\Z)|\"([^\"]*)(?:\"|\Z)")
_BULLET = re.compile(r"^[ \t]*(?:[-*•+]|\d{1,2}[.、)])[ \t]*")
_NONE_WORDS = frozenset({"", "无", "none", "留空", "暂无", "n/a", "没有"})
_TEMPLATE = re.compile(
    r"[\[【<{](?:高/中/低|[^\]】>}]*(?:简述|摘录|内容|相关法条|修改建议|原文|名称|等级|理由))[\]】>}]"
)


def parse_review(text: str) -> Review:
    """Success means: in every block one level, no copied placeholder, and all five sections; values may be 无."""
    blocks = _blocks(_without_wrapping(text))
    known: list[Level] = [level for block in blocks if (level := _level(block)) is not None]
    missing = [section for section in SECTIONS if any(section in block.missing for block in blocks)]
    copied = any(_TEMPLATE.fullmatch(_plain(block.text(section))) for block in blocks for section in SECTIONS)
    return Review(
        parse_success=bool(blocks) and len(known) == len(blocks) and not missing and not copied,
        level=highest(known),
        evidence=list(dict.fromkeys(item for block in blocks for item in _evidence(block.text("证据")))),
        laws=list(dict.fromkeys(ref for block in blocks for ref in read_laws(block.text("法条")))),
        has_suggestion=any(_says_something(block.text("建议")) for block in blocks),
        missing_sections=missing if blocks else list(SECTIONS),
        names=[block.name for block in blocks if block.name],
        raw=text,
    )


def _without_wrapping(text: str) -> str:
    text = _THINK_END.sub("", _THINK.sub("", text))
    return _FENCE.sub("", text)


def _blocks(text: str) -> list[_Block]:
    """One a heading; a text without any heading but with sections is one block."""
    heads = list(_BLOCK.finditer(text))
    if not heads:
        sections = _sections(text)
        return [_Block("", sections)] if sections else []
    ends = [head.start() for head in heads[1:]] + [len(text)]
    return [_Block(_plain(head[1]), _sections(text[head.end() : end])) for head, end in zip(heads, ends, strict=True)]


def _sections(text: str) -> dict[str, list[str]]:
    marks = list(_SECTION.finditer(text))
    starts = [*(mark.start() for mark in marks), len(text)]
    found: dict[str, list[str]] = {}
    for mark, end in zip(marks, starts[1:], strict=True):
        found.setdefault(mark[1], []).append(text[mark.end() : end].strip())
    return found


def _level(block: _Block) -> Level | None:
    """None unless exactly one level is named, as a level and not in a sentence about one."""
    named: set[str] = set()
    for value in block.sections.get("等级", ()):
        line = next((line for line in value.splitlines() if line.strip()), "")
        parts = [part for part in _LEVEL_PARTS.split(_REMARK.sub("", _plain(line))) if part]
        if not parts or not _LEVEL.fullmatch(parts[0]):
            return None
        named |= {match[1] for part in parts if (match := _LEVEL.fullmatch(part))}
    return next((level for level in LEVELS if named == {level}), None)


def _evidence(value: str) -> list[str]:
    """What stands in quotes; a line without quotes is one excerpt. Placeholders and 无 are none."""
    items: list[str] = []
    for line in value.splitlines() or [""]:
        bare = _BULLET.sub("", line)
        items.extend(["".join(quote) for quote in _QUOTES.findall(bare)] or _unquoted(bare))
    return [item.strip() for item in items if _says_something(item)]


def _unquoted(line: str) -> Sequence[str]:
    plain = _plain(line)
    return () if _TEMPLATE.fullmatch(plain) else re.split(r"[；;]", plain)


def _plain(value: str) -> str:
    return value.replace("**", "").replace("`", "").strip(" \t*_\u3000")


def _says_something(value: str) -> bool:
    plain = _plain(value).strip(' \n。.，,；;「」"“”')
    return plain.lower() not in _NONE_WORDS and not _TEMPLATE.fullmatch(plain)
