"""What goes into an agent at a turn and what comes out of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from seedbed.lm.nominal_tokens import count_tokens

ROLES = {"user": "用户", "assistant": "助手"}


@dataclass(frozen=True, slots=True)
class TurnInput:
    """All that an agent is told."""

    user_text: str
    session_id: str
    user_id: str
    turn_pair_id: int


@dataclass(frozen=True, slots=True)
class RecallItem:
    """A memory that a search brought back."""

    item_id: str
    content: str
    score: float
    turn_index: int
    source: str = "long_term"


@dataclass(frozen=True, slots=True)
class Recall:
    """What an agent put before its model, beside the message itself."""

    query: str
    short_term: Sequence[Mapping[str, str]] = ()
    items: Sequence[RecallItem] = ()
    profile_context: str = ""

    @property
    def short_term_context(self) -> str:
        return "\n".join(f"{ROLES[turn['role']]}：{turn['content']}" for turn in self.short_term)

    @property
    def memories(self) -> str:
        return "\n".join(f"- {item.content}" for item in self.items)

    def to_json(self, session_id: str) -> dict[str, Any]:
        packed = "\n\n".join(part for part in (self.profile_context, self.memories, self.short_term_context) if part)
        return {
            "query": self.query,
            "short_term_context": self.short_term_context,
            "short_term_turns": [dict(turn) for turn in self.short_term],
            "profile_context": self.profile_context,
            "packed_context": packed,
            "token_count": count_tokens(packed),
            "items": [
                {
                    "rank": rank,
                    "item_id": item.item_id,
                    "content": item.content,
                    "score": item.score,
                    "source": item.source,
                    "turn_index": item.turn_index,
                    "session_id": session_id,
                }
                for rank, item in enumerate(self.items, start=1)
            ],
        }


@dataclass(frozen=True, slots=True)
class TurnOutput:
    reply: str
    recall: Recall
    tools: Sequence[Mapping[str, Any]] = ()
    profile_snapshot: Mapping[str, Any] | None = None
    calls: int = 1


class Session(Protocol):
    """One dialogue with one user. Turns come one after another."""

    async def respond(self, turn: TurnInput) -> TurnOutput:
        """Answer a turn. What it learns from the turn before it fails may stay learnt."""
        ...

    def ended(self, turn: TurnInput, reply: str | None) -> None:
        """A turn is over; `reply` is None if it failed, and then the user's words were heard all the same."""
        ...


@dataclass(slots=True)
class Window:
    """The last pairs of a dialogue; all of them if `pairs` is None."""

    pairs: int | None
    _turns: list[list[dict[str, str]]] = field(default_factory=list[list[dict[str, str]]])

    def add(self, user_text: str, reply: str | None) -> None:
        said = [{"role": "user", "content": user_text}]
        self._turns.append([*said, {"role": "assistant", "content": reply}] if reply is not None else said)

    def turns(self) -> list[dict[str, str]]:
        kept = self._turns if self.pairs is None else self._turns[-self.pairs :]
        return [turn for pair in kept for turn in pair]
