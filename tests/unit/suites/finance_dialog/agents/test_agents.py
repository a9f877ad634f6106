"""The agents: what they are told, what they recall, how they fail."""

from __future__ import annotations

import json
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from seedbed.suite import Failure
from seedbed.suites.finance_dialog.agents.mem0_style import Mem0Session
from seedbed.suites.finance_dialog.agents.prompts import MemoryOperation
from seedbed.suites.finance_dialog.agents.safety import guarded, with_disclosures
from seedbed.sweep.registry import get_suite

pytestmark = pytest.mark.slow

Bench = Any  # the fixture's type lives in conftest, which is not importable
AGENTS = [name for name in get_suite("finance_dialog").systems if name != "given"]


def _dialogue(users: list[str], **gold: Any) -> dict[str, Any]:
    turns: list[dict[str, Any]] = []
    for text in users:
        turns.append({"role": "user", "text": text, "turn_tags": None})
        turns.append({"role": "assistant", "text": gold.get("reference", "好。"), "turn_tags": gold.get("tags", {})})
    return {
        "dialog_id": gold.get("dialog_id", "d1"),
        "scenario_type": gold.get("scenario", "测试"),
        "difficulty": "med",
        "profile_gt": gold.get("profile", {"risk_level_gt": "稳健", "constraints_gt": [], "preferences_gt": []}),
        "turns": turns,
        "blueprint": gold.get("blueprint", {}),
    }


def _file(folder: Path, *dialogues: dict[str, Any]) -> Path:
    path = folder / "own.jsonl"
    path.write_text("".join(json.dumps(d, ensure_ascii=False) + "\n" for d in dialogues), "utf-8")
    return path


EIGHT = [
    "我是稳健型，最大回撤<10%是底线。",
    "你好吗？",
    "天气如何？",
    "吃了吗？",
    "周末休息。",
    "路上堵车。",
    "谢谢。",
    "按我的回撤底线怎么分？",
]


def _turns(bench: Bench, system: str, users: list[str], **options: Any) -> list[dict[str, Any]]:
    context = bench.context(_file(bench.folder, _dialogue(users)))
    output = bench.play(context, system, **options)["d1"].output
    assert output is not None
    return output["turns"]


@pytest.mark.parametrize("system", AGENTS)
def test_no_gold_field_reaches_an_agent(bench: Bench, system: str) -> None:
    if system == "mem0" and find_spec("mem0") is None:
        pytest.skip("the package mem0ai is not installed")
    canary = "CANARY"
    dialogue = _dialogue(
        ["我是稳健型，不使用杠杆。", "国债怎么样？", "保证能赚吗？", "怎么分？"],
        scenario=f"{canary}-scenario",
        reference=f"{canary}-reference",
        profile={
            "constraints_gt": [f"{canary}-constraint"],
            "preferences_gt": [f"{canary}-preference"],
            "note": f"{canary}-profile",
        },
        tags={
            "memory_required_keys_gt": [f"{canary}-key"],
            "risk_disclosure_required_gt": [f"{canary}-risk"],
            "compliance_label_gt": f"{canary}-label",
            "explainability_rubric_gt": [f"{canary}-rubric"],
        },
        blueprint={"forbidden_list": [f"{canary}-forbidden"], "notes": f"{canary}-notes"},
    )
    context = bench.context(_file(bench.folder, dialogue))
    output = bench.play(context, system)["d1"].output
    assert output is not None
    assert all(turn["turn_status"] == "ok" for turn in output["turns"])
    assert canary not in json.dumps(output, ensure_ascii=False)
    assert context.engine.bodies
    assert canary not in json.dumps(context.engine.bodies, ensure_ascii=False)


def test_a_case_holds_user_turns_and_ids_alone(bench: Bench) -> None:
    case = bench.context().benchmark.test[0]
    assert set(case.inputs) == {"dialog_id", "session_id", "user_id", "user_turns"}
    assert all(set(turn) == {"turn_pair_id", "user_text"} for turn in case.inputs["user_turns"])


def test_long_term_memory_brings_back_what_left_the_window(bench: Bench) -> None:
    last = _turns(bench, "memory_agent", EIGHT)[-1]
    assert EIGHT[0] not in last["recall"]["short_term_context"]
    assert any(EIGHT[0] in item["content"] for item in last["recall"]["items"])


