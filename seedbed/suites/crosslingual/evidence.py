"""The documents as a system shows them: some as they are, some translated, some in part."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from seedbed.suites.crosslingual.fidelity import aligned_share, slot_consistency
from seedbed.suites.crosslingual.retrieval import Candidate
from seedbed.suites.crosslingual.segments import segments

NO_DOCUMENTS = "no external documents"

SCORE_WEIGHT, ALIGNED_WEIGHT, SLOTS_WEIGHT = 0.6, 0.2, 0.2


@dataclass(frozen=True, slots=True)
class Block:
    """One document before the model. What was not translated has lost nothing: aligned and slots are 1."""

    candidate: Candidate
    text: str
    translated: Literal["no", "part", "whole"] = "no"
    aligned: float = 1.0
    slots: float = 1.0

    @property
    def weight(self) -> float:
        return SCORE_WEIGHT * self.candidate.relative + ALIGNED_WEIGHT * self.aligned + SLOTS_WEIGHT * self.slots

    def to_json(self) -> dict[str, Any]:
        """For the prediction's record: which document, in what state, with what text."""
        return {
            "doc_id": self.candidate.document.doc_id,
            "lang": self.candidate.document.lang,
            "translated": self.translated,
            "weight": round(self.weight, 6),
            "text": self.text,
        }


def untranslated(candidate: Candidate) -> Block:
    return Block(candidate, candidate.document.block)


def translated(candidate: Candidate, text: str, pivot: str, *, part: bool = False) -> Block:
    """A block with its translation weighed against the original."""
    document = candidate.document
    before = [segment.text for segment in segments(document.block, document.lang)]
    after = [segment.text for segment in segments(text, pivot)]
    return Block(
        candidate,
        text,
        "part" if part else "whole",
        aligned_share(before, after),
        slot_consistency(document.block, text),
    )


def ordered(blocks: Sequence[Block]) -> list[Block]:
    """Heaviest first; equal weights stay in the order of retrieval."""
    return sorted(blocks, key=lambda block: -block.weight)


def shown(blocks: Sequence[Block]) -> str:
    """The evidence in the prompt."""
    if not blocks:
        return NO_DOCUMENTS
    return "\n\n".join(f"[{number}] {block.text}" for number, block in enumerate(blocks, start=1))
