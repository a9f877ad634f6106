"""`seedbed verify` on files that were changed together with their hashes: figures must follow from the rows."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from seedbed.phases.context import open_run
from seedbed.phases.publish import manifest_digest
from seedbed.phases.verify import verify
from seedbed.storage.hashing import hash_file
from seedbed.storage.store import read_json, write_json

pytestmark = pytest.mark.slow

CELL = "experiment_runs/seed_1/sums_ask_Baseline_reader"


@pytest.fixture
def copied(toy_run: Path, tmp_path: Path) -> Path:
    """A copy of a finished run that a test may spoil."""
    root = toy_run.parents[2]
    shutil.copytree(root, tmp_path / "out")
    return tmp_path / "out" / toy_run.relative_to(root)


def _rewrite(path: Path, change: Callable[[dict[str, Any]], None]) -> None:
    data = read_json(path)
    data.pop("schema_version")
    change(data)
    write_json(path, data)


def _forge(run: Path, change: Callable[[dict[str, Any]], None]) -> str:
    """Change a cell's metrics.json, then everything that vouches for it: the marker and the manifest."""
    root = run.parents[2]
    file = root / CELL / "metrics.json"
    _rewrite(file, change)

    def renew_marker(data: dict[str, Any]) -> None:
        data["sha256"]["metrics.json"] = hash_file(file)
        data["files"]["metrics.json"] = file.stat().st_size

    _rewrite(root / CELL / "done" / "score.json", renew_marker)

    def renew_manifest(data: dict[str, Any]) -> None:
        for part, base in (("files", run), ("results", root)):
            data[part] = {name: hash_file(base / name) for name in data.get(part, {})}
        data["digest"] = manifest_digest({name: value for name, value in data.items() if name != "digest"})

    _rewrite(run / "manifest.json", renew_manifest)
    return f"{CELL}/metrics.json"


@pytest.mark.parametrize(
    "change",
    [
        lambda data: data["usage"]["generate"].update(tokens_in=data["usage"]["generate"]["tokens_in"] + 1),
        lambda data: data["metrics"]["ask"].update(f1=(data["metrics"]["ask"]["f1"] or 0.5) * 1.001),
    ],
    ids=["a token more in the account", "a figure a thousandth higher"],
)
def test_what_does_not_follow_from_the_rows_is_found(copied: Path, change: Callable[[dict[str, Any]], None]) -> None:
    file = _forge(copied, change)
    found = [str(difference) for difference in verify(open_run(str(copied))).differences]
    assert [text for text in found if file in text], json.dumps(found, indent=1)
