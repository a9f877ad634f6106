"""The supplement of a paper: a sweep's run with all it stands on, in one zip that anybody can verify and replay."""

from __future__ import annotations

import hashlib
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from seedbed.errors import UserError
from seedbed.lm.ledger.extract import extract_ledger
from seedbed.lm.ledger.read_only import ledger_to_read
from seedbed.phases.context import SweepRun
from seedbed.phases.labels import labels_path
from seedbed.storage.hashing import hash_file
from seedbed.storage.objects import staged
from seedbed.storage.paths import is_hub, is_local
from seedbed.storage.redact import redact
from seedbed.storage.store import json_text, read_json
from seedbed.storage.zipfiles import pack
from seedbed.sweep.cell import Cell
from seedbed.sweep.code import user_files
from seedbed.sweep.plan import Plan, as_written

INDEX = "archive.json"
RESULTS = "results"
CONFIG = "config"
LEDGER = f"{RESULTS}/ledger.sqlite"
_README = """\
Results of the sweep {name}, made with Seedbed {version}.

    seedbed verify THIS.zip                              every published figure again, from rows and ledger
    seedbed run THIS.zip --replay --out NEW_FOLDER       every answer again, from the ledger: no key, no network

config/        the sweep's config, with code and data of its maker's where it needs them
results/       as the sweep left them: report.html and tables in sweeps/, cells in experiment_runs/, and of the ledger
               the rows of this sweep
archive.json   every file with its hash, and the hash of the data that each benchmark was read from
"""


@dataclass(frozen=True, slots=True)
class Archived:
    """What went into an archive."""

    n_files: int
    n_attempts: int
    code: list[str]
    """Files of the user's own code in it."""
    left_out: list[str]
    """Benchmarks whose data a replay needs and the archive does not hold."""


@dataclass(frozen=True, slots=True)
class Data:
    """What a benchmark of the sweep was read from."""

    suite: str
    benchmark: str
    sha256: str | None
    ships: bool
    """Whether it comes with Seedbed or with the user's code."""
    path: str | None
    """As the config has it."""
    file: str | None
    """Where it lies in the archive, if it does."""
    source: Path | None = None
    """Where it lies on this machine."""

    def to_json(self) -> dict[str, Any]:
        names = ("suite", "benchmark", "sha256", "ships", "path", "file")
        return {name: getattr(self, name) for name in names}


@dataclass(frozen=True, slots=True)
class Archive:
    """An archive as it lies unpacked in a folder."""

    folder: Path
    index: Mapping[str, Any]
    data: Sequence[Data]


def write_archive(run: SweepRun, target: Path, *, with_data: bool = False) -> Archived:
    """Pack a run: its published files, its cells, its part of the ledger, its config and the user's own code. Data of
    the user's only `with_data`; what ships with Seedbed never, since every reader has it. Equal runs give equal bytes.
    """
    if not (run.folder / "manifest.json").exists():
        raise UserError(f"{run.folder}: has no manifest.json; write one with `seedbed report` first.")
    if not is_local(run.store.root):
        raise UserError(f"{run.store.root}: archives are made from folders; copy the results to a disk first.")
    data = list(_data(run, with_data=with_data))
    code = {**user_files(run.plan.config.plugins), **_program_files(run.plan), **_scorer_files(run.plan)}
    members: dict[str, Path | bytes] = {**_results(run), **_code(code)}
    for entry in data:
        members |= dict(_data_files(entry))
    with tempfile.TemporaryDirectory(prefix="seedbed-") as folder, ledger_to_read(run.ledger_url) as engine:
        ledger = Path(folder) / "ledger.sqlite"
        attempts = extract_ledger(engine, run.plan.config.name, [cell.id for cell in run.plan.cells], ledger)
        members[LEDGER] = ledger
        members |= {name: text.encode() for name, text in described(run, Archive(run.folder, {}, data)).items()}
        members[INDEX] = json_text(_index(run, data, code, members)).encode()
        with staged(target) as partial:
            pack(partial, members)
    return Archived(len(members), attempts, sorted(code), _needed(data))


def moved(data: Iterable[Data]) -> dict[str, str]:
    """Where the files that a config names lie in an archive, seen from its config."""
    return {entry.path: entry.file.removeprefix(f"{CONFIG}/") for entry in data if entry.path and entry.file}


def read_archive(folder: Path) -> Archive:
    """An archive that was unpacked into a folder."""
    index = read_json(folder / INDEX)
    try:
        return Archive(folder, index, [Data(**entry) for entry in index["data"]])
    except (LookupError, TypeError) as error:
        raise UserError(
            f"{INDEX}: is not what `seedbed export --archive` writes ({error}); ask for it again."
        ) from None


def described(run: SweepRun, archive: Archive) -> dict[str, str]:
    """The files of an archive that are written from its run, as they must be."""
    needed = _needed(archive.data)
    made_with = read_json(run.folder / "manifest.json").get("packages", {})
    return {
        f"{CONFIG}/{run.plan.config.name}.yaml": _config(run.plan, moved(archive.data)),
        "README.txt": _readme(run.plan.config.name, made_with, needed),
    }


