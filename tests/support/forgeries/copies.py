"""Copies of a sweep's results that may be spoilt, and how a careful forger leaves them."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from seedbed.phases.publish import manifest_digest
from seedbed.storage.hashing import hash_file
from seedbed.storage.store import write_json

CONFIG = """\
name: paper
seeds: [0]
models:
  small: {model: offline/small, temperature: 0.7, options: {ability: 0.92, noise: 0.05}}
roles: {translator: small, reflection: small}
experiments:
  - suite: crosslingual
    models: [small]
    benchmarks: [{name: tiny, limit: 9}]
    systems: [direct, multi]
  - suite: finance_dialog
    models: [small]
    benchmarks: [{name: dialogues, limit: 2}]
    systems: [window_only]
  - suite: prompt_optimization
    models: [small]
    benchmarks: [{name: AIMEBench, repeats: 1, limit: 4, max_train: 6, max_val: 6}]
    systems: [CoT]
    optimizers: [GEPA-2]
"""
DIRECT, MULTI = (f"experiment_runs/seed_0/tiny_{name}_Baseline_small" for name in ("direct", "multi"))
TALK = "experiment_runs/seed_0/dialogues_window_only_Baseline_small"
TUNED = "experiment_runs/seed_0/AIMEBench_CoT_GEPA-2_small"
GROUP = "experiment_runs/seed_0/groups/crosslingual_tiny_small/metrics.json"
RUN = "RUN"
"""Stands for the folder of the run in the names below."""


@dataclass(frozen=True)
class Copy:
    """A copy of results that may be spoilt."""

    root: Path
    run: Path

    def path(self, name: str) -> Path:
        return self.run / name.removeprefix(f"{RUN}/") if name.startswith(f"{RUN}/") else self.root / name

    def named(self, name: str) -> str:
        return str(self.path(name).relative_to(self.root))


Change = Callable[[Copy], None]


@dataclass(frozen=True)
class Forgery:
    what: str
    file: str
    """The file that must be named."""
    says: str
    """An expression for what must be said of it."""
    change: Change


def copy_of(run: Path, target: Path) -> Copy:
    root = run.parents[2]
    shutil.copytree(root, target)
    return Copy(target, target / run.relative_to(root))


def renew(copy: Copy) -> None:
    """Bring all sizes, hashes and digests in step with the files: what a careful forger does last."""
    for marker in copy.root.glob("experiment_runs/seed_*/*/done/*.json"):
        data = json.loads(marker.read_text(encoding="utf-8"))
        folder = marker.parent.parent
        there = [name for name in data["sha256"] if (folder / name).exists()]
        data["sha256"] = {name: hash_file(folder / name) for name in there}
        data["files"] = {name: (folder / name).stat().st_size for name in there}
        data.pop("schema_version")
        write_json(marker, data)
    path = copy.run / "manifest.json"
    data = json.loads(path.read_text(encoding="utf-8"))
    data["files"] = {name: hash_file(copy.run / name) for name in data["files"] if (copy.run / name).exists()}
    data["results"] = {n: hash_file(copy.root / n) for n in data["results"] if (copy.root / n).exists()}
    data.pop("schema_version")
    data.pop("digest")
    write_json(path, {**data, "digest": manifest_digest(data)})
