"""The report of a sweep that is not finished: what its finished cells tell so far, in a folder of its own.

It is made by a process of its own, which may import plugins and draw, from a shadow of the results folder: the cells
are links into it, and what is written (metrics of groups, tables, report) lies in the shadow. Nothing of the sweep is
touched.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

import seedbed
from seedbed.phases.context import SweepRun, config_folder
from seedbed.storage.paths import home
from seedbed.storage.store import read_json, write_json

_ENTRY = "import sys; sys.path.append(sys.argv.pop(1)); from seedbed.local.growing import main; main()"
_REST = 10.0
"""Between two reports of a run lies so many times what the last one took."""
_STATE = "state.json"


class Growing:
    """The report so far of one run; `look` is cheap and starts a new one where it is time."""

    def __init__(self, run: SweepRun) -> None:
        self.root = shadow_root(run.folder)
        self.folder = self.root / "sweeps" / run.folder.parent.name / run.folder.name
        self._run = run
        self._process: subprocess.Popen[bytes] | None = None
        self._began, self._rest_until, self._tried = 0.0, 0.0, 0

    def look(self, finished: int) -> dict[str, object]:
        """What there is: of how many cells, since when, and whether another is being made."""
        if self._process is not None and self._process.poll() is not None:
            self._rest_until = time.monotonic() + _REST * (time.monotonic() - self._began)
            self._process = None
        made = self._made()
        wanted = finished and finished not in (made.get("cells"), self._tried)
        if wanted and self._process is None and time.monotonic() > self._rest_until:
            self._start()
            self._tried = finished
        return {**made, "making": self._process is not None and finished != made.get("cells")}

    def close(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.wait()

    def _made(self) -> dict[str, object]:
        try:
            return json.loads((self.root / _STATE).read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return {}

    def _start(self) -> None:
        self._began = time.monotonic()
        library = str(Path(seedbed.__file__).resolve().parent.parent)
        self._process = subprocess.Popen(  # noqa: S603
            # Not from the current folder, which may hold other packages of our names.
            [sys.executable, "-P", "-c", _ENTRY, library, str(self._run.folder)],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )


def shadow_root(folder: Path) -> Path:
    """Where the report so far of a run is kept."""
    return home() / "growing" / hashlib.sha256(str(folder).encode()).hexdigest()[:16]


def main() -> None:
    """Make the report so far of the run whose folder is the argument."""
    from seedbed.phases.aggregate import finished_cells, publish_again
    from seedbed.phases.context import open_run
    from seedbed.phases.publish import Choices

    os.nice(10)
    folder = Path(sys.argv[1])
    root = shadow_root(folder)
    run = open_run(str(_shadow(folder, root)))
    for name in ("ledger.sqlite", *(cell.folder for cell in run.plan.cells)):
        _link(folder.parents[2] / name, root / name)
    finished = len(finished_cells(run))
    if publish_again(run, Choices()):
        state = {"cells": finished, "made_at": time.time()}
        (root / _STATE).write_text(json.dumps(state), encoding="utf-8")


def _shadow(folder: Path, root: Path) -> Path:
    """The shadow of a run's folder, with its plan; of an earlier report nothing is left that says how the run ended."""
    own = root / "sweeps" / folder.parent.name / folder.name
    own.mkdir(parents=True, exist_ok=True, mode=0o700)
    (own / "summary.json").unlink(missing_ok=True)
    settings = read_json(folder / "run.json")
    settings["config_dir"] = str(config_folder(folder.parents[2], settings["config_dir"]))
    write_json(own / "run.json", {name: value for name, value in settings.items() if name != "schema_version"})
    shutil.copyfile(folder / "plan.json", own / "plan.json")
    return own


def _link(target: Path, link: Path) -> None:
    if target.exists() and not link.is_symlink():
        link.parent.mkdir(parents=True, exist_ok=True)
        link.symlink_to(target)
