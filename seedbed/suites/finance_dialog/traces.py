"""Trace files: reading them, and putting gold and a system's turns together into one record a dialogue."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from seedbed.suites.finance_dialog.detect import violations
from seedbed.suites.finance_dialog.lexicon import Lexicon
from seedbed.suites.finance_dialog.shapes import Trace
from seedbed.suites.kit.rows import read_rows

TRACE_VERSION = "v1"


@dataclass(frozen=True, slots=True)
class GoldTurn:
    """The evaluator's side of a turn."""

    turn_pair_id: int
    user_turn_abs_idx: int
    gt_assistant_abs_idx: int
    user_text: str
    gt_assistant_text: str
    gt_turn_tags: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class GoldDialogue:
    """The evaluator's side of a dialogue. No system is ever given it."""

    dialog_id: str
    dataset_index: int
    scenario_type: str | None
    difficulty: str | None
    profile_gt: Mapping[str, Any] | None
    blueprint: Mapping[str, Any]
    turns: Sequence[GoldTurn]


def read_traces(path: Path) -> list[dict[str, Any]]:
    """The dialogues of a trace file, whoever wrote it; of several records of one the newest, that is the last."""
    found: dict[str, dict[str, Any]] = {}
    for row in read_rows(path, shape="a trace {dialog_id, turns, profile_gt, ...}"):
        dialog_id = row.identity("dialog_id")
        row.need("turns")
        row.checked(Trace)
        found[dialog_id] = {**row.data, "difficulty": difficulty(row.data.get("difficulty"))}
    return list(found.values())


def complete(
    gold: GoldDialogue, output: Mapping[str, Any] | None, lexicon: Lexicon, *, run_id: str, error: str | None = None
) -> dict[str, Any]:
    """The record of a dialogue: what the system did, turn by turn, beside what was asked of it. Turns that it left out,
    or all of them if it gave nothing, are errors."""
    played = {int(turn["turn_pair_id"]): turn for turn in (output or {}).get("turns") or []}
    turns = [_turn(turn, played.get(turn.turn_pair_id), lexicon, error) for turn in gold.turns]
    good = sum(turn["turn_status"] == "ok" for turn in turns)
    return {
        "trace_version": TRACE_VERSION,
        "run_id": run_id,
        "dialog_id": gold.dialog_id,
        "dataset_index": gold.dataset_index,
        "scenario_type": gold.scenario_type,
        "difficulty": gold.difficulty,
        "dialog_status": "ok" if good == len(turns) else "partial" if good else "failed",
        "valid_dialog": True,
        "skip_reason": None,
        "session_id": (output or {}).get("session_id"),
        "user_id": (output or {}).get("user_id"),
        "m1_handling": (output or {}).get("m1_handling"),
        "profile_gt": gold.profile_gt,
        "blueprint": gold.blueprint,
        "turns": turns,
    }


def difficulty(value: Any) -> str | None:
    """`med` and `medium` are the same."""
    text = str(value or "").strip().lower()
    return {"med": "medium"}.get(text, text) or None


def _turn(gold: GoldTurn, played: Mapping[str, Any] | None, lexicon: Lexicon, error: str | None) -> dict[str, Any]:
    done = played or {"pred_assistant_text": "", "turn_status": "error", "error": error or "no record of this turn"}
    reply = str(done.get("pred_assistant_text") or "")
    return {
        "turn_pair_id": gold.turn_pair_id,
        "user_turn_abs_idx": gold.user_turn_abs_idx,
        "gt_assistant_abs_idx": gold.gt_assistant_abs_idx,
        "user_text": gold.user_text,
        "gt_assistant_text": gold.gt_assistant_text,
        "gt_turn_tags": gold.gt_turn_tags,
        **{name: value for name, value in done.items() if name not in ("turn_pair_id", "user_text")},
        # One detector for all systems. What an agent says of itself stays in its tools.
        "compliance": {"detector": "evaluator", "violations": violations(reply, lexicon)},
    }
