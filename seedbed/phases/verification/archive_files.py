"""Checks an archive as a whole: its list of files, and what it says beside the run's own files."""

from __future__ import annotations

from seedbed.phases.archive import INDEX, RESULTS, Archive, described
from seedbed.phases.context import SweepRun
from seedbed.phases.verification.checker import Checker
from seedbed.storage.store import read_json


def check_archive(check: Checker, run: SweepRun, archive: Archive) -> None:
    """Every file is listed and as it was packed; config and data hashes are those of the run."""
    index, folder = archive.folder / INDEX, archive.folder
    with check.reading(index):
        for name, expected in archive.index["files"].items():
            check.hashed(folder / name, expected)
        listed = {*archive.index["files"], INDEX}
        for path in sorted(folder.rglob("*")):
            name = path.relative_to(folder).as_posix()
            if path.is_file() and name not in listed:
                check.differ(path, f"is not listed in {INDEX}")
        place = f"{RESULTS}/{run.folder.relative_to(run.store.root).as_posix()}"
        told = {"sweep": run.plan.config.name, "run": place, "config": f"config/{run.plan.config.name}.yaml"}
        check.compare(index, {name: archive.index[name] for name in told}, told)
        _check_data(check, run, archive)
        for name, expected in described(run, archive).items():
            with check.reading(folder / name):
                check.text(folder / name, (folder / name).read_text(encoding="utf-8"), expected)


def _check_data(check: Checker, run: SweepRun, archive: Archive) -> None:
    known: dict[tuple[str, str], str] = {}
    for cell in run.plan.cells:
        manifest = run.store.cell_dir(cell) / "manifest.json"
        if manifest.exists():
            known.setdefault((cell.suite, cell.benchmark), read_json(manifest)["data_hash"])
    told = {(entry.suite, entry.benchmark): entry.sha256 for entry in archive.data}
    for (suite, benchmark), expected in known.items():
        at = f"data: sha256 of {suite} · {benchmark}"
        check.compare(archive.folder / INDEX, told.get((suite, benchmark)), expected, at, "its cells were run on")
