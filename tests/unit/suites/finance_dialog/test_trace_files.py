"""`seedbed score finance_dialog`: traces made elsewhere."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from seedbed.cli.main import main
from seedbed.errors import UserError
from seedbed.storage.store import read_json
from seedbed.suites.finance_dialog.options import ScoreFileOptions
from seedbed.suites.finance_dialog.score_file import score_file
from seedbed.suites.finance_dialog.traces import read_traces


def _upstream_trace(dialog_id: str = "3e53-x", **more: Any) -> dict[str, Any]:
    """A dialogue as MemFinRobot writes it: its own extra fields, its observer's findings, unknown slots."""
    snapshot = {
        "user_id": "eval_user", "risk_level": "unknown", "risk_level_confidence": 0.0, "risk_level_evidence": [],
        "investment_horizon": "long", "liquidity_need": "unknown", "investment_goal": "unknown",
        "preferred_topics": ["宏观"], "forbidden_assets": [], "max_acceptable_loss": None,
    }  # fmt: skip
    tags = {
        "memory_required_keys_gt": ["profile_gt.risk_level_gt", "profile_gt.risk_level_gt"],
        "risk_disclosure_required_gt": ["市场不确定性", "不保本"],
        "compliance_label_gt": "compliant",
        "explainability_rubric_gt": ["信息依据", "边界声明", "可执行步骤"],
    }
    turns = [
        {
            "turn_pair_id": 1, "user_turn_abs_idx": 0, "gt_assistant_abs_idx": 1, "user_text": "我是稳健型",
            "gt_assistant_text": "好。", "gt_turn_tags": tags,
            "pred_assistant_text": "根据数据，稳健为主，市场有不确定性。",
            "latency_ms": 264405.5, "turn_status": "ok", "error": None,
            "recall": {"query": "q", "short_term_context": "user: 我是稳健型", "short_term_turns": [], "items": [],
                       "profile_context": "", "packed_context": "", "token_count": 0},
            "tools": [{"tool_name": "search", "args": "{\"query\": [\"a\"]}", "result_excerpt": "x", "error": None}],
            "compliance": {"needs_modification": True, "is_compliant": False, "risk_disclaimer_added": False,
                           "suitability_warning": None, "violations": [{"type": "tone", "severity": "low"}]},
            "profile_snapshot": snapshot,
        },
        {
            "turn_pair_id": 2, "user_text": "继续", "gt_turn_tags": tags, "pred_assistant_text": "",
            "turn_status": "timeout", "error": "turn_timeout", "recall": None, "compliance": None,
        },
    ]  # fmt: skip
    return {
        "trace_version": "v1", "run_id": "20260219_144052", "dialog_id": dialog_id, "dataset_index": 1,
        "scenario_type": "投资教育", "difficulty": "med", "dialog_status": "partial", "valid_dialog": True,
        "skip_reason": None, "worker_id": 3, "turns": turns, "dialog_error": None,
        "profile_gt": {"risk_level_gt": "稳健", "horizon_gt": "2年以上", "liquidity_need_gt": "低",
                       "constraints_gt": ["不使用杠杆"], "preferences_gt": ["国债"]},
        "blueprint": {"forbidden_list": ["保本保收益"]}, **more,
    }  # fmt: skip


def _write(path: Path, *traces: Any) -> Path:
    path.write_text("".join(json.dumps(t, ensure_ascii=False) + "\n" for t in traces), "utf-8")
    return path


