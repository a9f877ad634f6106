"""Ends a sweep over all suites by SIGTERM, SIGINT and SIGHUP at moments of all kinds, and goes on until it is done:

    python -m tests.faults.signals --moments 20 --seed 1

Each time: the exit code a shell expects, the summary, the command to go on, no traceback, and no call in flight lost.
Exit code 1 where something did not hold."""

from __future__ import annotations

import argparse
import signal
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from random import Random

from sqlalchemy import text

from seedbed.lm.ledger.database import open_database, reading
from tests.faults.campaign.attacks import LIMIT_S
from tests.faults.campaign.campaign import server_of_its_own
from tests.faults.campaign.target import Attacked, Target
from tests.support.loopback import Loopback

_SIGNALS = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)
_TO_ALL = (signal.SIGINT, signal.SIGHUP)
"""Those a terminal sends, to all of the group: what the sweep has started is told too."""
_LATENCY_S = 0.3
"""Long enough that calls are in flight at most moments, and far shorter than the grace they get."""
_IN_FLIGHT = 16
"""Twice what the target has in flight: those that were about to be sent when the signal came."""


@dataclass(frozen=True)
class Moment:
    """When a signal comes: so long after the start, or after so many requests; and how soon another one, if any."""

    number: signal.Signals
    after_s: float | None
    after_requests: int
    second_after_s: float | None

    @classmethod
    def draw(cls, number: signal.Signals, random: Random) -> Moment:
        early = random.random() < 0.35
        # Within the first half second, or anywhere in the first seconds.
        after_s = random.choice((random.uniform(0.0, 0.5), random.uniform(0.5, 12.0))) if early else None
        return cls(number, after_s, random.randint(1, 60), random.uniform(0.0, 1.0) if random.random() < 0.2 else None)


@dataclass(frozen=True)
class Ended:
    moment: Moment
    code: int
    said: str
    lost: int
    phases: Counter[str]
    """Those whose calls had just begun; none where there was nothing to sum up yet."""
    asked_after: int
    """Requests that came after the signal; 0 where it ended before it."""

    def problems(self) -> Iterator[str]:
        """What a user would miss."""
        number, said = self.moment.number, self.said
        if self.asked_after > _IN_FLIGHT:
            yield f"it went on: {self.asked_after} requests came after the signal"
        if self.code == 0 and "summary.md" in said:
            return  # it was done before, or had nothing left to ask
        if self.code == -number and not said.strip():
            return  # before there was anybody to hear it
        if "Traceback" in said:
            yield f"a traceback: {said[said.index('Traceback') :][:1500]}"
        if self.code != 128 + number:
            yield f"exit code {self.code}: {said[-800:]}"
        if "To go on: seedbed run" not in said:
            yield f"no word of how to go on: {said[-800:]}"
        if self.moment.second_after_s is not None:
            return  # who signals twice wants no more
        if self.phases and "summary.md" not in said:
            yield f"no summary: {said[-800:]}"
        if self.lost:
            yield f"{self.lost} calls in flight were lost ({dict(self.phases)})"


def signalled(target: Target, moment: Moment) -> Ended:
    """One run of the target, ended at that moment."""
    log, before = target.config.with_name("said.log"), _last_attempt(target)
    offset = log.stat().st_size if log.exists() else 0
    attacked = target.begin()
    due = time.monotonic() + (moment.after_s or 0.0)
    wanted = moment.after_requests if moment.after_s is None else 0
    asked: int | None = None
    if attacked.wait_until(lambda: time.monotonic() >= due and attacked.requests >= wanted, LIMIT_S):
        asked = attacked.requests
        _send(attacked, moment.number)
        if moment.second_after_s is not None:
            time.sleep(moment.second_after_s)
            _send(attacked, moment.number)
    code = attacked.end(LIMIT_S)
    lost, phases = _since(target, before)
    said = log.read_bytes()[offset:].decode("utf-8", "replace")
    return Ended(moment, code, said, lost, phases, 0 if asked is None else attacked.requests - asked)


def _send(attacked: Attacked, number: signal.Signals) -> None:
    if number in _TO_ALL:
        attacked.send(number)
    else:
        attacked.process.send_signal(number)


def _last_attempt(target: Target) -> int:
    rows = _rows(target, "SELECT coalesce(max(id), 0), '' FROM attempts")
    return rows[0][0] if rows else 0


def _since(target: Target, before: int) -> tuple[int, Counter[str]]:
    rows = _rows(target, f"SELECT outcome, phase FROM attempts WHERE id > {before} ORDER BY id")
    lost = sum(outcome == "lost" for outcome, _ in rows)
    return lost, Counter(phase for _, phase in rows[-8:])


def _rows(target: Target, query: str) -> list[tuple[object, str]]:
    if not (target.out / "ledger.sqlite").exists():
        return []
    engine = open_database(target.ledger)
    with reading(engine) as connection:
        rows = [(row[0], row[1]) for row in connection.execute(text(query))]
    engine.dispose()
    return rows


def campaign(folder: Path, moments: int, seed: int) -> list[str]:
    """So many moments a signal; a sweep that is done is followed by a new one."""
    random, problems, sweeps = Random(seed), list[str](), 0
    drawn = [Moment.draw(number, random) for number in _SIGNALS for _ in range(moments)]
    random.shuffle(drawn)
    with server_of_its_own(folder / "home"), Loopback(latency_s=_LATENCY_S) as server:
        target = Target(folder / "sweep0", server, whole=True)
        for count, moment in enumerate(drawn):
            ended = signalled(target, moment)
            found = [f"moment {count} ({moment}): {problem}" for problem in ended.problems()]
            problems += found
            told = f"{ended.code}, {dict(ended.phases)}, {ended.asked_after} requests after it, {ended.lost} lost"
            print(f"{count}: {moment} -> {told}, {len(found)} problems", flush=True)
            if ended.code == 0:
                sweeps += 1
                target = Target(folder / f"sweep{sweeps}", server, whole=True)
    return problems


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.faults.signals", description=__doc__)
    parser.add_argument("--moments", type=int, default=20, help="for each of the three signals (default: 20)")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--folder", type=Path, help="where to work (default: a new folder)")
    given = parser.parse_args()
    # A job in the background of a shell ignores Ctrl-C, one of nohup the end of a terminal, and so would all that they
    # start.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    if signal.getsignal(signal.SIGHUP) is signal.SIG_IGN:
        signal.signal(signal.SIGHUP, lambda *_: None)
    problems = campaign(given.folder or Path(tempfile.mkdtemp(prefix="signals-")), given.moments, given.seed)
    for problem in problems:
        print(f"NOT HELD: {problem}")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
