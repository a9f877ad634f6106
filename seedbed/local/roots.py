"""Which results folders of this machine the page of `seedbed ui` shows, and which run of Prefect belongs to a run."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from filelock import FileLock

from seedbed.storage.paths import home, is_local
from seedbed.storage.store import write_bytes

_FILE = "roots.json"
_MAX_ROOTS, _MAX_RUNS = 50, 500


@dataclass(frozen=True)
class Root:
    path: Path
    ran: bool
    """Whether sweeps were run into it from this machine: their plugins are the user's own."""

    @property
    def id(self) -> str:
        return hashlib.sha256(str(self.path).encode()).hexdigest()[:10]


def remember_root(path: Path, *, ran: bool) -> Root | None:
    """Show a results folder from now on; None where it lies on object storage, which the page does not read."""
    if not is_local(path):
        return None
    root = Root(path.resolve(), ran)
    with _locked():
        data = _read()
        before: dict[str, Any] = data["roots"]
        entry = {"ran": ran or bool(before.get(str(root.path), {}).get("ran"))}
        if list(before)[-1:] == [str(root.path)] and before[str(root.path)] == entry:
            return Root(root.path, entry["ran"])
        kept = {name: value for name, value in before.items() if name != str(root.path)}
        _write({**data, "roots": _last({**kept, str(root.path): entry}, _MAX_ROOTS)})
    return Root(root.path, entry["ran"])


def known_roots() -> list[Root]:
    """Those that are still there, the last used first."""
    found = [Root(Path(name), bool(entry["ran"])) for name, entry in _read()["roots"].items()]
    return [root for root in reversed(found) if (root.path / "sweeps").is_dir()]


def remember_flow_run(folder: Path, flow_run: str) -> None:
    """Which run of Prefect works on a run's folder."""
    with _locked():
        data = _read()
        _write({**data, "flow_runs": _last({**data["flow_runs"], str(folder): flow_run}, _MAX_RUNS)})


def flow_run_of(folder: Path) -> str | None:
    return _read()["flow_runs"].get(str(folder))


def _locked() -> FileLock:
    home().mkdir(mode=0o700, parents=True, exist_ok=True)
    return FileLock(home() / f"{_FILE}.lock")


def _read() -> dict[str, dict[str, Any]]:
    try:
        data = json.loads((home() / _FILE).read_text(encoding="utf-8"))
        return {name: dict(data[name]) for name in ("roots", "flow_runs")}
    except (OSError, ValueError, KeyError, TypeError):
        return {"roots": {}, "flow_runs": {}}


def _write(data: Mapping[str, Any]) -> None:
    write_bytes(home() / _FILE, json.dumps(data, indent=1).encode())


def _last(entries: dict[str, Any], count: int) -> dict[str, Any]:
    return dict(list(entries.items())[-count:])
