"""Dialogues as cases: a system is given the user's turns and ids, everything else is gold."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

from seedbed.errors import UserError
from seedbed.suite import Benchmark, Case
from seedbed.suites.finance_dialog import SUITE
from seedbed.suites.finance_dialog.lexicon import load_lexicon
from seedbed.suites.finance_dialog.options import DialogueOptions
from seedbed.suites.finance_dialog.shapes import Dialogue
from seedbed.suites.finance_dialog.traces import GoldDialogue, GoldTurn, difficulty
from seedbed.suites.kit.rows import Row, UniqueIds, read_rows


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
    dialogues: list[GoldDialogue] = []
    excluded: Counter[str] = Counter()
    ids = UniqueIds("dialog_id")
    for number, row in enumerate(read_rows(path, shape="{dialog_id, profile_gt, turns, blueprint}"), start=1):
        ids.add(row, row.identity("dialog_id"))
        row.checked(Dialogue)
        dialogue = _dialogue(row, number)
        if not dialogue.turns:
            excluded["missing_turns" if not row.data.get("turns") else "no user turn with an assistant turn"] += 1
            continue
        dialogues.append(dialogue)
    if not dialogues:
        raise UserError(f"{path}: holds no dialogue that can be played; turns are {{role, text, turn_tags}}.")
    return dialogues, excluded


def _dialogue(row: Row, number: int) -> GoldDialogue:
    return GoldDialogue(
        dialog_id=row.identity("dialog_id"),
        dataset_index=number,
        scenario_type=row.data.get("scenario_type"),
        difficulty=difficulty(row.data.get("difficulty")),
        profile_gt=row.data.get("profile_gt"),
        blueprint=row.data.get("blueprint") or {},
        turns=_pairs(row),
    )


def _pairs(row: Row) -> list[GoldTurn]:
    """Each user turn with the next assistant turn; user turns in a row before it are left out but the first."""
    pairs: list[GoldTurn] = []
    turns: list[dict[str, Any]] = row.data.get("turns") or []
    asked: int | None = None
    for index, turn in enumerate(turns):
        if turn.get("role") == "user":
            asked = index if asked is None else asked
        elif turn.get("role") == "assistant" and asked is not None:
            if not (turns[asked].get("text") or "").strip():
                raise row.error(f"field turns.{asked}.text is empty; a user turn needs a text.")
            pairs.append(
                GoldTurn(
                    turn_pair_id=len(pairs) + 1,
                    user_turn_abs_idx=asked,
                    gt_assistant_abs_idx=index,
                    user_text=turns[asked]["text"],
                    gt_assistant_text=turn.get("text") or "",
                    gt_turn_tags=turn.get("turn_tags") or {},
                )
            )
            asked = None
    return pairs
