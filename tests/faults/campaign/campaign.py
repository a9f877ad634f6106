"""Sweep after sweep until enough processes were killed; each is held against the clean one when it is done."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from random import Random

from tests.faults.campaign import attacks, checks
from tests.faults.campaign.attacks import LIMIT_S, Attack, Round
from tests.faults.campaign.bulk import QUICK, SLOW, bulk
from tests.faults.campaign.target import Hang, Target
from tests.faults.campaign.tracebacks import first_traceback
from tests.support.loopback import Loopback
from tests.support.ports import quiet_port

FAULTS = ("rate_limit", "server", "gateway", "reset", "malformed", "no_usage", "bad_shape", "mid_body")
"""Those after which a caller who tries again gets the answer of the clean run."""
_CAP_SHARE = 0.3
_OTHER_SHARE = 0.1
"""Of the attacks are none that kill; after one of these a sweep comes to its end."""


class Campaign:
    """`whole` attacks `seedbed run` with its Prefect server; else the phases alone are run and only killed, frozen and
    given other clocks."""

    def __init__(self, folder: Path, *, kills: int, faults: float, seed: int, whole: bool) -> None:
        self._folder, self._kills_left, self._whole, self._seed = folder, kills, whole, seed
        self._faults = {fault: faults / len(FAULTS) for fault in FAULTS}
        self._random = Random(seed)
        self._counts: Counter[str] = Counter()
        self._faults_met: Counter[str] = Counter()
        self._others = list(self._possible())

    def run(self, *, requests: int = 0) -> list[str]:
        """What did not hold."""
        with server_of_its_own(self._folder / "home") if self._whole else _nothing():
            problems = [_shown(problem) for problem in self._sweeps()]
        kinds = (*QUICK, *SLOW) if self._whole else QUICK
        share = sum(self._faults.values())
        more = bulk(self._folder / "bulk", kinds, requests, share, self._seed, self._faults_met)
        return [*problems, *map(_shown, more)]

    def told(self) -> str:
        """What was done, in a few lines."""
        done = ", ".join(f"{count} {name}" for name, count in sorted(self._counts.items()))
        return f"{done}\n{self._faults_met.total()} faults: {dict(self._faults_met)}"

    def _possible(self) -> Iterator[Attack]:
        yield attacks.freeze
        yield attacks.two_at_once
        if attacks.fake_time() is not None:
            yield attacks.clock
        else:
            print("no libfaketime here: clocks stay as they are")
        if not self._whole:
            return
        yield attacks.long_sleep
        yield attacks.dead_server
        if attacks.can_mount(self._folder / "disk"):
            yield attacks.full_disk
        else:
            print("no right to mount: disks stay large")

    def _sweeps(self) -> Iterator[str]:
        with Loopback() as server:
            clean = Target(self._folder / "clean", server, whole=self._whole)
            code = clean.begin().end(LIMIT_S)
            if code != 0:
                yield f"the clean run ended with {code}: {clean.said[-2000:]}"
                return
            price = checks.dollars(clean)
            self._counts["requests"] += server.books.requests
        others = iter(())
        while self._kills_left > 0:
            number = self._counts["sweeps"]
            self._counts["sweeps"] += 1
            others = iter([*others] or self._random.sample(self._others, len(self._others)))
            latency = self._random.uniform(0.0, 0.1)
            with Loopback(seed=self._seed + number, faults=self._faults, latency_s=latency) as server:
                target = Target(self._folder / f"sweep{number}", server, whole=self._whole)
                cap = None if number % 2 else price * _CAP_SHARE
                try:
                    for problem in self._attacked(target, clean, cap, others):
                        yield f"sweep {number}: {problem}"
                except Hang as hang:
                    yield f"sweep {number}: {hang}"
                self._faults_met.update(server.books.faults)
                self._counts["requests"] += server.books.requests
            print(f"sweep {number}: {server.books.requests} requests; so far {self.told()}", flush=True)

    def _attacked(self, target: Target, clean: Target, cap: float | None, others: Iterator[Attack]) -> Iterator[str]:
        takeovers, clock_jumped = 0, False
        if cap is not None:
            overrides = (f"budget.max_usd={cap}",)
            while self._killed(Round(target, self._random, overrides)) is None:
                pass
            if checks.dollars(target) > cap + 1e-9:
                yield f"the server billed ${checks.dollars(target):.6f} under a cap of ${cap:.6f}"
        code: int | None = None
        while code is None:
            other = self._kills_left <= 0 or self._random.random() < _OTHER_SHARE
            attack = next(others, None) if other else None
            if attack is None:
                code = self._killed(Round(target, self._random))
                continue
            own = Round(target, self._random)
            code = attack(own)
            takeovers += own.takeovers
            clock_jumped |= attack is attacks.clock
            self._counts[attack.__name__] += 1
        if code != 0:
            code = target.begin().end(LIMIT_S)
        if code != 0:
            yield f"ended with {code}: {target.said[-2000:]}"
        if (found := first_traceback(target.said, clock_jumped=clock_jumped)) is not None:
            yield f"a traceback: {found}"
        yield from checks.account(target, takeovers=takeovers)
        yield from checks.results(target, clean)
        if self._whole:
            yield from checks.told_bill(target)

    def _killed(self, own: Round) -> int | None:
        """Once more, killed if kills are left; the exit code where it came to its end."""
        if self._kills_left <= 0:
            return own.begin().end(LIMIT_S)
        code = attacks.kill(own)
        if code is None:
            self._kills_left -= 1
            self._counts["kills"] += 1
        return code


def _shown(problem: str) -> str:
    """At once: a campaign takes hours."""
    print(f"NOT HELD: {problem}", flush=True)
    return problem


@contextmanager
def server_of_its_own(home: Path) -> Iterator[None]:
    """A Prefect server that nobody else needs; commands find it through the environment."""
    from seedbed.local import server

    port = quiet_port()
    names = ("PREFECT_API_URL", "PREFECT_API_AUTH_STRING")
    before = {name: os.environ.pop(name) for name in names if name in os.environ}
    os.environ.update(SEEDBED_HOME=str(home), SEEDBED_PORT=str(port), DO_NOT_TRACK="1")
    server.start()
    try:
        yield
    finally:
        server.stop()
        os.environ.update(before)


@contextmanager
def _nothing() -> Iterator[None]:
    yield
