"""Memory that outlives the window: texts with a search, and the slots of a profile."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from seedbed.suites.finance_dialog.agents.turn import RecallItem
from seedbed.suites.kit.tokenise import tokenise

_K1, _B = 1.2, 0.75
UNKNOWN = "unknown"


@dataclass(slots=True)
class _Entry:
    content: str
    turn_index: int
    counts: Counter[str]


class MemoryStore:
    """Texts by id with a BM25 search over words and character pairs. No embedding is needed."""

    def __init__(self) -> None:
        self._entries: dict[str, _Entry] = {}
        self._made = 0

    def add(self, content: str, turn_index: int) -> str:
        self._made += 1
        item_id = f"m{self._made}"
        self._entries[item_id] = _Entry(content, turn_index, Counter(tokenise(content)))
        return item_id

    def update(self, item_id: str, content: str, turn_index: int) -> bool:
        """False if there is no such memory."""
        if item_id not in self._entries:
            return False
        self._entries[item_id] = _Entry(content, turn_index, Counter(tokenise(content)))
        return True

    def delete(self, item_id: str) -> bool:
        return self._entries.pop(item_id, None) is not None

    def all(self) -> dict[str, str]:
        return {item_id: entry.content for item_id, entry in self._entries.items()}

    def search(self, query: str, k: int, *, without_turns: Collection[int] = (), pad: bool = False) -> list[RecallItem]:
        """The best k, best first, the newer of two equals first; none that shares nothing with the query, unless `pad`
        fills the k up with the newest, as a vector store, to which everything is somewhat near, always gives k."""
        candidates = {i: e for i, e in self._entries.items() if e.turn_index not in without_turns}
        if not candidates:
            return []
        words = set(tokenise(query))
        average = sum(entry.counts.total() for entry in candidates.values()) / len(candidates)
        weights = {word: _rarity(word, list(candidates.values())) for word in words}
        scored = [(_bm25(weights, entry, average), entry.turn_index, item_id) for item_id, entry in candidates.items()]
        best = sorted(scored, key=lambda s: (-s[0], -s[1], s[2]))[:k]
        return [
            RecallItem(i, candidates[i].content, round(score, 6), turn) for score, turn, i in best if score > 0 or pad
        ]


def _rarity(word: str, entries: Sequence[_Entry]) -> float:
    holding = sum(word in entry.counts for entry in entries)
    return math.log(1 + (len(entries) - holding + 0.5) / (holding + 0.5))


def _bm25(weights: Mapping[str, float], entry: _Entry, average: float) -> float:
    length = _K1 * (1 - _B + _B * entry.counts.total() / average) if average else _K1
    return sum(w * c * (_K1 + 1) / (c + length) for word, w in weights.items() if (c := entry.counts[word]))


@dataclass(slots=True)
class ProfileSlots:
    """What an agent has noted of the user. A later word replaces an earlier one."""

    risk_level: str = UNKNOWN
    investment_horizon: str = UNKNOWN
    liquidity_need: str = UNKNOWN
    constraints: list[str] = field(default_factory=list[str])
    preferences: list[str] = field(default_factory=list[str])

    def note(self, **said: Any) -> None:
        """Take over what a message says: single slots unless unknown, list slots in addition, `withdrawn` away."""
        for name in ("risk_level", "investment_horizon", "liquidity_need"):
            if said.get(name) not in (None, "", UNKNOWN):
                setattr(self, name, said[name])
        withdrawn = set(said.get("withdrawn") or ())
        for name in ("constraints", "preferences"):
            merged = dict.fromkeys([*getattr(self, name), *(said.get(name) or ())])
            setattr(self, name, [value for value in merged if value not in withdrawn])

    def context(self) -> str:
        lines = [
            ("风险偏好", self.risk_level),
            ("投资期限", self.investment_horizon),
            ("流动性需求", self.liquidity_need),
            ("约束", "、".join(self.constraints) or UNKNOWN),
            ("偏好", "、".join(self.preferences) or UNKNOWN),
        ]
        return "\n".join(f"{label}：{value}" for label, value in lines if value != UNKNOWN)

    def snapshot(self) -> dict[str, Any]:
        """In the names of the trace; {} while nothing is known."""
        if not self.context():
            return {}
        return {
            "risk_level": self.risk_level,
            "investment_horizon": self.investment_horizon,
            "liquidity_need": self.liquidity_need,
            "forbidden_assets": list(self.constraints),
            "preferred_topics": list(self.preferences),
        }
