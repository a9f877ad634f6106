"""Results that somebody sent: a folder, a zip file or a prefix of object storage, opened without touching them."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from importlib.machinery import all_suffixes
from pathlib import Path
from typing import Any

import yaml

from seedbed.errors import UserError
from seedbed.lm.ledger.database import sqlite_url
from seedbed.phases.archive import CONFIG, INDEX, LEDGER, Archive, moved, read_archive
from seedbed.phases.context import SweepRun, read_run
from seedbed.phases.fetched import fetch_results
from seedbed.storage.objects import download, download_folder, subfolders
from seedbed.storage.paths import as_path, as_root, is_local
from seedbed.storage.store import Store
from seedbed.storage.zipfiles import unpack


@dataclass(frozen=True)
class Received:
    """A run, and the archive it came in."""

    run: SweepRun
    archive: Archive | None = None


@contextmanager
def received(text: str, out: str, *, trust_plugins: bool = False) -> Iterator[Received]:
    """The run that a path or a name stands for. Code that came with it is imported only if that is wished; what is
    unpacked or fetched lies in a folder that goes away again."""
    with ExitStack() as stack:
        own = _is_name(text)
        path = Store(as_root(out)).latest_sweep(text) if own else _place(text)
        if path.is_file():
            folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="seedbed-")))
            local = path if is_local(path) else download(path, folder / "zip")
            path = folder / "unpacked"
            unpack(local, path)
            if not (path / INDEX).exists():
                raise UserError(f"{text}: holds no {INDEX}; give a file made by `seedbed export SWEEP --archive`.")
        if (path / INDEX).exists():
            yield _archived(path, trust_plugins)
            return
        run_folder = _newest_run(path, text)
        if is_local(run_folder):
            yield Received(_read(run_folder, own or trust_plugins))
        else:
            folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="seedbed-")))
            yield Received(_fetched(run_folder, folder, own or trust_plugins))


def _is_name(text: str) -> bool:
    """Whether a text is the name of a sweep, whose results are one's own, and no path. A folder that happens to have
    the name of a sweep is meant only if it holds results."""
    if "/" in text or text.endswith(".zip"):
        return False
    return not any((Path(text) / mark).exists() for mark in ("plan.json", "sweeps", INDEX))


def _place(text: str) -> Path:
    path = as_root(text) if "://" in text else as_path(text).resolve()
    if not path.exists():
        raise UserError(f"{text}: there is no such file or folder; give a sweep's name, a folder or a zip file.")
    return path


def _newest_run(path: Path, text: str) -> Path:
    """A folder may be that of a run, of a sweep, or of all results if they hold one sweep."""
    if (path / "plan.json").exists():
        return path
    if names := Store(path).sweeps():
        if len(names) > 1:
            raise UserError(f"{text}: holds the sweeps {', '.join(names)}; give one of {text}/sweeps/NAME.")
        return Store(path).latest_sweep(names[0])
    runs = [name for name in subfolders(path) if (path / name / "plan.json").exists()]
    if runs:
        return path / runs[-1]
    raise UserError(f"{text}: no run of a sweep (plan.json is missing); give a sweep's name or its run's folder.")


def _archived(folder: Path, trust_plugins: bool) -> Received:
    with _opening(folder, trust_plugins):
        archive = read_archive(folder)
        told = str(archive.index["run"])
        run = (folder / told).resolve()
        if not run.is_relative_to(folder.resolve()) or not (run / "plan.json").exists():
            raise UserError(f"{INDEX}: field run names {told!r}, where no run lies; ask for the archive again.")
        found = read_run(
            run,
            folder / CONFIG,
            plugins_beside=trust_plugins,
            moved=moved(archive.data),
            ledger=sqlite_url(folder / LEDGER),
        )
    _check_trust(found, trust_plugins)
    return Received(found, archive)


def _read(folder: Path, trusted: bool) -> SweepRun:
    with _opening(folder, trusted):
        run = read_run(folder, plugins_beside=trusted)
    _check_trust(run, trusted)
    return run


def _check_trust(run: SweepRun, trusted: bool) -> None:
    """Programs are not started to check what they answered; scorers score again."""
    if not trusted:
        _refuse_code(run.folder.name, run.plan.config.model_dump(mode="json", include={"experiments"}), "scorers")


@contextmanager
def _opening(folder: Path, trusted: bool) -> Iterator[None]:
    """What is wrong with the files that a check starts from is told in one sentence."""
    try:
        yield
    except (ValueError, LookupError, TypeError) as error:
        told = " ".join(f"{type(error).__name__}: {error}".split())[:300]
        raise UserError(f"{folder}: is no whole run of a sweep ({told}); ask for it again.") from None
    except UserError as error:
        if trusted or not str(error).startswith("plugins:"):
            raise
        told = "Code that came with results is run only with --trust-plugins: read it first."
        raise UserError(f"{error} {told}") from None


def _fetched(remote: Path, folder: Path, trust_plugins: bool) -> SweepRun:
    """A copy, on this disk, of a run that lies on object storage: its files, its cells, its groups."""
    root = remote.parent.parent.parent
    local = folder / "sweeps" / remote.parent.name / remote.name
    download_folder(remote, local)
    run = _read(local, trust_plugins)
    fetch_results(Store(root), run.plan, run.store)
    if run.plan.config.ledger is None and (root / "ledger.sqlite").exists():
        download(root / "ledger.sqlite", folder)
    return run


def unpack_to_run(text: str, out: str | None, *, trust_plugins: bool) -> Path:
    """Lay out what a run needs of an archive, config and ledger, in a new folder; returns the path of the config."""
    if out is None:
        raise UserError(f"{text}: an archive is run in a new folder; name it with --out.")
    root = as_root(out)
    if not is_local(root) or subfolders(root):
        raise UserError(f"--out {out}: an archive is run in a new folder of this machine; name another.")
    with tempfile.TemporaryDirectory(prefix="seedbed-") as place:
        folder = _place(text)
        if folder.is_file():
            unpack(folder, Path(place), (INDEX, f"{CONFIG}/", LEDGER))
            folder = Path(place)
        archive = read_archive(folder)
        config = Path(archive.index["config"])
        if config.parent != Path(CONFIG) or not (folder / config).exists():
            raise UserError(f"{INDEX}: field config names {str(config)!r}, where no config lies; ask for it again.")
        if not trust_plugins:
            told = yaml.safe_load((folder / config).read_text(encoding="utf-8")) or {}
            for where in _CODE:
                _refuse_code(text, told, where)
        for path in sorted((folder / CONFIG).rglob("*")):
            if path.is_file() and (trust_plugins or not path.name.endswith(tuple(all_suffixes()))):
                target = root / CONFIG / path.relative_to(folder / CONFIG)
                target.parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(path, target)
        shutil.copyfile(folder / LEDGER, root / "ledger.sqlite")
    return root / config


_CODE = {
    "systems": ("command", "systems that are programs"),
    "scorers": ("code", "scorers that are functions in files"),
}
"""Where a config names code that is no plugin."""


def _refuse_code(text: object, config: Mapping[str, Any], where: str) -> None:
    option, what = _CODE[where]
    entries = [entry for experiment in config.get("experiments") or [] for entry in experiment.get(where) or []]
    named = [entry[option] for entry in entries if isinstance(entry, dict) and entry.get(option)]
    if any(not str(code).startswith("python:") for code in named):
        told = "which are run only with --trust-plugins: read them first"
        raise UserError(f"{text}: has {what} ({option}:), {told}.")


def is_archive(text: str) -> bool:
    """Whether a path is that of an archive, packed or unpacked."""
    return text.endswith(".zip") or (Path(text) / INDEX).is_file()