def _results(run: SweepRun) -> dict[str, Path]:
    """All files of the run, its cells and its groups, under their names in the archive."""
    folders = [run.folder, *(run.store.cell_dir(cell) for cell in run.plan.cells)]
    folders += [run.store.group_dir(group) for group in run.plan.groups()]
    if any(cell.in_looks for cell in run.plan.cells):
        folders.append(run.store.looks_dir(run.plan.config.name))
    found: dict[str, Path] = {}
    for folder in folders:
        for path in sorted(folder.rglob("*")):
            if path.is_file() and not path.name.startswith("."):
                found[f"{RESULTS}/{path.relative_to(run.store.root).as_posix()}"] = path
    labels = labels_path(run.store, run.plan.config.name)
    if labels.exists():
        found[f"{RESULTS}/{labels.relative_to(run.store.root).as_posix()}"] = labels
    return found


def _program_files(plan: Plan) -> dict[str, Path]:
    """What the programs are made of that systems start."""
    codes = [getattr(plan.resolve(cell).system_options, "code", None) or {} for cell in plan.cells]
    return {name: plan.config_dir / name for code in codes for name in code}


def _scorer_files(plan: Plan) -> dict[str, Path]:
    """What scorers are made of that are functions in files."""
    options = [scorer.options for cell in plan.cells for scorer in plan.resolve(cell).scorers]
    return {name: path for own in options for name, path in getattr(own, "own_files", {}).items()}


def _code(files: Mapping[str, Path]) -> dict[str, bytes]:
    found: dict[str, bytes] = {}
    for name, path in files.items():
        text = path.read_text(encoding="utf-8")
        if redact(text) != text:
            raise UserError(f"{path}: holds a secret and would be part of the archive; read it from the environment.")
        found[f"{CONFIG}/{name}"] = text.encode()
    return found


def _data(run: SweepRun, *, with_data: bool) -> Iterator[Data]:
    taken: dict[str, str] = {}
    first: dict[tuple[int, str], Cell] = {}
    for cell in run.plan.cells:
        first.setdefault((cell.experiment, cell.benchmark), cell)
    for cell in first.values():
        resolved = run.plan.resolve(cell)
        configured = resolved.benchmark_options.path
        path = None if configured is None else str(configured)
        ships = path is None
        if path is not None and with_data and path not in taken:
            if is_hub(resolved.data):
                raise UserError(f"{path}: lies in a cache; to have it in the archive, save it to disk.")
            if not resolved.data.exists():
                raise UserError(f"{resolved.data}: is not there, so it cannot go into the archive; bring it back.")
            taken[path] = f"{CONFIG}/data/{len(taken) + 1}/{resolved.data.name}"
        manifest = run.store.cell_dir(cell) / "manifest.json"
        known = read_json(manifest)["data_hash"] if manifest.exists() else None
        file = taken.get(path) if path is not None else None
        yield Data(cell.suite, cell.benchmark, known, ships, path, file, resolved.data)


def _data_files(entry: Data) -> Iterator[tuple[str, Path]]:
    if entry.file is None or entry.source is None:
        return
    if entry.source.is_file():
        yield entry.file, entry.source
        return
    for path in sorted(entry.source.rglob("*")):
        if path.is_file():
            yield f"{entry.file}/{path.relative_to(entry.source).as_posix()}", path


def _config(plan: Plan, places: Mapping[str, str]) -> str:
    """The config as a YAML file for another machine: cells on threads, ledger beside the results, data in the
    archive."""
    left = {"out", "ledger", "runner"}
    data = as_written(plan).model_dump(mode="json", exclude=left, exclude_defaults=True)
    for experiment in data["experiments"]:
        for benchmark in experiment["benchmarks"]:
            if benchmark.get("path") in places:
                benchmark["path"] = places[benchmark["path"]]
    return yaml.safe_dump(data, sort_keys=False, allow_unicode=True, width=110)


def _needed(data: Iterable[Data]) -> list[str]:
    """Benchmarks whose data a reader must have from elsewhere."""
    return [f"{entry.suite} · {entry.benchmark}" for entry in data if entry.file is None and not entry.ships]


def _readme(name: str, packages: Mapping[str, str], needed: Sequence[str]) -> str:
    text = _README.format(name=name, version=packages.get("seedbed", "(version unknown)"))
    if needed:
        text += f"\nNot in here: the data of {', '.join(needed)}. A replay needs it where config/*.yaml says.\n"
    return text


def _index(
    run: SweepRun, data: Sequence[Data], code: Mapping[str, Path], members: Mapping[str, Path | bytes]
) -> dict[str, Any]:
    return {
        "sweep": run.plan.config.name,
        "run": f"{RESULTS}/{run.folder.relative_to(run.store.root).as_posix()}",
        "config": f"{CONFIG}/{run.plan.config.name}.yaml",
        "code": sorted(f"{CONFIG}/{name}" for name in code),
        "data": [entry.to_json() for entry in data],
        "files": {
            name: hashlib.sha256(content).hexdigest() if isinstance(content, bytes) else hash_file(content)
            for name, content in sorted(members.items())
        },
    }
