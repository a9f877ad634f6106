"""Checks the files of a run's own folder: they are rendered again by the code that publishes, and compared."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from seedbed.errors import UserError
from seedbed.phases.context import SweepRun
from seedbed.phases.labels import labels_path
from seedbed.phases.publish import FILES, about_sweep, manifest_digest, read_choices, render, result_hashes
from seedbed.phases.verification.checker import Checker
from seedbed.phases.verification.report_page import check_pack, check_page, other_drawing
from seedbed.report.canvas import cjk_font
from seedbed.report.sample_packs import FOLDER, read_sheet
from seedbed.storage.appended import whole_lines
from seedbed.storage.paths import read_bytes
from seedbed.storage.redact import redact
from seedbed.storage.store import read_json
from seedbed.sweep.manifest import MADE_WITH, package_versions

_FIXED = ("plan.json", "run.json", "ran.json", "manifest.json")
_AS_MADE = (*MADE_WITH, "cjk_font")


@dataclass(frozen=True, slots=True)
class Accounted:
    """What a ledger says of a sweep."""

    costs: Sequence[Mapping[str, Any]]
    answerers: Sequence[Mapping[str, Any]]
    calls: Sequence[float] | None
    """When the first call was made and the last one ended."""


def check_published(
    check: Checker,
    run: SweepRun,
    accounted: Accounted,
    finished: set[str],
    *,
    with_cases: bool,
) -> None:
    """Summary, tables, drawings, report and manifest of a run."""
    manifest = run.folder / "manifest.json"
    stored = read_json(manifest)
    choices = read_choices(run.folder)
    failures = _failures(check, run, finished, stored["status"])
    about = about_sweep(run.plan, stored["status"], choices) | {k: stored[k] for k in _AS_MADE if k in stored}
    about |= {"run": run.folder.name, "calls": accounted.calls, "answerers": list(accounted.answerers)}
    if "labels" in stored:
        about["labels"] = _labels(check, run, stored["labels"])
    _check_manifest(check, run, stored, about)
    rendered = render(run.store, run.plan, accounted.costs, failures, about, choices)
    _check_names(check, manifest, stored, rendered, list(result_hashes(run.store, run.plan)))
    drawn_elsewhere = _drawn_elsewhere(stored)
    for name, expected in rendered.items():
        file = run.folder / name
        with check.reading(file):
            if name.startswith("plots/"):
                _check_drawing(check, file, expected, drawn_elsewhere)
            elif isinstance(expected, bytes):
                _check_samples(check, file, expected, with_cases=with_cases)
            else:
                assert isinstance(expected, str)
                _check_text(check, file, redact(expected), with_cases, drawn_elsewhere)
    _check_others(check, run, rendered, with_cases=with_cases)


def _labels(check: Checker, run: SweepRun, used: Mapping[str, Any]) -> Mapping[str, Any]:
    """The part of the labels that the report was made with, as it is now."""
    path = labels_path(run.store, run.plan.config.name)
    data = whole_lines(path, used["bytes"])
    now = {"bytes": len(data), "sha256": hashlib.sha256(data).hexdigest()}
    if now != dict(used):
        check.differ(path, "is not what the report was made with: lines have been changed or are missing")
    if len(whole_lines(path)) > len(data):
        check.left_out("labels that were given after the report was written; `seedbed report` puts them in")
    check.left_out("whether raters gave the labels that labels.jsonl holds")
    check.files.add(check.name(path))
    return now


def _failures(check: Checker, run: SweepRun, finished: set[str], status: str) -> dict[str, str]:
    """Why cells have no result, as the run says; each must be a cell that has none."""
    path = run.folder / "summary.json"
    titles = {cell.title: cell.id for cell in run.plan.cells}
    failures: dict[str, str] = {}
    with check.reading(path):
        for entry in read_json(path)["missing"]:
            if entry["cell"] not in titles:
                check.differ(path, f"missing names {entry['cell']!r}, which is no cell of this sweep")
            elif titles[entry["cell"]] in finished:
                check.differ(path, f"missing names {entry['cell']!r}, which has a result")
            else:
                failures[titles[entry["cell"]]] = entry["reason"]
    for cell in run.plan.cells:
        if cell.id not in finished and cell.id not in failures:
            check.differ(path, f"says nothing of {cell.title!r}, which has no whole result here")
    if failures:
        check.left_out("why cells have no result: the reasons are as the run gives them")
        if status == "completed":
            check.differ(
                run.folder / "manifest.json", f"status is 'completed', but {len(failures)} cells have no result"
            )
    return failures


def _check_manifest(check: Checker, run: SweepRun, stored: Mapping[str, Any], about: Mapping[str, Any]) -> None:
    path = run.folder / "manifest.json"
    if stored.get("digest") != manifest_digest(stored):
        check.differ(path, "has changed since it was written (its hash differs)")
    told = {k: v for k, v in stored.items() if k not in ("schema_version", "digest", "files", "results")}
    check.compare(path, told, about)
    for name, expected in stored["files"].items():
        check.hashed(run.folder / name, expected)
    for name, expected in stored["results"].items():
        check.hashed(run.store.root / name, expected)
    for name in ("summary.json", *FILES, "report.html"):
        if not (run.folder / name).exists():
            check.differ(run.folder / name, "is missing")


def _check_names(
    check: Checker, path: Path, stored: Mapping[str, Any], rendered: Mapping[str, Any], results: Sequence[str]
) -> None:
    """A hash for every file; who takes one out of the list could change its file."""
    fixed = [name for name in _FIXED[:3] if (path.parent / name).exists()]
    for at, names in (("files", [*fixed, *rendered]), ("results", results)):
        for name in names:
            if name not in stored[at]:
                check.differ(path, f"{at} does not name {name}")
        check.figures += len(names)


def _check_text(check: Checker, file: Path, expected: str, with_cases: bool, drawn_elsewhere: str | None) -> None:
    published = read_bytes(file).decode()
    if file.name == "report.html":
        check_page(check, file, published, expected, with_cases=with_cases, drawn_elsewhere=drawn_elsewhere)
    elif file.suffix == ".json":
        check.compare(file, json.loads(published), json.loads(expected))
    else:
        check.text(file, published, expected)


def _check_drawing(check: Checker, file: Path, expected: str | bytes, drawn_elsewhere: str | None) -> None:
    published = read_bytes(file)
    if isinstance(expected, bytes):
        told = None if published == expected else "is another picture than the stored rows give"
    else:
        told = other_drawing(published.decode(), redact(expected))
    check.figures += 1
    check.files.add(check.name(file))
    if told is not None and drawn_elsewhere is not None:
        check.left_out(f"drawings that differ from those made here: {drawn_elsewhere}")
    elif told is not None:
        check.differ(file, told)


def _check_samples(check: Checker, file: Path, expected: bytes, *, with_cases: bool) -> None:
    if with_cases:
        check_pack(check, file, read_sheet(read_bytes(file).decode()), read_sheet(expected.decode()))


def _drawn_elsewhere(stored: Mapping[str, Any]) -> str | None:
    """What makes drawings of the same figures look otherwise here; None where they must be the same."""
    here = dict(package_versions()).get("matplotlib")
    then = stored.get("packages", {}).get("matplotlib")
    if then != here:
        return f"they were drawn with matplotlib {then}, here is {here}"
    if stored.get("cjk_font") != cjk_font():
        return f"they were drawn with the font {stored.get('cjk_font')!r}, here is {cjk_font()!r}"
    return None


def _check_others(check: Checker, run: SweepRun, rendered: Mapping[str, Any], *, with_cases: bool) -> None:
    others = [name for name in _names(run.folder) if name not in rendered and name not in _FIXED]
    made = ("plots/", f"{FOLDER}/")
    for name in others:
        if name.startswith(made) and with_cases:
            what = "drawing" if name.startswith("plots/") else "pack of samples"
            check.differ(run.folder / name, f"is not expected: the stored rows give no such {what}")
    loose = [name for name in others if not name.startswith(made)]
    if loose:
        check.left_out(f"files in the run's folder that a report does not consist of: {', '.join(loose)}")


def _names(folder: Path) -> Iterator[str]:
    for path in sorted(folder.rglob("*")):
        if path.is_file():
            yield path.relative_to(folder).as_posix()


def missing_cases(run: SweepRun) -> dict[tuple[int, str], str]:
    """Benchmarks of the plan whose cases cannot be read here, by experiment and label, and why."""
    found: dict[tuple[int, str], str] = {}
    for cell in run.plan.cells:
        key = (cell.experiment, cell.benchmark)
        if key not in found:
            try:
                run.plan.benchmark(cell)
            except (OSError, UserError) as error:
                found[key] = str(error)
    return found
