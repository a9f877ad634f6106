"""Everything a sweep publishes, written in one pass over its cells: summary, plots, report, manifest."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from seedbed.analysis.results import MARGIN, Summary
from seedbed.phases.labels import labels_path, read_labels, used_labels
from seedbed.phases.looks import look_files
from seedbed.phases.summary import FILES, make_summary, summary_files
from seedbed.report.canvas import cjk_font
from seedbed.report.page import page
from seedbed.report.report_inputs import Part, file_name, parts, start
from seedbed.report.sample_list import MAX_SAMPLES
from seedbed.report.sample_packs import FOLDER
from seedbed.storage.hashing import hash_file, hash_json
from seedbed.storage.objects import subfolders
from seedbed.storage.store import Store, read_json, write_bytes, write_json, write_text
from seedbed.suite import GENERATE_TIMES, SCORE_TIMES, Table
from seedbed.sweep.manifest import manifest
from seedbed.sweep.plan import Plan

OF_PHASES = (
    *("cell.json", "config.json", "predictions.jsonl", "scores.jsonl", "metrics.json", "lm_history.jsonl"),
    *("manifest.json", "program.json", "candidates.jsonl", GENERATE_TIMES, SCORE_TIMES),
)
"""Files of a cell whose hashes the markers of its phases hold."""
_FIXED = ("plan.json", "run.json", "ran.json")
"""Files of a run that are there before anything is published."""


@dataclass(frozen=True)
class Choices:
    """What a reader may choose; kept in the manifest, so that `verify` computes the same."""

    baseline: str | None = None
    margin: float = MARGIN
    samples: int = MAX_SAMPLES


def publish(
    store: Store,
    plan: Plan,
    folder: Path,
    costs: Sequence[Mapping[str, Any]],
    failures: Mapping[str, str],
    status: str,
    choices: Choices = Choices(),  # noqa: B008
    answerers: Sequence[Mapping[str, Any]] = (),
    calls: Sequence[float] | None = None,
) -> list[Path]:
    """Write the files of a sweep's run; the manifest, which holds their hashes, last. `calls`: when the first one was
    made and the last one ended."""
    about = {**about_sweep(plan, status, choices), "run": folder.name, "calls": calls, "answerers": list(answerers)}
    if (used := used_labels(labels_path(store, plan.config.name))) is not None:
        about["labels"] = used
    made = render(store, plan, costs, failures, about, choices)
    for name, data in made.items():
        if isinstance(data, bytes):
            write_bytes(folder / name, data)
        else:
            write_text(folder / name, data)
    _drop_old(folder, made)
    _write_manifest(folder, {**about, "results": result_hashes(store, plan)}, list(made))
    return [folder / name for name in ("report.html", *(name for name in made if name != "report.html"))]


def render(
    store: Store,
    plan: Plan,
    costs: Sequence[Mapping[str, Any]],
    failures: Mapping[str, str],
    about: Mapping[str, Any],
    choices: Choices,
) -> dict[str, str | bytes]:
    """Every file that a run publishes beside its manifest, by its name below the run's folder: made from the stored
    rows and from what `about` says, and from nothing else. Nothing is written."""
    inputs = start(store, plan, choices.samples)
    labels = None
    if used := about.get("labels"):
        labels = read_labels(labels_path(store, plan.config.name), used["bytes"])
    summary = make_summary(
        store, plan, costs, failures, about["status"],
        baseline=choices.baseline, margin=choices.margin, watch=inputs.watch, answerers=about["answerers"],
        labels=labels,
    )  # fmt: skip
    inputs.book.close()
    made = parts(inputs, summary)
    return {
        **summary_files(summary),
        **_plots(made),
        **{name: text.encode() for name, text in inputs.book.packs.files().items()},
        "report.html": page(summary, inputs, made, about),
    }


def about_sweep(plan: Plan, status: str, choices: Choices) -> dict[str, Any]:
    """What the figures of a sweep were made with."""
    return {
        **manifest(
            cell_id="",
            config_hash=plan.config_hash,
            data_hash=hash_json(sorted(cell.id for cell in plan.cells)),
            simulated=plan.simulated,
        ),
        "sweep": plan.config.name,
        "status": status,
        "baseline": choices.baseline,
        "margin": choices.margin,
        "samples": choices.samples,
        "cjk_font": cjk_font(),
        "cells": [cell.id for cell in plan.cells],
    }


def read_choices(folder: Path) -> Choices:
    """The choices that the files of a run were written with."""
    data = read_json(folder / "manifest.json")
    return Choices(data.get("baseline"), data.get("margin", MARGIN), data.get("samples", MAX_SAMPLES))


def manifest_digest(data: Mapping[str, Any]) -> str:
    """The hash of a manifest without its own hash."""
    return hash_json({key: value for key, value in data.items() if key not in ("digest", "schema_version")})


def _write_manifest(folder: Path, about: Mapping[str, Any], files: Sequence[str]) -> None:
    fixed = [name for name in _FIXED if (folder / name).exists()]
    hashes = {name: hash_file(folder / name) for name in [*fixed, *files]}
    data = {**about, "files": hashes}
    write_json(folder / "manifest.json", {**data, "digest": manifest_digest(data)})


def result_hashes(store: Store, plan: Plan) -> dict[str, str]:
    """Hashes of what lies beside the cells and no marker of a phase knows: metrics of groups, a suite's own files."""
    paths = [store.group_dir(group) / "metrics.json" for group in plan.groups()]
    for cell in plan.cells:
        folder = store.cell_dir(cell)
        # Whatever has an ending is a file.
        paths += [folder / name for name in subfolders(folder) if "." in name and name not in OF_PHASES]
    paths += look_files(store, plan)
    root = f"{store.root}/"
    return {str(path).removeprefix(root): hash_file(path) for path in paths if path.exists()}


def _plots(made: Mapping[str, Sequence[Part]]) -> dict[str, str | bytes]:
    found: dict[str, str | bytes] = {}
    for suite, own in made.items():
        for part in own:
            if isinstance(part, Table):
                continue
            name = file_name(suite, part)
            found[f"plots/{name}.svg"] = part.svg
            if part.png:
                found[f"plots/{name}.png"] = part.png
    return found


def _drop_old(folder: Path, made: Mapping[str, Any]) -> None:
    """Drawings and packs of samples that are no longer part of the report."""
    for name in ("plots", FOLDER):
        if (folder / name).exists():
            for old in (folder / name).iterdir():
                if f"{name}/{old.name}" not in made:
                    old.unlink()


__all__ = [
    "FILES",
    "Choices",
    "Summary",
    "about_sweep",
    "manifest_digest",
    "publish",
    "read_choices",
    "render",
    "result_hashes",
]