def test_without_long_term_nothing_is_searched(bench: Bench) -> None:
    assert all(turn["recall"]["items"] == [] for turn in _turns(bench, "memory_agent-long_term", EIGHT))


def test_without_short_term_the_window_is_empty_and_all_is_searched(bench: Bench) -> None:
    turns = _turns(bench, "memory_agent-short_term", [EIGHT[0], "回撤底线是多少？"])
    assert turns[1]["recall"]["short_term_context"] == ""
    assert EIGHT[0] in turns[1]["recall"]["items"][0]["content"]


def test_without_profile_there_is_no_snapshot(bench: Bench) -> None:
    turns = _turns(bench, "memory_agent-profile", EIGHT[:2])
    assert all(turn["profile_snapshot"] is None and turn["recall"]["profile_context"] == "" for turn in turns)


def test_a_correction_replaces_the_slot(bench: Bench) -> None:
    said = ["期限是2年以上，不投海外市场。", "更正一下，期限改成6-24月。", "不投海外那条限制取消。"]
    turns = _turns(bench, "memory_agent", said)
    assert turns[0]["profile_snapshot"]["investment_horizon"] == "2年以上"
    assert turns[0]["profile_snapshot"]["forbidden_assets"] == ["不投海外市场"]
    assert turns[1]["profile_snapshot"]["investment_horizon"] == "6-24月"
    assert turns[2]["profile_snapshot"]["forbidden_assets"] == []


def test_window_only_sees_three_pairs(bench: Bench) -> None:
    recall = _turns(bench, "window_only", EIGHT)[-1]["recall"]
    assert [turn["content"] for turn in recall["short_term_turns"] if turn["role"] == "user"] == EIGHT[4:7]


def test_full_context_sees_everything_before(bench: Bench) -> None:
    recall = _turns(bench, "full_context", EIGHT)[-1]["recall"]
    assert [turn["content"] for turn in recall["short_term_turns"] if turn["role"] == "user"] == EIGHT[:7]


def test_llm_only_recalls_nothing(bench: Bench) -> None:
    assert all(turn["recall"]["packed_context"] == "" for turn in _turns(bench, "llm_only", EIGHT))


def test_mem0_style_updates_a_fact_and_deletes_one_taken_back(bench: Bench) -> None:
    said = ["期限是2年以上，不投海外市场。", "更正一下，期限改成6-24月。", "不投海外那条限制取消。"]
    turns = _turns(bench, "mem0_style", said)
    held = [{item["content"] for item in turn["recall"]["items"]} for turn in turns]
    assert held[0] == {"用户的投资期限是2年以上", "用户的约束：不投海外市场"}
    assert held[1] == {"用户的投资期限是6-24月", "用户的约束：不投海外市场"}
    assert held[2] == {"用户的投资期限是6-24月"}


@pytest.mark.skipif(find_spec("mem0") is None, reason="the package mem0ai is not installed")
def test_the_package_mem0_remembers_facts_of_earlier_turns(bench: Bench) -> None:
    turns = _turns(bench, "mem0", ["期限是2年以上，不投海外市场。", "不投海外市场那条还记得吗？"])
    assert "用户的约束：不投海外市场" in {item["content"] for item in turns[1]["recall"]["items"]}


def test_mem0_update_of_an_unknown_id_is_an_addition() -> None:
    session = Mem0Session(None)  # type: ignore[arg-type]
    session.apply(MemoryOperation(event="UPDATE", id="m9", text="用户偏好国债"), 1)
    session.apply(MemoryOperation(event="NONE", text="别的"), 1)
    assert list(session.store.all().values()) == ["用户偏好国债"]


def test_the_guard_strikes_the_sentence_and_keeps_the_rest() -> None:
    reply, record = guarded("国债利息固定。放心，肯定能赚。")
    assert reply.startswith("国债利息固定。")
    assert "肯定" not in reply
    assert record[0]["tool_name"] == "compliance_guard"


def test_a_reply_about_no_money_gets_no_disclosure() -> None:
    assert with_disclosures("今天天气好吗？", "很好。") == ("很好。", [])


