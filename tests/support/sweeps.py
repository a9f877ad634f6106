"""Real sweeps in processes of their own, against the loopback server."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
import sys
import zlib
from collections import Counter
from pathlib import Path
from typing import Any

import orjson
from sqlalchemy import text

from seedbed.lm.ledger.database import open_database, reading, sqlite_url
from tests.support.forked import Popen
from tests.support.loopback import Loopback

SWEEP = """\
name: loop
seeds: [0, 1]
models:
  m:
    model: openai/loop
    api_base: {url}
    temperature: 0.7
    max_tokens: 100
    price: {{input: 2.0, output: 8.0}}
    backoff_s: 0.05
    limits: {{concurrency: 6}}
experiments:
  - suite: loop
    models: [m]
    benchmarks: [{{name: numbers, limit: 12}}]
    systems: [once, twice]
plugins: [loop_suite]
runner: {{kind: threads, workers: 2}}
"""


OFFLINE = """\
name: tryout
seeds: [0, 1]
models:
  reader: {model: offline/reader, temperature: 0.7}
experiments:
  - suite: crosslingual
    models: [reader]
    benchmarks: [{name: tiny, limit: 6}]
    systems: [direct, multi]
"""
"""Four small cells of the offline model, for tests that need no endpoint."""


class Sweep:
    """A config on a server, and the commands on it."""

    def __init__(self, folder: Path, server: Loopback, extra: str = "", template: str = SWEEP) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self.server = server
        self.out = folder / "out"
        self.ledger = sqlite_url(self.out / "ledger.sqlite")
        self.config = folder / "loop.yaml"
        shutil.copy(Path(__file__).with_name("loop_suite.py"), folder)
        self.config.write_text(template.format(url=server.url) + extra, encoding="utf-8")

    def start(self, *arguments: str) -> subprocess.Popen[str]:
        return Popen(
            [sys.executable, "-m", "seedbed", "run", str(self.config), "--out", str(self.out), *arguments],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env=dict(os.environ),
            cwd=self.config.parent,
        )

    def run(self, *arguments: str) -> tuple[int, str, str]:
        process = self.start(*arguments)
        try:
            out, err = process.communicate(timeout=600)
        finally:
            process.kill()
        return process.returncode, out, err

    def usage(self) -> dict[str, Any]:
        """Tokens and list cost of every cell's phases, by folder."""
        found: dict[str, Any] = {}
        for path in sorted(self.out.glob("experiment_runs/seed_*/*/metrics.json")):
            phases = json.loads(path.read_text(encoding="utf-8"))["usage"]
            names = ("calls", "tokens_in", "tokens_out", "list_usd")
            found[f"{path.parent.parent.name}/{path.parent.name}"] = {
                phase: {name: usage[name] for name in names} for phase, usage in phases.items()
            }
        return found

    def attempts(self) -> list[Any]:
        engine = open_database(self.ledger)
        with reading(engine) as connection:
            rows = list(
                connection.execute(text("SELECT key, outcome, sample, cell, spent_usd, started_at FROM attempts"))
            )
        engine.dispose()
        return rows

    def sent_names(self) -> dict[str, str]:
        """Key of each request -> the name under which the server knows its body."""
        engine = open_database(self.ledger)
        with reading(engine) as connection:
            rows = list(connection.execute(text("SELECT key, body FROM requests")))
        engine.dispose()
        bodies = {key: orjson.loads(zlib.decompress(body)) for key, body in rows}
        return {k: hashlib.sha256(orjson.dumps({**b, "model": "loop"})).hexdigest() for k, b in bodies.items()}

    def outcomes(self) -> Counter[str]:
        return Counter(row.outcome for row in self.attempts())
