"""Kills the example agents, or the sweep that runs them, at random moments until it is done, and compares with a clean
run:

    python -m tests.faults.agents --kills 50 --seed 1

That many times for each agent: first under a cap of half of what a clean run costs, then without a narrow one. What the
ledger says is what the endpoint billed, nothing is paid twice but what was in flight, the cap holds, and a replay asks
nobody. Exit code 1 where something did not hold."""

from __future__ import annotations

import argparse
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from random import Random

from seedbed.lm.ledger.database import sqlite_url
from seedbed.lm.runtime import close_runtimes
from seedbed.phases.prepare import prepare
from seedbed.phases.run import run_phase
from seedbed.sweep.config import load_config
from seedbed.sweep.plan import make_plan
from tests.support import forked
from tests.support.loopback import Loopback
from tests.support.processes import working_in
from tests.support.sweeps import Sweep
from tests.support.tool_model import say

ROOT = Path(__file__).parents[2]
AGENTS = {"python_agent": '["{python}", agent.py]', "node_agent": "[node, agent.js]"}
AT_ONCE = 4
_LATENCY_S = 0.1
_LIMIT_S = 900.0
_BUDGET_REACHED = 1
_CONFIG = """\
name: agents
seeds: [0, 1]
models:
  m:
    model: openai/loop
    api_base: {{url}}
    temperature: 0.7
    max_tokens: 50
    price: {{{{input: 2.0, output: 8.0}}}}
    limits: {{{{concurrency: 4}}}}
experiments:
  - suite: custom
    models: [m]
    benchmarks: [{{{{name: cases, path: cases.csv, inputs: [question]}}}}]
    systems: [{{{{name: agent, command: {command}, processes: 4}}}}]
    scorers: [contains]
"""


def missing(agent: str) -> str | None:
    """What an agent lacks here."""
    if agent != "node_agent":
        return None
    if shutil.which("node") is None:
        return "node is not installed"
    there = subprocess.run(["node", "-e", "require('openai')"], cwd=ROOT / "examples" / agent, capture_output=True)
    return None if there.returncode == 0 else "the npm package openai is missing: npm install in examples/node_agent"


class Place(Sweep):
    """A folder with one of the agents and its cases, and a sweep over them."""

    def __init__(self, folder: Path, server: Loopback, agent: str, samples: int) -> None:
        command = AGENTS[agent].replace("{", "{{").replace("}", "}}")
        super().__init__(folder, server, template=_CONFIG.format(command=command))
        self.folder = folder
        example = ROOT / "examples" / agent
        for file in (*example.glob("agent.*"), *example.glob("package.json")):
            shutil.copy(file, folder)
        if (example / "node_modules").exists():
            (folder / "node_modules").symlink_to((example / "node_modules").resolve())
        rows = "\n".join(f"q{number},How many people live at {number}?" for number in range(samples))
        (folder / "cases.csv").write_text(f"id,question\n{rows}\n", encoding="utf-8")

    def begin(self, cap: float) -> subprocess.Popen[bytes]:
        with (self.folder / "said.log").open("ab") as log:
            return forked.Popen(
                [sys.executable, "-m", "tests.support.cells", str(self.config), str(self.out), f"budget.max_usd={cap}"],
                env={**os.environ, "PYTHONPATH": str(ROOT)},
                stdout=log,
                stderr=log,
            )

    @property
    def billed(self) -> float:
        """Of every answer that left the server, heard or not."""
        books = self.server.books
        return (books.tokens_in * 2.0 + books.tokens_out * 8.0) / 1e6


class Attack:
    """So many kills of the agents or their sweep."""

    def __init__(self, place: Place, kills: int, random: Random) -> None:
        self.place, self._left, self._random = place, kills, random
        self.killed: Counter[str] = Counter()

    def until_it_ends(self, cap: float, kills: int) -> int:
        """Its exit code, after so many kills at most."""
        spare = self._left - min(kills, self._left)
        while True:
            process = self.place.begin(cap)
            try:
                while self._left > spare and self._moment(process):
                    if self._kill(process):
                        break
                code = process.wait(_LIMIT_S)
            finally:
                process.kill()
            if code != -signal.SIGKILL:
                return code

    def _kill(self, process: subprocess.Popen[bytes]) -> bool:
        """Whether it was the sweep."""
        agents = working_in(self.place.folder)
        if agents and self._random.random() < 0.5:
            with suppress(ProcessLookupError):  # it has just ended
                os.kill(self._random.choice(agents), signal.SIGKILL)
                self._count("agent")
            return False
        process.kill()
        self._count("sweep")
        return True

    def _count(self, what: str) -> None:
        self.killed[what] += 1
        self._left -= 1

    def _moment(self, process: subprocess.Popen[bytes]) -> bool:
        """Wait for some requests more; False where it ended before."""
        goal = self.place.server.books.requests + self._random.randint(1, 6)
        end = time.monotonic() + _LIMIT_S
        while self.place.server.books.requests < goal:
            if process.poll() is not None:
                return False
            assert time.monotonic() < end, "nothing happens any more"
            time.sleep(0.01)
        return True


