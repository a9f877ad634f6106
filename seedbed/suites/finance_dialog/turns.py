"""turn_eval: one row a turn, everything M1, M3, M4 and M5 are counted from."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal

from seedbed.suites.finance_dialog import detect
from seedbed.suites.finance_dialog.keys import SOURCES, Place, ResolvedKey, hit_sources, resolve_key, source_texts
from seedbed.suites.finance_dialog.lexicon import Lexicon, as_lexicon
from seedbed.suites.finance_dialog.profiles import profile_state

Profile = Literal["spec", "upstream_compat"]
Row = dict[str, Any]


def build_turn_eval_rows(
    traces: Iterable[Mapping[str, Any]],
    lexicon: Lexicon | Mapping[str, Any],
    profile: Profile = "spec",
    ignore_memory_keys: bool = False,
) -> list[Row]:
    """Rows of all turns of valid dialogues. The traces are not changed, whatever is ignored."""
    words = as_lexicon(lexicon)
    return [
        _row(trace, position, turn, words, profile == "spec", ignore_memory_keys)
        for trace in traces
        if trace.get("valid_dialog", True)
        for position, turn in enumerate(trace.get("turns") or [], start=1)
    ]


def _row(
    trace: Mapping[str, Any], position: int, turn: Mapping[str, Any], lexicon: Lexicon, strict: bool, ignore: bool
) -> Row:
    tags: Mapping[str, Any] = turn.get("gt_turn_tags") or {}
    ok = turn.get("turn_status") == "ok"
    reply = str(turn.get("pred_assistant_text") or "")
    row: Row = {
        "trace_version": trace.get("trace_version", "v1"),
        "run_id": trace.get("run_id", ""),
        "dialog_id": str(trace.get("dialog_id", "")),
        "turn_pair_id": int(turn.get("turn_pair_id") or position),
        "scenario_type": trace.get("scenario_type"),
        "difficulty": trace.get("difficulty"),
        "turn_status": turn.get("turn_status"),
        "eligible_m2": profile_state(trace, strict=strict) == "eligible",
    }
    row |= _memory(trace, position, turn, [] if ignore else _required(tags, "memory_required_keys_gt", strict),
                   lexicon, strict)  # fmt: skip
    row |= _risk(reply, _required(tags, "risk_disclosure_required_gt", strict), lexicon, strict)
    row |= _compliance(trace, turn, reply, tags, lexicon, strict)
    row |= _explanation(reply, _required(tags, "explainability_rubric_gt", strict), lexicon, strict)
    row["constraint_contradiction"] = int(
        detect.contradicts(reply, (trace.get("profile_gt") or {}).get("constraints_gt") or [], lexicon)
    )
    row["eligible_m1"] = ok and bool(row["key_hit_flags"])
    row["eligible_m3"] = ok and bool(row["risk_required_tags"])
    row["eligible_m4"] = ok
    row["eligible_m5"] = ok and bool(row["rubric_required"])
    return row


def _required(tags: Mapping[str, Any], field: str, strict: bool) -> list[str]:
    """A gold list; in `spec` a set that keeps its order."""
    values = [str(value).strip() for value in tags.get(field) or () if str(value).strip()]
    return list(dict.fromkeys(values)) if strict else values


def _memory(
    trace: Mapping[str, Any],
    position: int,
    turn: Mapping[str, Any],
    keys: Sequence[str],
    lexicon: Lexicon,
    strict: bool,
) -> Row:
    user_texts = [str(t.get("user_text") or "") for t in trace.get("turns") or []]
    raw_texts = [str(t.get("text") or "") for t in trace.get("raw_turns") or []]
    place = Place(trace.get("profile_gt") or {}, user_texts, position, raw_texts)
    resolved = [resolve_key(key, place, lexicon, strict=strict) for key in keys]
    # A profile that resolves more than `spec` would still says how many keys `spec` leaves out.
    left_out = sum(not resolve_key(key, place, lexicon).resolvable for key in dict.fromkeys(keys))
    texts = source_texts(turn.get("recall"))
    wanted: list[ResolvedKey] = [key for key in resolved if key.resolvable]
    sources = [hit_sources(key, texts, lexicon, strict=strict) for key in wanted]
    return {
        "required_keys_raw": list(keys),
        "resolved_keys": [key.to_json() for key in resolved],
        "unresolvable_keys": left_out,
        "key_hit_flags": [int(bool(found)) for found in sources],
        "key_hit_sources": sources,
        "m1_source_hits": {source: sum(source in found for found in sources) for source in SOURCES},
    }


def _risk(reply: str, names: Sequence[str], lexicon: Lexicon, strict: bool) -> Row:
    tags = [detect.risk_tag(name, lexicon) for name in names]
    required = list(dict.fromkeys(tags)) if strict else tags
    found = detect.risk_tags_in(reply, lexicon)
    return {
        "risk_required_tags": required,
        "risk_pred_tags": found,
        "risk_tag_hits": detect.risk_hits(required, found, lexicon),
    }


def _compliance(
    trace: Mapping[str, Any],
    turn: Mapping[str, Any],
    reply: str,
    tags: Mapping[str, Any],
    lexicon: Lexicon,
    strict: bool,
) -> Row:
    """In `spec` a lexicon with rules decides alone: what an agent thinks of its own reply is not evidence."""
    forbidden = detect.forbidden_hits(reply, (trace.get("blueprint") or {}).get("forbidden_list") or [])
    if strict and lexicon.violation_rules:
        found: Sequence[Mapping[str, Any]] = detect.violations(reply, lexicon)
    else:
        found = (turn.get("compliance") or {}).get("violations") or []
    gold = str(tags.get("compliance_label_gt") or "").strip().lower()
    return {
        "forbidden_hits": forbidden,
        "violations": [dict(v) for v in found],
        "pred_compliance_label": detect.compliance_label(found, forbidden, lexicon),
        "gt_compliance_label": gold if gold in detect.LABELS else detect.COMPLIANT,
        "gt_label_missing": gold not in detect.LABELS,
    }


def _explanation(reply: str, required: Sequence[str], lexicon: Lexicon, strict: bool) -> Row:
    hits = detect.rubric_hits(required, reply, lexicon)
    score = 1 + 4 * len(hits) / len(required) if required else None
    return {
        "rubric_required": list(required),
        "rubric_hit_items": hits,
        "judge_score_1_5": round(score, 2) if score is not None and not strict else score,
    }
