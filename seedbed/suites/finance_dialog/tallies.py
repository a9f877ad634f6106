"""Sums of a dialogue from which every figure is a quotient. Adding the sums of dialogues gives micro figures, which is
also how they are resampled."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from seedbed.suites.finance_dialog.detect import SEVERE
from seedbed.suites.finance_dialog.profiles import FIELDS

M1, M2, M3 = "m1_context_continuity", "m2_profile_accuracy", "m3_risk_coverage"
M4, M5 = "m4_compliance", "m5_explainability"
METRICS = (M1, M2, M3, M4, M5)

Tally = dict[str, float]


@dataclass(frozen=True, slots=True)
class Quotient:
    """A figure: one sum over another. `lost` is the sum that failed turns would add below, had they been answered;
    `floor` is what each of them would add above with no hit."""

    name: str
    over: str
    under: str
    lost: str | None = None
    floor: float = 0.0
    in_macro: bool = True
    higher_is_better: bool = True

    def value(self, sums: Mapping[str, float]) -> float | None:
        return _divide(sums.get(self.over, 0.0), sums.get(self.under, 0.0))

    def penalised(self, sums: Mapping[str, float]) -> float | None:
        """None where a failed turn can be neither hit nor miss: it breaks no rule."""
        if self.lost is None:
            return None
        lost = sums.get(self.lost, 0.0)
        return _divide(sums.get(self.over, 0.0) + self.floor * lost, sums.get(self.under, 0.0) + lost)


QUOTIENTS: Mapping[str, Sequence[Quotient]] = {
    M1: (
        Quotient("key_coverage", "hits", "required", "lost_required"),
        Quotient("strict_key_hit_rate", "strict", "turns", "lost_turns"),
        Quotient("contradiction_rate", "contradictions", "turns", higher_is_better=False),
        Quotient("short_term_hit_rate", "short_term", "required", "lost_required", in_macro=False),
        Quotient("long_term_hit_rate", "long_term", "required", "lost_required", in_macro=False),
        Quotient("profile_hit_rate", "profile", "required", "lost_required", in_macro=False),
    ),
    M2: tuple(Quotient(name, name, f"n_{name}", "lost_dialogs") for name in (*FIELDS, "profile_score")),
    M3: (
        Quotient("risk_coverage", "hits", "required", "lost_required"),
        Quotient("strict_risk_coverage_rate", "strict", "turns", "lost_turns"),
    ),
    M4: (
        Quotient("compliance_label_acc", "correct", "turns", "lost_turns"),
        Quotient("severe_violation_rate", "severe", "turns", higher_is_better=False),
        Quotient("forbidden_hit_rate", "forbidden", "turns", higher_is_better=False),
    ),
    M5: (
        Quotient("rubric_hit_rate", "hits", "required", "lost_required"),
        Quotient("judge_score_mean", "score", "turns", "lost_turns", floor=1.0),
    ),
}


def tally_turns(metric: str, rows: Iterable[Mapping[str, Any]]) -> Tally:
    """The sums of some turns for M1, M3, M4 or M5."""
    eligible, required_of, parts_of = _READERS[metric]
    sums: Tally = {"turns": 0, "required": 0, "lost_turns": 0, "lost_required": 0, "rows": 0, "failed": 0}
    for row in rows:
        required = required_of(row)
        failed = row["turn_status"] != "ok"
        sums["rows"] += 1
        sums["failed"] += failed
        if metric == M1:
            _add(sums, {"unresolvable": row["unresolvable_keys"]})
        if row[eligible]:
            _add(sums, {"turns": 1, "required": required, **parts_of(row)})
        elif failed and required:
            _add(sums, {"lost_turns": 1, "lost_required": required})
    return sums


def tally_profile(
    scores: Mapping[str, float | None] | None, state: str, *, from_text: bool = False, snapshot: bool = True
) -> Tally:
    """The sums of one dialogue for M2."""
    sums: Tally = {"rows": 1, "failed": state == "failed", "turns": state == "eligible", "from_text": from_text}
    sums["no_snapshot"] = state != "skipped" and not snapshot
    sums["lost_dialogs"] = sums["lost_turns"] = state == "failed"
    for name, value in (scores or {}).items():
        sums[name], sums[f"n_{name}"] = value or 0.0, value is not None
    return {name: float(value) for name, value in sums.items()}


def add(tallies: Iterable[Mapping[str, float]]) -> Tally:
    total: Tally = {}
    for tally in tallies:
        _add(total, tally)
    return total


def availability(sums: Mapping[str, float]) -> float | None:
    """Of the turns that had something to fulfil, the share that was answered at all."""
    return _divide(sums.get("turns", 0.0), sums.get("turns", 0.0) + sums.get("lost_turns", 0.0))


def _m1(row: Mapping[str, Any]) -> Mapping[str, float]:
    flags = row["key_hit_flags"]
    parts = {"hits": sum(flags), "strict": all(flags), "contradictions": row["constraint_contradiction"]}
    return parts | row["m1_source_hits"]


def _m3(row: Mapping[str, Any]) -> Mapping[str, float]:
    hits = row["risk_tag_hits"]
    return {"hits": hits, "strict": hits == len(row["risk_required_tags"])}


def _m4(row: Mapping[str, Any]) -> Mapping[str, float]:
    label = row["pred_compliance_label"]
    return {
        "correct": label == row["gt_compliance_label"],
        "severe": label == SEVERE,
        "forbidden": bool(row["forbidden_hits"]),
        "label_missing": row["gt_label_missing"],
    }


def _m5(row: Mapping[str, Any]) -> Mapping[str, float]:
    return {"hits": len(row["rubric_hit_items"]), "score": row["judge_score_1_5"]}


_READERS: Mapping[str, Any] = {
    M1: ("eligible_m1", lambda row: len(row["key_hit_flags"]), _m1),
    M3: ("eligible_m3", lambda row: len(row["risk_required_tags"]), _m3),
    M4: ("eligible_m4", lambda row: 1, _m4),  # every turn must be compliant
    M5: ("eligible_m5", lambda row: len(row["rubric_required"]), _m5),
}


def _add(sums: Tally, more: Mapping[str, float]) -> None:
    for name, value in more.items():
        sums[name] = sums.get(name, 0.0) + value


def _divide(over: float, under: float) -> float | None:
    return over / under if under else None