def campaign(folder: Path, agent: str, *, kills: int, samples: int, seed: int) -> Iterator[str]:
    """What did not hold."""
    with Loopback(say=say) as server:
        clean = Place(folder / "clean", server, agent, samples)
        code = clean.begin(100.0).wait(_LIMIT_S)
        price = clean.billed
    if code != 0:
        yield f"the clean run ended with {code}"
        return
    with Loopback(say=say, latency_s=_LATENCY_S) as server:
        place = Place(folder / "attacked", server, agent, samples)
        attack = Attack(place, kills, Random(seed))
        cap = price / 2
        code = attack.until_it_ends(cap, kills // 2)
        if code != _BUDGET_REACHED:
            yield f"under a cap of half the price it ended with {code}"
        if place.billed > cap + 1e-9:
            yield f"the server billed ${place.billed:.6f} under a cap of ${cap:.6f}"
        code = attack.until_it_ends(100.0, kills)
        if code != 0:
            yield f"it ended with {code}"
        yield from _account(place, attack.killed["sweep"])
        yield from _results(place, clean)
        asked = server.books.requests
        yield from _replay(place, folder / "again")
        if server.books.requests != asked:
            yield f"the replay asked {server.books.requests - asked} times"
        outcomes = dict(place.outcomes())
        told = f"{asked} requests, ledger {outcomes}, ${place.billed:.6f} billed"
        print(f"{agent}: {dict(attack.killed)} killed, {told}", flush=True)


def _account(place: Place, kills: int) -> Iterator[str]:
    """Each answer that was billed is paid in the ledger, or lost there with a kill of the sweep."""
    names, books, rows = place.sent_names(), place.server.books, place.attempts()
    paid = Counter(row.key for row in rows if row.outcome == "paid")
    lost = Counter(row.key for row in rows if row.outcome == "lost")
    if odd := Counter(row.outcome for row in rows if row.outcome not in ("paid", "reused", "lost")):
        yield f"outcomes that a kill does not explain: {dict(odd)}"
    if {names[key] for key in paid} != set(books.answered_by_body):
        yield "the server answered what the ledger does not have, or the other way round"
    for key, name in names.items():
        if paid[key] != 1 or not 1 <= books.answered_by_body[name] <= 1 + lost[key]:
            yield f"{key[:8]}: {paid[key]} paid, {lost[key]} lost, {books.answered_by_body[name]} answered"
    if lost.total() > kills * AT_ONCE:
        yield f"{lost.total()} calls were lost with {kills} kills and {AT_ONCE} in flight"
    spent = sum(row.spent_usd or 0.0 for row in rows)
    told = sum((sent * 2.0 + got * 8.0) / 1e6 for each in books.told.values() for sent, got in each[:1])
    if abs(spent - told) > 1e-9:
        yield f"${told:.9f} were told, the ledger has ${spent:.9f}"


def _results(place: Place, clean: Place) -> Iterator[str]:
    for file in sorted(clean.out.glob("experiment_runs/**/predictions.jsonl")):
        own = place.out / file.relative_to(clean.out)
        if not own.exists() or own.read_bytes() != file.read_bytes():
            yield f"{own} is not the clean run's"


def _replay(place: Place, root: Path) -> Iterator[str]:
    """Every answer again from a copy of the ledger, to the byte."""
    root.mkdir()
    shutil.copy(place.out / "ledger.sqlite", root)
    config, source = load_config(place.config, [f"ledger={sqlite_url(root / 'ledger.sqlite')}"])
    plan = make_plan(config, source)
    run = str(prepare(plan, root, replay=True))
    try:
        for cell in plan.cells:
            run_phase(run, cell.id, "generate")
            again = (root / cell.folder / "predictions.jsonl").read_bytes()
            if again != (place.out / cell.folder / "predictions.jsonl").read_bytes() or b'"error"' in again:
                yield f"{cell.folder}: the replay's predictions differ, or hold errors"
    finally:
        close_runtimes()


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.faults.agents", description=__doc__)
    parser.add_argument("--kills", type=int, default=50, help="of each agent or its sweep (default: 50)")
    parser.add_argument("--samples", type=int, default=30, help="for each of two seeds (default: 30)")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--folder", type=Path, help="where to work (default: a new folder)")
    given = parser.parse_args()
    folder, problems = given.folder or Path(tempfile.mkdtemp(prefix="agents-")), 0
    for agent in AGENTS:
        if (lack := missing(agent)) is not None:
            print(f"{agent} is left out: {lack}")
            continue
        for problem in campaign(folder / agent, agent, kills=given.kills, samples=given.samples, seed=given.seed):
            print(f"NOT HELD: {agent}: {problem}", flush=True)
            problems += 1
    print(f"{problems} things did not hold; files in {folder}")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
