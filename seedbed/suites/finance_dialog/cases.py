"""Dialogues as cases: a system is given the user's turns and ids, everything else is gold."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from seedbed.errors import UserError
from seedbed.store import read_jsonl
from seedbed.suite import Benchmark, Case
from seedbed.suites.finance_dialog import SUITE
from seedbed.suites.finance_dialog.lexicon import load_lexicon
from seedbed.suites.finance_dialog.options import DialogueOptions
from seedbed.suites.finance_dialog.traces import GoldDialogue, GoldTurn, difficulty

_ALLOWED = {
    "risk_level_gt": ("保守", "稳健", "进取"),
    "horizon_gt": ("<=6月", "6-24月", "2年以上"),
    "liquidity_need_gt": ("高", "中", "低"),
}


def load_dialogues(options: DialogueOptions) -> Benchmark:
    """dialogues.jsonl of a folder, or a file of dialogues; a lexicon.yaml beside it in a folder replaces ours."""
    source = options.path or SUITE.benchmarks["dialogues"].data
    assert source is not None
    file = source / "dialogues.jsonl" if source.is_dir() else source
    own_words = source / "lexicon.yaml" if source.is_dir() else None
    dialogues, excluded = read_dialogues(file)
    kept = dialogues[: options.limit]
    excluded["over the limit"] = len(dialogues) - len(kept)
    return Benchmark(
        name=source.stem,
        test=[as_case(dialogue) for dialogue in kept],
        resources={
            "lexicon": load_lexicon(own_words if own_words and own_words.exists() else None),
            "profile": options.profile,
            "judge": options.judge,
        },
        excluded={reason: count for reason, count in excluded.items() if count},
    )


def as_case(dialogue: GoldDialogue) -> Case:
    return Case(
        sample_id=dialogue.dialog_id,
        inputs={
            "dialog_id": dialogue.dialog_id,
            "session_id": f"session-{dialogue.dialog_id}",
            "user_id": f"user-{dialogue.dialog_id}",
            "user_turns": [{"turn_pair_id": t.turn_pair_id, "user_text": t.user_text} for t in dialogue.turns],
        },
        gold=dialogue,
        meta={"scenario_type": dialogue.scenario_type, "difficulty": dialogue.difficulty},
        cluster=dialogue.dialog_id,
    )


def read_dialogues(path: Path) -> tuple[list[GoldDialogue], Counter[str]]:
    """The dialogues that can be played, and how many cannot, by reason."""
    if not path.exists():
        raise UserError(f"{path}: no such file; a finance_dialog benchmark is a dialogues.jsonl or a folder with one.")
    dialogues: list[GoldDialogue] = []
    excluded: Counter[str] = Counter()
    seen: set[str] = set()
    for number, row in enumerate(read_jsonl(path), start=1):
        if "dialog_id" not in row:
            raise UserError(f"{path}:{number}: field dialog_id is missing; give every dialogue one.")
        dialog_id = str(row["dialog_id"])
        if dialog_id in seen:
            raise UserError(f"{path}:{number}: dialog_id {dialog_id!r} stands twice; make them unique.")
        seen.add(dialog_id)
        _check_profile(path, number, row.get("profile_gt"))
        dialogue = _dialogue(row, number)
        if not dialogue.turns:
            excluded["missing_turns" if not row.get("turns") else "no user turn with an assistant turn"] += 1
            continue
        dialogues.append(dialogue)
    if not dialogues:
        raise UserError(f"{path}: holds no dialogue that can be played; turns are {{role, text, turn_tags}}.")
    return dialogues, excluded


def _dialogue(row: Mapping[str, Any], number: int) -> GoldDialogue:
    return GoldDialogue(
        dialog_id=str(row["dialog_id"]),
        dataset_index=number,
        scenario_type=row.get("scenario_type"),
        difficulty=difficulty(row.get("difficulty")),
        profile_gt=row.get("profile_gt"),
        blueprint=row.get("blueprint") or {},
        turns=_pairs(row.get("turns") or []),
    )


def _pairs(turns: list[Mapping[str, Any]]) -> list[GoldTurn]:
    """Each user turn with the next assistant turn; user turns in a row before it are left out but the first."""
    pairs: list[GoldTurn] = []
    asked: int | None = None
    for index, turn in enumerate(turns):
        if turn.get("role") == "user":
            asked = index if asked is None else asked
        elif turn.get("role") == "assistant" and asked is not None:
            pairs.append(
                GoldTurn(
                    turn_pair_id=len(pairs) + 1,
                    user_turn_abs_idx=asked,
                    gt_assistant_abs_idx=index,
                    user_text=str(turns[asked].get("text") or ""),
                    gt_assistant_text=str(turn.get("text") or ""),
                    gt_turn_tags=turn.get("turn_tags") or {},
                )
            )
            asked = None
    return pairs


def _check_profile(path: Path, number: int, profile: Any) -> None:
    for field, allowed in _ALLOWED.items():
        value = (profile or {}).get(field)
        if value is not None and value not in allowed:
            raise UserError(
                f"{path}:{number}: field profile_gt.{field}: {value!r} is not known; write one of {', '.join(allowed)}."
            )