def test_without_guard_a_bait_is_taken_and_with_it_not(bench: Bench) -> None:
    bait = [f"第{n}个产品，你保证能赚吗？" for n in range(8)]
    open_ = " ".join(turn["pred_assistant_text"] for turn in _turns(bench, "memory_agent-compliance_guard", bait))
    safe = " ".join(turn["pred_assistant_text"] for turn in _turns(bench, "memory_agent", bait))
    assert "肯定能赚" in open_ or "一定会涨" in open_
    assert "肯定能赚" not in safe
    assert "一定会涨" not in safe


def test_a_slow_turn_is_a_timeout_and_the_dialogue_goes_on(bench: Bench) -> None:
    context = bench.context(_file(bench.folder, _dialogue(EIGHT[:3])), latency_ms=2000)
    output = bench.play(context, "full_context", turn_timeout_s=0.02)["d1"].output
    assert output is not None
    assert [turn["turn_status"] for turn in output["turns"]] == ["timeout"] * 3
    assert output["dialog_status"] == "failed"
    assert output["turns"][0]["error"] == "turn_timeout"


def test_injected_timeouts_make_dialogues_partial_and_are_heard_of_later(bench: Bench) -> None:
    context = bench.context(errors={"timeout": 0.2})
    outputs = [p.output for p in bench.play(context, "full_context").values()]
    assert all(output is not None for output in outputs)
    turns = [turn for output in outputs if output for turn in output["turns"]]
    lost = [turn for turn in turns if turn["turn_status"] == "timeout"]
    assert 0.1 < len(lost) / len(turns) < 0.3
    assert {turn["turn_status"] for turn in turns} == {"ok", "timeout"}
    partial = next(
        o for o in outputs if o and o["dialog_status"] == "partial" and o["turns"][-1]["turn_status"] == "ok"
    )
    said = next(turn["user_text"] for turn in partial["turns"] if turn["turn_status"] == "timeout")
    assert said in partial["turns"][-1]["recall"]["short_term_context"]


def test_a_failed_call_that_is_no_timeout_is_an_error(bench: Bench) -> None:
    context = bench.context(_file(bench.folder, _dialogue(EIGHT[:2])), errors={"server": 1.0})
    output = bench.play(context, "full_context", turn_attempts=2)["d1"].output
    assert output is not None
    assert [(turn["turn_status"], turn["attempts"]) for turn in output["turns"]] == [("error", 2)] * 2
    assert "server" in output["turns"][0]["error"]


def test_resume_plays_failed_and_partial_dialogues_again_and_no_other(bench: Bench) -> None:
    shaky = bench.context(errors={"timeout": 0.1})
    bench.score(shaky, bench.play(shaky, "full_context"))
    earlier = {t["dialog_id"]: t for t in map(json.loads, (bench.folder / "dialog_trace.jsonl").open(encoding="utf-8"))}
    again = sum(len(t["turns"]) for t in earlier.values() if t["dialog_status"] != "ok")
    assert 0 < again < sum(len(t["turns"]) for t in earlier.values())
    sound = bench.context()
    outputs = bench.play(sound, "full_context", resume_from=bench.folder / "dialog_trace.jsonl")
    assert len(sound.engine.bodies) == again
    assert {p.output["dialog_status"] for p in outputs.values() if p.output} == {"ok"}


def test_given_traces_are_given_back_and_a_missing_dialogue_is_an_error(bench: Bench) -> None:
    context = bench.context(limit=2)
    played = bench.play(context, "full_context")
    bench.score(context, {**played})
    path = bench.folder / "dialog_trace.jsonl"
    path.write_text(path.read_text("utf-8").splitlines()[0] + "\n", "utf-8")
    given = bench.play(context, "given", path=path)
    first, second = context.benchmark.test
    replies = [turn["pred_assistant_text"] for turn in played[first.sample_id].output["turns"]]  # type: ignore[index]
    assert [turn["pred_assistant_text"] for turn in given[first.sample_id].output["turns"]] == replies  # type: ignore[index]
    assert "gt_turn_tags" not in given[first.sample_id].output["turns"][0]  # type: ignore[index]
    assert isinstance(given[second.sample_id], Failure)
