"""What is said of answers that were cut off or could not be read: how many, the first of them, and what to do."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from seedbed.analysis.results import Row
from seedbed.analysis.score_table import ScoreTable
from seedbed.suites.kit.outcomes import UNREADABLE
from seedbed.sweep.model_config import ModelConfig

_LONGEST = 300


@dataclass
class FirstExamples:
    """The first example of either kind by model, gathered while the score tables pass by."""

    cut: dict[str, str] = field(default_factory=dict[str, str])
    unreadable: dict[str, str] = field(default_factory=dict[str, str])

    def watch(self, table: ScoreTable) -> None:
        model = table.key[2]
        if table.first_cut is not None:
            cell, sample = table.first_cut
            self.cut.setdefault(model, f"sample {sample!r} of {cell.title}")
        for cell, sample, status, reason in table.failures:
            if status == UNREADABLE:
                self.unreadable.setdefault(model, f"sample {sample!r} of {cell.title}: {_short(reason)}")
                break


def answer_notes(
    rows: Sequence[Row], costs: Sequence[Mapping[str, Any]], models: Mapping[str, ModelConfig], first: FirstExamples
) -> list[str]:
    """A sentence or two a model with such answers."""
    told = [*_cut_notes(costs, models, first.cut)]
    for model in dict.fromkeys(row.model for row in rows):
        own = [row for row in rows if row.model == model]
        if n := sum(row.n_unreadable for row in own):
            total = sum(row.n for row in own)
            remedy = _readable(model, models[model], cut=any(row.n_truncated for row in own))
            example = f" The first: {first.unreadable[model]}." if model in first.unreadable else ""
            told.append(
                f"{n} of {total} answers with model {model!r} could not be read and have the worst score; "
                f"{remedy}.{example}"
            )
    return told


def _cut_notes(
    costs: Sequence[Mapping[str, Any]], models: Mapping[str, ModelConfig], first: Mapping[str, str]
) -> Iterator[str]:
    for model in dict.fromkeys(row["model"] for row in costs if row.get("cut")):
        own = [row for row in costs if row["model"] == model and row["outcome"] in ("paid", "reused")]
        places = dict.fromkeys(f"{row['role']} in {row['phase']}" for row in own if row["cut"])
        limit = models[model].max_tokens if model in models else None
        at, do = ("the provider's own limit", "set") if limit is None else (f"max_tokens {limit}", "raise")
        example = f"; the first: {first[model]}" if model in first else ""
        yield (
            f"{sum(row['cut'] for row in own)} of {sum(row['calls'] for row in own)} answers of model {model!r} were "
            f"cut at {at} ({', '.join(places)}){example}: {do} models.{model}.max_tokens."
        )


def _readable(name: str, model: ModelConfig, *, cut: bool) -> str:
    if cut:
        return f"where they were cut off, raise models.{name}.max_tokens"
    if model.structured == "auto" and model.adapter == "chat":
        return f"`structured: schema` or `adapter: json` of models.{name} can help (docs/models.md)"
    return "the report has each with what was sent and what came back"


def _short(text: str) -> str:
    line = " ".join(text.split()).rstrip(".")
    return line if len(line) <= _LONGEST else line[: _LONGEST - 1] + "…"
