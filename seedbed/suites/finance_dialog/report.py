"""This suite's part of a report: the table of figures with intervals, counts, slices, worst turns, one drawing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from seedbed.analysis.means import mean
from seedbed.suite import CellResult, Figure, Table
from seedbed.suites.finance_dialog.detect import MINOR, SEVERE
from seedbed.suites.finance_dialog.figures import draw
from seedbed.suites.finance_dialog.pooled import RESAMPLES, Pooled, pool, quotient
from seedbed.suites.finance_dialog.tallies import M1, M2, M3, M4, M5, METRICS

REPORTED: tuple[tuple[str, str, str], ...] = (
    ("M1 key coverage", M1, "key_coverage"),
    ("M1 strict key hit rate", M1, "strict_key_hit_rate"),
    ("M1 contradiction rate", M1, "contradiction_rate"),
    ("M2 profile score", M2, "profile_score"),
    ("M2 risk level acc", M2, "risk_level_acc"),
    ("M2 horizon acc", M2, "horizon_acc"),
    ("M2 liquidity acc", M2, "liquidity_acc"),
    ("M3 risk coverage", M3, "risk_coverage"),
    ("M3 strict risk coverage rate", M3, "strict_risk_coverage_rate"),
    ("M4 compliance label acc", M4, "compliance_label_acc"),
    ("M4 severe violation rate", M4, "severe_violation_rate"),
    ("M5 rubric hit rate", M5, "rubric_hit_rate"),
    ("M5 judge score mean", M5, "judge_score_mean"),
)
HEADLINES: Mapping[str, str] = {
    M1: "key_coverage",
    M2: "profile_score",
    M3: "risk_coverage",
    M4: "compliance_label_acc",
    M5: "rubric_hit_rate",
}
_WORST = 5
_SYSTEM = ("benchmark", "model", "system")


def report(cells: Sequence[CellResult]) -> Sequence[Table | Figure]:
    """Nothing for no cells."""
    systems = pool(cells)
    if not systems:
        return []
    parts: list[Table | Figure] = [_figures_table(systems), draw(systems, HEADLINES), _counts_table(systems)]
    parts += [_slices(systems, "difficulty"), _slices(systems, "scenario_type"), _worst_table(systems)]
    if any(system.m1_ignored for system in systems):
        parts.append(_appendix(systems))
    return parts


def _figures_table(systems: Sequence[Pooled]) -> Table:
    rows = [
        [*system.name, *(_with_interval(system, metric, name) for _, metric, name in REPORTED)] for system in systems
    ]
    notes = [
        "Micro figures, means over seeds, with the 95% intervals of the suite's table; what is not in that table has "
        f"{RESAMPLES} bootstrap resamples of whole dialogues, all seeds of one together. Denominators differ from "
        "metric to metric: compare down a column, not along a row.",
        'M4 label accuracy is agreement with the label of the reference reply, which is not always "compliant".',
    ]
    if any((system.availability(m) or 1.0) < 1 for system in systems for m in METRICS):
        notes.append("* leaves failed turns out: read it with availability and the penalised figure of the next table.")
    if any(system.m1_ignored for system in systems):
        notes.append(
            "M1 is '-' where a system without memory was scored with its memory_required_keys_gt emptied "
            "(m1_handling: ignored_memory_required_keys); its M1 with the keys is in the appendix."
        )
    return Table("Figures", [*_SYSTEM, *(title for title, _, _ in REPORTED)], rows, " ".join(notes))


def _with_interval(system: Pooled, metric: str, name: str) -> str | None:
    figure = system.figure(metric, quotient(metric, name))
    if figure.mean is None:
        return None
    digits = 2 if name == "judge_score_mean" else 3
    mark = "*" if (system.availability(metric) or 1.0) < 1 else ""
    known = figure.low is not None and figure.high is not None
    around = f" [{figure.low:.{digits}f}, {figure.high:.{digits}f}]" if known else ""
    return f"{figure.mean:.{digits}f}{mark}{around}"


def _counts_table(systems: Sequence[Pooled]) -> Table:
    rows: list[list[str | float | int | None]] = []
    for system in systems:
        for metric in METRICS:
            sums = system.sums(metric)
            eligible, failed = int(sums.get("turns", 0)), int(sums.get("failed", 0))
            skipped = int(sums.get("rows", 0)) - eligible - failed
            figure = quotient(metric, HEADLINES[metric])
            plain, penalised = figure.value(sums), figure.penalised(sums)
            rows.append(
                [*system.name, _short_name(metric), eligible, skipped, failed, _short(system.availability(metric)),
                 _words(figure.name), _short(plain), _short(penalised), len(system.seeds)]
            )  # fmt: skip
    note = (
        "Turns (M2: dialogues), all seeds together: eligible + skipped + failed = rows. Availability: the share "
        "answered of those that had something to fulfil. Penalised: failed turns keep their requirement with no hit."
    )
    columns = [*_SYSTEM, "metric", "eligible", "skipped", "failed", "availability", "figure",
               "plain", "penalised", "seeds"]  # fmt: skip
    return Table("Counts and availability", columns, rows, note)


def _slices(systems: Sequence[Pooled], field: str) -> Table:
    rows: list[list[str | float | int | None]] = []
    for system in systems:
        groups: dict[str, list[str]] = {}
        for dialog, details in system.dialogues.items():
            groups.setdefault(str(details[0].get(field) or "-"), []).append(dialog)
        for value, dialogues in sorted(groups.items()):
            turns = int(system.sums(M4, dialogues).get("rows", 0))
            figures = [_short(system.value(m, quotient(m, name), dialogues)) for m, name in HEADLINES.items()]
            rows.append([*system.name, value, len(dialogues), turns, *figures])
    columns = [
        *_SYSTEM,
        _words(field),
        "dialogues",
        "turns",
        *(f"{_short_name(m)} {_words(n)}" for m, n in HEADLINES.items()),
    ]
    note = "Turns of all seeds. Few dialogues a slice: read n before the figure."
    return Table(f"By {_words(field)}", columns, rows, note)


def _worst_table(systems: Sequence[Pooled]) -> Table:
    rows = [
        [*system.name, _short_name(metric), ", ".join(pointers) or None]
        for system in systems
        for metric in METRICS
        for pointers in [_worst(system, metric)]
    ]
    note = (
        "dialog_id/turn_pair_id (score from 0 to 1, mean over seeds), worst first; M2 names dialogues. "
        "Look the turn up in the cell's turn_eval.jsonl and dialog_trace.jsonl. "
        "Turns that got everything right, or failed, are not listed."
    )
    return Table(f"Worst {_WORST} turns a metric", [*_SYSTEM, "metric", "turns"], rows, note)


def _worst(system: Pooled, metric: str) -> list[str]:
    """A turn that several seeds met is one turn, with the mean of its scores."""
    scores: dict[str, list[tuple[float, int]]] = {}
    if metric == M2:
        figure = quotient(M2, "profile_score")
        for dialog in system.dialogues:
            value = figure.value(system.sums(M2, [dialog]))
            scores[dialog] = [(value, 1)] if value is not None else []
    else:
        for row in system.turns:
            if row[f"eligible_{metric.partition('_')[0]}"]:
                scores.setdefault(f"{row['dialog_id']}/{row['turn_pair_id']}", []).append(_turn_score(metric, row))
    averaged = [(mean([score for score, _ in own]), -own[0][1], name) for name, own in scores.items() if own]
    found = sorted((score, weight, name) for score, weight, name in averaged if score is not None and score < 1)
    return [f"{name} ({score:.2f})" for score, _, name in found[:_WORST]]


def _turn_score(metric: str, row: Mapping[str, Any]) -> tuple[float, int]:
    """How much of its due a turn got, from 0 to 1, and how much was due."""
    if metric == M1:
        return sum(row["key_hit_flags"]) / len(row["key_hit_flags"]), len(row["key_hit_flags"])
    if metric == M3:
        return row["risk_tag_hits"] / len(row["risk_required_tags"]), len(row["risk_required_tags"])
    if metric == M5:
        return len(row["rubric_hit_items"]) / len(row["rubric_required"]), len(row["rubric_required"])
    label = row["pred_compliance_label"]
    if label in (SEVERE, MINOR):
        return (0.0 if label == SEVERE else 0.25), 1
    return (1.0 if label == row["gt_compliance_label"] else 0.75), 1


def _appendix(systems: Sequence[Pooled]) -> Table:
    names = ("key_coverage", "strict_key_hit_rate", "contradiction_rate")
    rows = [
        [
            *system.name,
            *(_short(mean([m["micro"][n] for m in system.appendix if m["micro"][n] is not None])) for n in names),
        ]
        for system in systems
        if system.m1_ignored
    ]
    note = "What M1 would be had the memory keys not been ignored; the mean over seeds."
    return Table("Appendix: M1 of systems without memory", [*_SYSTEM, *map(_words, names)], rows, note)


def _short(value: float | None) -> float | None:
    return None if value is None else round(value, 3)


def _short_name(metric: str) -> str:
    """M1 of m1_context_continuity."""
    return metric.partition("_")[0].upper()


def _words(name: str) -> str:
    return name.replace("_", " ")
