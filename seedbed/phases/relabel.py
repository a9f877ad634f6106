"""A cell under another label: its results are taken along, nothing runs again.

A label is part of a cell's folder but not of what its results depend on. The old folder stays as it is, so that runs
that were published from it can still be verified; the new one shares its files.
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from seedbed.errors import UserError
from seedbed.storage.hashing import hash_file
from seedbed.storage.objects import sizes
from seedbed.storage.paths import is_local
from seedbed.storage.store import Store, read_json, write_json
from seedbed.sweep.cell import Cell
from seedbed.sweep.plan import PLAN_SCHEMA_VERSION, Plan


def take_along(store: Store, plan: Plan) -> None:
    """Give cells that the last run of the sweep had under other names the results they have there."""
    before = _folders_before(store, plan.config.name) if is_local(store.root) else {}
    for cell in plan.cells:
        old = before.get(cell.id)
        if old is None or old == cell.folder or store.cell_dir(cell).exists():
            continue
        owner = store.root / old / "cell.json"
        if owner.exists() and read_json(owner)["cell_id"] == cell.id:
            _share(store.root / old, store.cell_dir(cell), cell)


def _folders_before(store: Store, sweep: str) -> dict[str, str]:
    try:
        data: dict[str, Any] = json.loads((store.latest_sweep(sweep) / "plan.json").read_bytes())
    except UserError:
        return {}
    if data["schema_version"] != PLAN_SCHEMA_VERSION:
        return {}
    cells = [Cell(**cell) for cell in data["cells"]]
    return {cell.id: cell.folder for cell in cells}


def _share(old: Path, new: Path, cell: Cell) -> None:
    """Made aside and put in its place whole. Files are linked: they are only ever replaced, never written into."""
    made = new.with_name(f".{new.name}.taken-along")
    shutil.rmtree(made, ignore_errors=True)
    shutil.copytree(old, made, copy_function=_link)
    write_json(made / "cell.json", {**_body(made / "cell.json"), "title": cell.title})
    changed = {name for name, renamed in _NAMED.items() if _rewrite(made / name, cell, renamed)}
    for marker in (made / "done").glob("*.json"):
        data = _body(marker)
        own = [name for name in data["files"] if name in changed]
        data["files"] |= sizes(made, own)
        data["sha256"] |= {name: hash_file(made / name) for name in own}
        write_json(marker, data)
    made.rename(new)


def _link(source: str, target: str) -> None:
    try:
        os.link(source, target)
    except OSError:
        # Another file system, or one without links.
        shutil.copy2(source, target)


def _rewrite(path: Path, cell: Cell, renamed: Callable[[dict[str, Any], Cell], Mapping[str, Any]]) -> bool:
    if not path.exists():
        return False
    write_json(path, renamed(_body(path), cell))
    return True


def _body(path: Path) -> dict[str, Any]:
    return {key: value for key, value in read_json(path).items() if key != "schema_version"}


def _config(data: dict[str, Any], cell: Cell) -> Mapping[str, Any]:
    return {**data, "cell": asdict(cell)}


def _metrics(data: dict[str, Any], cell: Cell) -> Mapping[str, Any]:
    (own,) = data["metrics"].values()
    return {**data, "metrics": {cell.label: own}}


def _result(data: dict[str, Any], cell: Cell) -> Mapping[str, Any]:
    optimizer = cell.optimizer if data["optimizer"] is not None else None
    return {**data, "benchmark": cell.benchmark, "program": cell.system, "optimizer": optimizer}


_NAMED: Mapping[str, Callable[[dict[str, Any], Cell], Mapping[str, Any]]] = {
    "config.json": _config,
    "metrics.json": _metrics,
    "evaluation_results/result.json": _result,
}
"""Files of a cell that say what it is called."""
