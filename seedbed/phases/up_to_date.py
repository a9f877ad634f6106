"""Whether there is anything to do at all: asked before a server is started or anything heavy is imported."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from seedbed.lm.ledger.database import open_database
from seedbed.lm.ledger.reads import generation_of
from seedbed.phases.publish import Choices
from seedbed.storage.hashing import hash_file
from seedbed.storage.markers import Wanted, done_markers
from seedbed.storage.store import Store, json_text, read_json
from seedbed.sweep.manifest import made_with
from seedbed.sweep.plan import Plan

_CHOSEN = ("baseline", "margin", "samples")


def finished_run(plan: Plan, root: Path) -> Path | None:
    """The newest run of a sweep, where running it again would give the same files: it has the same plan, all of its
    cells are done, and what it published is there as it was written, by the same versions and with no choice of a
    reader's. None where there is something to do."""
    store = Store(root)
    folder = store.newest(plan.config.name)
    if folder is None or not (folder / "manifest.json").exists():
        return None
    published = read_json(folder / "manifest.json")
    if published["status"] != "completed" or not _same_makers(published) or not _same_choices(published):
        return None
    if (folder / "plan.json").read_text(encoding="utf-8") != json_text(plan.to_json()):
        return None
    generation = _generation(plan, store)
    if read_json(folder / "run.json")["generation"] != generation:
        return None
    if any(not _unchanged(folder / name, digest) for name, digest in published["files"].items()):
        return None
    return folder if _all_done(plan, store, generation) else None


def _same_makers(published: Mapping[str, Any]) -> bool:
    """Whether the versions are those that are here now. An edit that is in no commit yet is not looked for."""
    return all(_without_edits(published[name]) == _without_edits(now) for name, now in made_with().items())


def _without_edits(field: Any) -> Any:
    return {k: v for k, v in field.items() if k != "dirty"} if isinstance(field, Mapping) else field


def _same_choices(published: Mapping[str, Any]) -> bool:
    return all(published[name] == getattr(Choices(), name) for name in _CHOSEN)


def _generation(plan: Plan, store: Store) -> int:
    engine = open_database(plan.config.ledger or store.ledger_url)
    try:
        return generation_of(engine, plan.config.name)
    finally:
        engine.dispose()


def _unchanged(path: Path, digest: str) -> bool:
    return path.exists() and hash_file(path) == digest


def _all_done(plan: Plan, store: Store, generation: int) -> bool:
    wanted = [Wanted(cell, phase, cell.key(phase)) for cell in plan.cells for phase in cell.phases]
    return len(done_markers(store, wanted, generation)) == len(wanted)
