"""Everything a sweep publishes, written in one pass over its cells: summary, plots, report, manifest."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from seedbed.analysis.results import MARGIN, Summary
from seedbed.phases.summary import FILES, make_summary, write_summary
from seedbed.report.page import page
from seedbed.report.report_inputs import Part, file_name, parts, start
from seedbed.report.sample_list import MAX_SAMPLES
from seedbed.storage.hashing import hash_file, hash_json
from seedbed.storage.objects import subfolders
from seedbed.storage.store import Store, read_json, write_bytes, write_json, write_text
from seedbed.suite import GENERATE_TIMES, SCORE_TIMES, Table
from seedbed.sweep.manifest import manifest
from seedbed.sweep.plan import Plan

_OF_PHASES = (
    *("cell.json", "config.json", "predictions.jsonl", "scores.jsonl", "metrics.json", "lm_history.jsonl"),
    *("manifest.json", "program.json", "candidates.jsonl", GENERATE_TIMES, SCORE_TIMES),
)
"""Files of a cell whose hashes the markers of its phases hold."""


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
) -> list[Path]:
    """Write the files of a sweep's run; the manifest, which holds their hashes, last."""
    material = start(store, plan, choices.samples)
    summary = make_summary(
        store, plan, costs, failures, status,
        baseline=choices.baseline, margin=choices.margin, watch=material.watch, answerers=answerers,
    )  # fmt: skip
    material.book.close()
    made = parts(material, summary)
    files = [*write_summary(folder, summary), *_write_plots(folder, made)]
    about = {**about_sweep(plan, status, choices), "answerers": list(answerers)}
    report = folder / "report.html"
    write_text(report, page(summary, material, made, about))
    _write_manifest(folder, {**about, "results": _results(store, plan)}, [*files, report])
    return [report, *files]


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
        "cells": [cell.id for cell in plan.cells],
    }


def read_choices(folder: Path) -> Choices:
    """The choices that the files of a run were written with."""
    data = read_json(folder / "manifest.json")
    return Choices(data.get("baseline"), data.get("margin", MARGIN), data.get("samples", MAX_SAMPLES))


def published_files(folder: Path) -> list[str]:
    """Names of the files whose hashes the manifest holds."""
    return sorted(read_json(folder / "manifest.json").get("files", {}))


def manifest_digest(data: Mapping[str, Any]) -> str:
    """The hash of a manifest without its own hash."""
    return hash_json({key: value for key, value in data.items() if key not in ("digest", "schema_version")})


def _write_manifest(folder: Path, about: Mapping[str, Any], files: Sequence[Path]) -> None:
    fixed = [folder / name for name in ("plan.json", "run.json", "ran.json") if (folder / name).exists()]
    hashes = {str(path.relative_to(folder)): hash_file(path) for path in [*fixed, *files]}
    data = {**about, "files": hashes}
    write_json(folder / "manifest.json", {**data, "digest": manifest_digest(data)})


def _results(store: Store, plan: Plan) -> dict[str, str]:
    """Hashes of what lies beside the cells and no marker of a phase knows: metrics of groups, a suite's own files."""
    paths = [store.group_dir(group) / "metrics.json" for group in plan.groups()]
    for cell in plan.cells:
        folder = store.cell_dir(cell)
        # Whatever has an ending is a file.
        paths += [folder / name for name in subfolders(folder) if "." in name and name not in _OF_PHASES]
    root = f"{store.root}/"
    return {str(path).removeprefix(root): hash_file(path) for path in paths if path.exists()}


def _write_plots(folder: Path, made: Mapping[str, Sequence[Part]]) -> list[Path]:
    written: list[Path] = []
    plots = folder / "plots"
    for suite, own in made.items():
        for part in own:
            if isinstance(part, Table):
                continue
            name = file_name(suite, part)
            write_text(plots / f"{name}.svg", part.svg)
            written.append(plots / f"{name}.svg")
            if part.png:
                write_bytes(plots / f"{name}.png", part.png)
                written.append(plots / f"{name}.png")
    keep = {path.name for path in written}
    if plots.exists():
        for old in plots.iterdir():
            if old.name not in keep:
                old.unlink()
    return written


__all__ = [
    "FILES",
    "Choices",
    "Summary",
    "about_sweep",
    "manifest_digest",
    "publish",
    "published_files",
    "read_choices",
]