def test_traces_of_memfinrobot_are_scored_its_way(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = _write(tmp_path / "dialog_trace_mem0.jsonl", _upstream_trace())
    assert main(["score", "finance_dialog", str(path), "--profile", "upstream_compat"]) == 0
    told = read_json(tmp_path / "metrics_summary.json")
    metrics = told["metrics"]
    assert told["manifest"]["profile"] == "upstream_compat"
    assert metrics["m1_context_continuity"]["counts"]["required_key_total"] == 2
    assert metrics["m1_context_continuity"]["counts"]["skipped_count"] == 1
    assert metrics["m2_profile_accuracy"]["micro"]["risk_level_acc"] == 1.0
    assert metrics["m4_compliance"]["micro"]["compliance_label_acc"] == 0.0
    assert metrics["m5_explainability"]["micro"]["judge_score_mean"] == 2.33
    assert "upstream_compat" in capsys.readouterr().out


def test_the_same_traces_under_spec_count_sets_failures_and_the_evaluators_labels(tmp_path: Path) -> None:
    path = _write(tmp_path / "dialog_trace.jsonl", _upstream_trace())
    score_file(path, tmp_path, ScoreFileOptions())
    metrics = read_json(tmp_path / "metrics_summary.json")["metrics"]
    assert metrics["m1_context_continuity"]["counts"]["required_key_total"] == 1
    assert metrics["m1_context_continuity"]["counts"]["failed_count"] == 1
    assert metrics["m4_compliance"]["micro"]["compliance_label_acc"] == 1.0
    assert metrics["m5_explainability"]["micro"]["judge_score_mean"] == pytest.approx(7 / 3)
    rows = (tmp_path / "turn_eval.jsonl").read_text("utf-8").splitlines()
    assert [json.loads(row)["turn_status"] for row in rows] == ["ok", "timeout"]


def test_another_lexicon_gives_other_figures_and_another_hash(tmp_path: Path) -> None:
    path = _write(tmp_path / "dialog_trace.jsonl", _upstream_trace())
    own = tmp_path / "own.yaml"
    own.write_text("risk_aliases: {market: [市场不确定性]}\nrisk_keywords: {market: [别的词]}\n", "utf-8")
    score_file(path, tmp_path, ScoreFileOptions())
    first = read_json(tmp_path / "metrics_summary.json")
    score_file(path, tmp_path, ScoreFileOptions(lexicon=own))
    second = read_json(tmp_path / "metrics_summary.json")
    assert first["metrics"]["m3_risk_coverage"]["micro"]["risk_coverage"] == 0.5
    assert second["metrics"]["m3_risk_coverage"]["micro"]["risk_coverage"] == 0.0
    assert first["manifest"]["lexicon_sha256"] != second["manifest"]["lexicon_sha256"]


def test_a_trace_without_memory_keys_is_said_to_be_so(tmp_path: Path) -> None:
    path = _write(tmp_path / "dialog_trace_llm.jsonl", _upstream_trace())
    printed = score_file(path, tmp_path, ScoreFileOptions(ignore_memory_keys=True))
    told = read_json(tmp_path / "metrics_summary.json")
    assert told["manifest"]["m1_handling"] == "ignored_memory_required_keys"
    assert told["metrics"]["m1_context_continuity"]["micro"]["key_coverage"] is None
    assert told["appendix"]["m1_with_memory_keys"]["micro"]["key_coverage"] == 1.0
    assert "key_coverage" in printed


def test_the_last_of_several_records_of_a_dialogue_is_read(tmp_path: Path) -> None:
    path = _write(
        tmp_path / "t.jsonl", _upstream_trace(run_id="old"), _upstream_trace("other"), _upstream_trace(run_id="new")
    )
    assert [(t["dialog_id"], t["run_id"]) for t in read_traces(path)] == [
        ("3e53-x", "new"),
        ("other", "20260219_144052"),
    ]


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ({"turns": []}, r"t\.jsonl:1: field dialog_id is missing"),
        ({"dialog_id": "a"}, r"t\.jsonl:1: field turns is missing"),
        (
            {"dialog_id": "a", "turns": [{"turn_status": "late"}]},
            r"t\.jsonl:1: field turns\.0\.turn_status: .*'ok'.*'late'",
        ),
    ],
)
def test_a_broken_trace_is_named_by_line_and_field(tmp_path: Path, line: dict[str, Any], message: str) -> None:
    with pytest.raises(UserError, match=message):
        read_traces(_write(tmp_path / "t.jsonl", line))


def test_traces_without_gold_are_refused(tmp_path: Path) -> None:
    bare = {"dialog_id": "a", "turns": [{"turn_pair_id": 1, "turn_status": "ok"}]}
    with pytest.raises(UserError, match="no turn has gt_turn_tags"):
        score_file(_write(tmp_path / "t.jsonl", bare), tmp_path, ScoreFileOptions())


def test_scoring_a_file_imports_no_model_library(tmp_path: Path) -> None:
    path = _write(tmp_path / "dialog_trace.jsonl", _upstream_trace())
    code = (
        "import sys; from seedbed.cli.main import main; "
        f"main(['score', 'finance_dialog', {str(path)!r}]); "
        "print([name for name in ('dspy', 'litellm', 'prefect') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "[]"
