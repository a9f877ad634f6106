"""The shipped dialogues: enough of everything, and consistent with the lexicon they are judged by."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from seedbed.errors import UserError
from seedbed.suites.finance_dialog.cases import load_dialogues
from seedbed.suites.finance_dialog.lexicon import load_lexicon
from seedbed.suites.finance_dialog.metrics import build_turn_eval_rows
from seedbed.suites.finance_dialog.options import DialogueOptions

BENCHMARK = load_dialogues(DialogueOptions())
GOLD = [case.gold for case in BENCHMARK.test]


def _reference_rows() -> list[dict[str, Any]]:
    """The reference replies scored as if a system with the whole dialogue before it had given them."""
    traces: list[dict[str, Any]] = []
    for gold in GOLD:
        turns: list[dict[str, Any]] = []
        for turn in gold.turns:
            before = "\n".join(f"{t.user_text}\n{t.gt_assistant_text}" for t in gold.turns[: turn.turn_pair_id - 1])
            turns.append(
                {
                    "turn_pair_id": turn.turn_pair_id,
                    "user_text": turn.user_text,
                    "gt_turn_tags": turn.gt_turn_tags,
                    "pred_assistant_text": turn.gt_assistant_text,
                    "turn_status": "ok",
                    "recall": {"short_term_context": before},
                }
            )
        traces.append(
            {"dialog_id": gold.dialog_id, "profile_gt": gold.profile_gt, "blueprint": gold.blueprint, "turns": turns}
        )
    return build_turn_eval_rows(traces, load_lexicon())


ROWS = _reference_rows()


def test_there_are_twelve_dialogues_or_more_of_six_to_twelve_turns() -> None:
    assert len(GOLD) >= 12
    assert all(6 <= len(gold.turns) <= 12 for gold in GOLD)


def test_med_is_read_as_medium() -> None:
    assert {gold.difficulty for gold in GOLD} == {"easy", "medium", "hard"}


def test_all_three_compliance_labels_occur() -> None:
    assert {row["gt_compliance_label"] for row in ROWS} == {"compliant", "minor_violation", "severe_violation"}


def test_every_required_key_can_be_resolved() -> None:
    assert sum(row["unresolvable_keys"] for row in ROWS) == 0


def test_what_must_be_remembered_was_said_before() -> None:
    missed = [f"{row['dialog_id']}/{row['turn_pair_id']}" for row in ROWS if 0 in row["key_hit_flags"]]
    # One constraint was said in other words ("非标产品不买"): a note can bring it back, a transcript cannot.
    assert missed == ["fd-12/7"]


def test_reference_replies_disclose_explain_and_are_labelled_as_the_gold_says() -> None:
    for row in ROWS:
        where = f"{row['dialog_id']}/{row['turn_pair_id']}"
        assert row["risk_tag_hits"] == len(row["risk_required_tags"]), where
        assert row["rubric_hit_items"] == row["rubric_required"], where
        assert row["pred_compliance_label"] == row["gt_compliance_label"], where


def test_gold_profiles_use_the_closed_vocabulary() -> None:
    lexicon = load_lexicon()
    for gold in GOLD:
        assert set(gold.profile_gt["constraints_gt"]) <= set(lexicon.constraint_vocab)
        assert set(gold.profile_gt["preferences_gt"]) <= set(lexicon.preference_vocab)


def _write(path: Path, *rows: dict[str, Any]) -> Path:
    path.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), "utf-8")
    return path


_PAIR = [{"role": "user", "text": "你好"}, {"role": "assistant", "text": "您好"}]


def test_a_profile_value_nobody_knows_is_refused_with_line_and_field(tmp_path: Path) -> None:
    path = _write(tmp_path / "d.jsonl", {"dialog_id": "a", "profile_gt": {"risk_level_gt": "勇敢"}, "turns": _PAIR})
    with pytest.raises(UserError, match=r"d\.jsonl:1: field profile_gt\.risk_level_gt"):
        load_dialogues(DialogueOptions(path=path))


def test_a_dialogue_id_that_stands_twice_is_refused(tmp_path: Path) -> None:
    path = _write(tmp_path / "d.jsonl", {"dialog_id": "a", "turns": _PAIR}, {"dialog_id": "a", "turns": _PAIR})
    with pytest.raises(UserError, match=r":2: dialog_id 'a' stands twice"):
        load_dialogues(DialogueOptions(path=path))


def test_a_dialogue_that_cannot_be_played_is_excluded_and_counted(tmp_path: Path) -> None:
    path = _write(tmp_path / "d.jsonl", {"dialog_id": "a", "turns": _PAIR}, {"dialog_id": "b", "turns": []})
    benchmark = load_dialogues(DialogueOptions(path=path))
    assert [case.sample_id for case in benchmark.test] == ["a"]
    assert benchmark.excluded == {"missing_turns": 1}


def test_a_folder_brings_its_own_lexicon(tmp_path: Path) -> None:
    _write(tmp_path / "dialogues.jsonl", {"dialog_id": "a", "turns": _PAIR})
    (tmp_path / "lexicon.yaml").write_text("risk_keywords: {own: [自己的词]}\n", "utf-8")
    lexicon = load_dialogues(DialogueOptions(path=tmp_path)).resources["lexicon"]
    assert lexicon.risk_keywords == {"own": ("自己的词",)}
    assert lexicon.sha256 != load_lexicon().sha256


def test_an_unknown_part_of_a_lexicon_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "lexicon.yaml"
    path.write_text("risk_keyword: {}\n", "utf-8")
    with pytest.raises(UserError, match="did you mean 'risk_keywords'"):
        load_lexicon(path)
