"""M1 to M5 from traces: the public, stable entry points of this suite's mathematics."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from seedbed.analysis.means import mean
from seedbed.suites.finance_dialog.lexicon import Lexicon, as_lexicon
from seedbed.suites.finance_dialog.profiles import has_snapshot, learnt_profile, profile_scores, profile_state
from seedbed.suites.finance_dialog.tallies import (
    M1,
    M2,
    M3,
    M4,
    M5,
    METRICS,
    QUOTIENTS,
    Tally,
    add,
    availability,
    tally_profile,
    tally_turns,
)
from seedbed.suites.finance_dialog.turns import Profile, Row, build_turn_eval_rows

__all__ = ["METRICS", "build_turn_eval_rows", "evaluate", "evaluate_traces", "newest", "results", "tallies_by_dialog"]

Tallies = dict[str, dict[str, Tally]]
"""Metric -> dialogue -> sums."""


def evaluate_traces(
    traces: Iterable[Mapping[str, Any]],
    lexicon: Lexicon | Mapping[str, Any],
    profile: Profile = "spec",
    ignore_memory_keys: bool = False,
) -> dict[str, dict[str, Any]]:
    """All five metrics, each with micro, macro, counts, by_dialog, availability and penalised.

    `ignore_memory_keys` is for systems without a memory: their M1 has no denominator and is null.
    """
    kept = newest(traces) if profile == "spec" else list(traces)
    rows = build_turn_eval_rows(kept, lexicon, profile, ignore_memory_keys)
    return evaluate(kept, rows, lexicon, profile)


def evaluate(
    traces: Sequence[Mapping[str, Any]],
    rows: Sequence[Row],
    lexicon: Lexicon | Mapping[str, Any],
    profile: Profile = "spec",
) -> dict[str, dict[str, Any]]:
    """The same from rows that are built already."""
    return results(tallies_by_dialog(traces, rows, as_lexicon(lexicon), profile), profile)


def results(tallies: Mapping[str, Mapping[str, Tally]], profile: Profile = "spec") -> dict[str, dict[str, Any]]:
    """The same from sums: figures of stored rows are recomputed this way."""
    return {metric: _result(metric, tallies.get(metric, {}), profile) for metric in METRICS}


def newest(traces: Iterable[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """One record a dialogue: a later one replaces an earlier one, in its place."""
    return list({str(trace.get("dialog_id", "")): trace for trace in traces}.values())


def tallies_by_dialog(
    traces: Sequence[Mapping[str, Any]], rows: Sequence[Row], lexicon: Lexicon, profile: Profile
) -> Tallies:
    strict = profile == "spec"
    grouped: dict[str, list[Row]] = defaultdict(list)
    for row in rows:
        grouped[row["dialog_id"]].append(row)
    tallies: Tallies = {
        metric: {dialog: tally_turns(metric, own) for dialog, own in grouped.items()} for metric in (M1, M3, M4, M5)
    }
    tallies[M2] = {}
    for trace in traces:
        state = profile_state(trace, strict=strict)
        asked = state == "eligible"
        scores = profile_scores(trace, lexicon, strict=strict) if asked else None
        from_text = asked and learnt_profile(trace, lexicon, strict=strict).from_text
        tallies[M2][str(trace.get("dialog_id", ""))] = tally_profile(
            scores, state, from_text=from_text, snapshot=has_snapshot(trace)
        )
    return tallies


def _result(metric: str, tallies: Mapping[str, Tally], profile: Profile) -> dict[str, Any]:
    # Upstream writes 0.0 where there is nothing to divide by.
    undefined = None if profile == "spec" else 0.0
    sums = add(tallies.values())
    quotients = QUOTIENTS[metric]
    asked = {dialog: tally for dialog, tally in tallies.items() if tally["turns"]}
    by_dialog = {dialog: {q.name: q.value(tally) for q in quotients if q.in_macro} for dialog, tally in asked.items()}

    def or_undefined(value: float | None) -> float | None:
        return undefined if value is None else value

    def macro(name: str) -> float | None:
        return mean([value for own in by_dialog.values() if (value := own[name]) is not None])

    return {
        "metric_name": metric,
        "micro": {q.name: or_undefined(q.value(sums)) for q in quotients},
        "macro": {q.name: or_undefined(macro(q.name)) for q in quotients if q.in_macro},
        "penalised": {q.name: q.penalised(sums) for q in quotients if q.lost is not None},
        "availability": availability(sums),
        "counts": _counts(metric, sums, profile),
        "by_dialog": by_dialog,
    }


_TOTALS: Mapping[str, Mapping[str, str]] = {
    M1: {
        "required_key_total": "required",
        "required_key_hit_total": "hits",
        "short_term_hit_total": "short_term",
        "long_term_hit_total": "long_term",
        "profile_hit_total": "profile",
        "unresolvable_key_total": "unresolvable",
    },
    M2: {"text_fallback_count": "from_text", "snapshot_missing_count": "no_snapshot"},
    M3: {"risk_required_total": "required", "risk_hit_total": "hits"},
    M4: {"severe_count": "severe", "gt_label_missing_count": "label_missing"},
    M5: {"rubric_required_total": "required", "rubric_hit_total": "hits", "judge_scored_turns": "turns"},
}


def _counts(metric: str, sums: Mapping[str, float], profile: Profile) -> dict[str, int]:
    """eligible + skipped + failed = rows (M2: dialogues). Upstream has no failed turns: it skips them."""
    eligible, rows = int(sums.get("turns", 0)), int(sums.get("rows", 0))
    failed = int(sums.get("failed", 0)) if profile == "spec" else 0
    counts = {"eligible_count": eligible, "skipped_count": rows - eligible - failed, "failed_count": failed}
    return counts | {name: int(sums.get(key, 0)) for name, key in _TOTALS[metric].items()}
