"""What a checker is, and how texts are cut for it."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

Arguments = Mapping[str, Any]

_WORD = re.compile(r"[^\W_]+(?:['’-][^\W_]+)*")
_SENTENCE = re.compile(r"[^.!?。！？]*[.!?。！？]+[\"'”’)\]]*|[^.!?。！？]+$")
_EMOJI = re.compile(
    "[\U0001f000-\U0001faff\u2600-\u27bf\u2b00-\u2bff\u2190-\u21ff\u2300-\u23ff\ufe0f\u200d\U0001f1e6-\U0001f1ff]+"
)


@dataclass(frozen=True, slots=True)
class Checker:
    kind: str
    """The benchmark's name for it."""
    says: str
    """The constraint in words, with its arguments in braces."""
    met: Callable[[str, Arguments, str], bool]
    """Response, arguments and prompt -> whether the response meets it."""

    def told(self, arguments: Arguments) -> str:
        """The constraint with its arguments filled in."""
        shown = {name: int(value) if isinstance(value, float) else value for name, value in arguments.items()}
        return self.says.format_map(_Lenient(shown))


class _Lenient(dict[str, Any]):
    def __missing__(self, key: str) -> str:
        return f"<{key}>"


def number(arguments: Arguments, name: str) -> int:
    """A count; the files give them as floats."""
    return int(arguments[name])


def words(text: str) -> list[str]:
    """Words without punctuation; a contraction or a hyphenated word is one."""
    return _WORD.findall(text)


def sentences(text: str) -> list[str]:
    """Sentences with their end marks; an unfinished last one counts."""
    flat = " ".join(text.split())
    return [cut for match in _SENTENCE.finditer(flat) if words(cut := match.group().strip())]


def lines(text: str) -> list[str]:
    """Lines that hold something, with their indentation."""
    return [line.rstrip() for line in text.splitlines() if line.strip()]


def paragraphs(text: str) -> list[str]:
    return [part.strip() for part in re.split(r"\n+", text) if part.strip()]


def ends_with_emoji(text: str) -> bool:
    return bool(re.search(_EMOJI.pattern + r"\s*$", text))


def split_at_emoji(text: str) -> list[str]:
    """Sentences, each with the emoji that follow its end mark."""
    flat = " ".join(text.split())
    pattern = re.compile(rf"[^.!?]+[.!?]*\s*(?:{_EMOJI.pattern})?")
    return [cut for match in pattern.finditer(flat) if (cut := match.group().strip())]
