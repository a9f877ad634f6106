"""What pairs the systems of a group: McNemar against `full`, Holm over the ablations, and the trivial rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from seedbed.analysis.significance import holm, mcnemar_exact
from seedbed.suite import ScoreRow
from seedbed.suites.contract_risk.chance import draw_level
from seedbed.suites.contract_risk.figures import aggregate
from seedbed.suites.contract_risk.levels import LEVELS, WEIGHTS, Level
from seedbed.suites.contract_risk.verify import one_verifier

BASELINE = "full"
_PAIRED = ("mcnemar_p", "mcnemar_p_holm", "only_full_right", "only_this_right", "n_paired")
TRIVIAL = ("always_high", "always_medium", "prior_random")


def score_group(
    rows: Mapping[str, Sequence[ScoreRow]], metrics: Mapping[str, dict[str, Any]]
) -> dict[str, dict[str, Any]]:
    """Adds to each system its comparison with `full`, and the trivial systems that were not run."""
    stamp = one_verifier(row.details["verifier"] for own in rows.values() for row in own if row.status != "skipped")
    added = {name: trivial for name, trivial in trivial_rows(rows).items() if name not in rows}
    everyone = {**rows, **added}
    figures = {**metrics, **{name: dict(aggregate(own)) for name, own in added.items()}}
    paired = {label: compare(own, baseline_of(label, everyone)) for label, own in everyone.items()}
    adjust(paired, [label for label, own in everyone.items() if not is_trivial(own)])
    return {label: {**figures[label], **paired[label], "verifier": stamp} for label in everyone}


def compare(rows: Sequence[ScoreRow], base: Sequence[ScoreRow] | None) -> dict[str, Any]:
    """On the cases both have; a case that failed or did not parse is a wrong one."""
    empty: dict[str, Any] = dict.fromkeys(_PAIRED)
    if base is None or base is rows:
        return empty
    own, theirs = _right(rows), _right(base)
    common = [case for case in own if case in theirs]
    if not common:
        return {**empty, "n_paired": 0}
    only_full = sum(theirs[case] and not own[case] for case in common)
    only_this = sum(own[case] and not theirs[case] for case in common)
    return {
        "mcnemar_p": mcnemar_exact(only_full, only_this),
        "mcnemar_p_holm": None,
        "only_full_right": only_full,
        "only_this_right": only_this,
        "n_paired": len(common),
    }


def adjust(paired: Mapping[str, dict[str, Any]], family: Sequence[str]) -> None:
    """Holm over the ablations; the trivial systems are no ablations and do not make the others' test harder."""
    for label, p in zip(family, holm([paired[label]["mcnemar_p"] for label in family]), strict=True):
        paired[label]["mcnemar_p_holm"] = p


def trivial_rows(rows: Mapping[str, Sequence[ScoreRow]]) -> dict[str, list[ScoreRow]]:
    """What the trivial systems would have scored on the cases of this group."""
    template = max(rows.values(), key=len, default=())
    cases = [row for row in template if row.status != "skipped"]
    if not cases:
        return {}
    return {name: [_trivial_row(row, _guess(name, row, cases)) for row in cases] for name in TRIVIAL}


def is_trivial(rows: Sequence[ScoreRow]) -> bool:
    return any(row.details.get("trivial") for row in rows)


def baseline_of(label: str, rows: Mapping[str, Sequence[ScoreRow]]) -> Sequence[ScoreRow] | None:
    """`full` under the same optimizer if it ran, else without one."""
    _, plus, optimizer = label.partition("+")
    return rows.get(f"{BASELINE}{plus}{optimizer}") or rows.get(BASELINE)


def _guess(name: str, row: ScoreRow, cases: Sequence[ScoreRow]) -> Level:
    if name != "prior_random":
        return "高" if name == "always_high" else "中"
    golds = [case.details["gold"] for case in cases]
    prior: dict[Level, float] = {level: golds.count(level) / len(golds) for level in LEVELS}
    return draw_level(prior, int(row.details.get("seed") or 0), row.sample_id)


def _trivial_row(row: ScoreRow, level: Level) -> ScoreRow:
    gold: Level = row.details["gold"]
    right = float(gold == level)
    off = row.details["verifier"] == "off"
    scores: dict[str, float | None] = {
        "accuracy": right,
        "weighted_accuracy": WEIGHTS[LEVELS.index(gold)][LEVELS.index(level)],
        "parse_rate": 1.0,
        "task_success_rate": None if off else 0.0,
        "task_success_lenient": None if off else float(right and level == "低"),
        "evidence_coverage": None if off or level == "低" else 0.0,
    }
    kept = ("gold", "contract_type", "verifier", "seed")
    details = {**{name: row.details.get(name) for name in kept}, "pred": level, "trivial": True, "parsed": True}
    return ScoreRow(
        row.sample_id, "ok", scores, {**details, "evidence": None if off else [], "laws": []}, None, row.cluster
    )


def _right(rows: Sequence[ScoreRow]) -> dict[str, bool]:
    return {row.sample_id: row.scores.get("accuracy") == 1.0 for row in rows if row.status != "skipped"}
