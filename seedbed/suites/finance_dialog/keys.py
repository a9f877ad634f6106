"""What a turn had to remember: keys of the gold, the texts they stand for, and where a recall holds them."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from seedbed.suites.finance_dialog.lexicon import Lexicon

SOURCES = ("short_term", "long_term", "profile")

_FIELD = re.compile(r"profile_gt\.(risk_level_gt|horizon_gt|liquidity_need_gt)")
_ITEM = re.compile(r"profile_gt\.(constraints_gt|preferences_gt)\[(\d+)\]")
_HISTORY = re.compile(r"history_turn_index:(\d+)")


@dataclass(frozen=True, slots=True)
class ResolvedKey:
    """`resolver` says how the text was found, or why there is none."""

    key: str
    resolvable: bool
    target_text: str | None
    resolver: str

    def to_json(self) -> dict[str, Any]:
        return asdict(self)


@dataclass(frozen=True, slots=True)
class Place:
    """Where in a dialogue a key is asked for."""

    profile: Mapping[str, Any]
    user_texts: Sequence[str]
    position: int
    """Of the turn among the user turns, from 1."""
    raw_texts: Sequence[str] = ()
    """All turns of both sides, where a trace of MemFinRobot carries them."""


def resolve_key(key: str, place: Place, lexicon: Lexicon, *, strict: bool = True) -> ResolvedKey:
    """The text that must be recalled. Unless `strict`, a turn may ask for itself and for single characters."""
    if match := _FIELD.fullmatch(key):
        value = place.profile.get(match[1])
        return _found(key, value, "profile_field", strict, labelled=bool(forms(key, str(value), lexicon)))
    if match := _ITEM.fullmatch(key):
        items = place.profile.get(match[1]) or []
        index = int(match[2])
        return _found(key, items[index] if index < len(items) else None, match[1], strict)
    if match := _HISTORY.fullmatch(key):
        number = int(match[1])
        if not 1 <= number <= len(place.user_texts):
            # Upstream then counts the turns of both sides.
            absolute = place.raw_texts[number - 1] if 1 <= number <= len(place.raw_texts) and not strict else None
            return _found(key, absolute, "history_abs_turn", strict)
        if strict and number >= place.position:
            return _unresolved(key, "not_before_this_turn")
        return _found(key, place.user_texts[number - 1], "history_user_turn", strict)
    return _unresolved(key)


def forms(key: str, target: str, lexicon: Lexicon) -> Sequence[str]:
    """How a value reads with its label ("流动性需求：低"); none for most, whose text stands for itself."""
    return lexicon.labelled_forms.get(key.removeprefix("profile_gt."), {}).get(target, ())


def hit_sources(resolved: ResolvedKey, texts: Mapping[str, str], lexicon: Lexicon, *, strict: bool = True) -> list[str]:
    """The sources of a recall that hold the text. A single character counts only together with its label."""
    target = resolved.target_text or ""
    wanted = forms(resolved.key, target, lexicon) if strict and len(target) == 1 else (target,)
    return [source for source in SOURCES if any(form and form in texts[source] for form in wanted)]


def source_texts(recall: Mapping[str, Any] | None) -> dict[str, str]:
    """The three texts a recall gives an agent."""
    found = recall or {}
    items = found.get("items") or []
    return {
        "short_term": str(found.get("short_term_context") or ""),
        "long_term": "\n".join(str(item.get("content") or "") for item in items),
        "profile": str(found.get("profile_context") or ""),
    }


def _found(key: str, value: Any, resolver: str, strict: bool, labelled: bool = False) -> ResolvedKey:
    if value is None or not str(value).strip():
        return _unresolved(key)
    text = str(value)
    if strict and len(text.strip()) == 1 and not labelled:
        return _unresolved(key, "one_character")
    return ResolvedKey(key, True, text, resolver)


def _unresolved(key: str, reason: str = "unresolved") -> ResolvedKey:
    return ResolvedKey(key, False, None, reason)
