"""One sweep over a Dask cluster of real processes, PostgreSQL and S3-compatible storage: the same figures as on one
machine, nothing paid twice, also when a worker dies."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.support import forked
from tests.support.loopback import Loopback
from tests.support.postgres import Postgres
from tests.support.s3 import S3Server
from tests.support.sweeps import Sweep

pytestmark = pytest.mark.usefixtures("seedbed_home")
pytest.importorskip("prefect_dask", reason="Dask is not installed (pip install 'seedbed[dask]')")

CONCURRENCY = 6


@pytest.fixture(scope="module")
def s3() -> Iterator[S3Server]:
    with S3Server() as server:
        yield server


class Cluster:
    """A Dask scheduler and two workers, each a process of its own."""

    def __init__(self, folder: Path, environment: dict[str, str]) -> None:
        self._folder = folder
        self._environment = {**os.environ, **environment}
        self.workers: list[subprocess.Popen[str]] = []
        self.address = ""

    def __enter__(self) -> Cluster:
        self.scheduler = self._start("scheduler", "--port", "0", "--dashboard-address", ":0")
        assert self.scheduler.stderr is not None
        for line in self.scheduler.stderr:
            if found := re.search(r"Scheduler at:\s+(tcp://\S+)", line):
                self.address = re.sub(r"//[^:]+:", "//127.0.0.1:", found[1])
                break
        self.workers = [
            self._start("worker", self.address, "--nthreads", "2", "--no-nanny", "--no-dashboard") for _ in range(2)
        ]
        return self

    def __exit__(self, *_: object) -> None:
        for process in (*self.workers, self.scheduler):
            process.kill()
            process.wait()

    def _start(self, what: str, *arguments: str) -> subprocess.Popen[str]:
        return forked.Popen(
            [sys.executable, "-m", "distributed.cli.dask_" + what, *arguments],
            cwd=self._folder,
            env=self._environment,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE if what == "scheduler" else subprocess.DEVNULL,
            text=True,
        )


class Everywhere(Sweep):
    """A sweep whose cells run on a cluster, whose ledger is in PostgreSQL and whose files lie in a bucket."""

    def __init__(self, folder: Path, server: Loopback, ledger: str, bucket: str, s3: S3Server) -> None:
        super().__init__(folder, server, f"ledger: {ledger}\n")
        self.ledger, self.bucket, self.s3 = ledger, bucket, s3

    def start(self, *arguments: str) -> subprocess.Popen[str]:
        return forked.Popen(
            [sys.executable, "-m", "seedbed", "run", self.config.name, "--out", f"s3://{self.bucket}", *arguments],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env={**os.environ, **self.s3.environment},
            cwd=self.config.parent,
        )

    def usage(self) -> dict[str, Any]:
        names = ("calls", "tokens_in", "tokens_out", "list_usd")
        return {
            key.removeprefix("experiment_runs/").removesuffix("/metrics.json"): {
                phase: {name: own[name] for name in names} for phase, own in json.loads(body)["usage"].items()
            }
            for key, body in self.s3.objects(self.bucket).items()
            if re.fullmatch(r"experiment_runs/seed_\d+/[^/]+/metrics\.json", key)
        }

    def scores(self) -> dict[str, bytes]:
        return {
            key: body
            for key, body in self.s3.objects(self.bucket).items()
            if key.endswith(("/scores.jsonl", "/predictions.jsonl", "/evaluation_result.txt"))
        }


def _on_cluster(cluster: Cluster) -> tuple[str, ...]:
    return ("--set", "runner.kind=dask", "--set", f"runner.address={cluster.address}")


def _local_files(root: Path) -> dict[str, bytes]:
    names = ("scores.jsonl", "predictions.jsonl", "evaluation_result.txt")
    return {p.relative_to(root).as_posix(): p.read_bytes() for p in root.rglob("*") if p.name in names}


def _paid_once_but_for_what_was_in_flight(sweep: Sweep) -> int:
    """Checks it body by body; returns how many calls were lost."""
    names, attempts = sweep.sent_names(), sweep.attempts()
    paid = Counter(names[row.key] for row in attempts if row.outcome == "paid")
    lost = Counter(names[row.key] for row in attempts if row.outcome == "lost")
    for name, count in sweep.server.books.by_body.items():
        assert paid[name] <= count <= paid[name] + lost[name]
    assert max(paid.values()) <= max(Counter(names.values()).values())
    return sum(lost.values())


def test_dask_postgresql_and_s3_give_the_figures_of_one_machine_and_pay_once(
    tmp_path: Path, postgres: Postgres, s3: S3Server, calm: Sweep
) -> None:
    calls = calm.server.books.requests
    with Loopback(latency_s=0.05) as server:
        spread = Everywhere(tmp_path / "spread", server, postgres.database_of(tmp_path), s3.bucket(), s3)
        with Cluster(tmp_path / "spread", s3.environment) as cluster:
            code, out, err = spread.run(*_on_cluster(cluster))
            assert code == 0, err
            assert len(re.findall(r"^  .* · (?:generate|score): 12 samples$", out, re.M)) == 8, "no progress was shown"
            assert spread.usage() == calm.usage()
            assert spread.scores() == _local_files(calm.out)
            assert server.books.requests == calls
            assert set(spread.outcomes()) <= {"paid", "reused"}
            assert _paid_once_but_for_what_was_in_flight(spread) == 0
            code, _, err = spread.run(*_on_cluster(cluster))
            assert code == 0, err
        assert server.books.requests == calls, "a second run paid again"


def test_a_worker_killed_in_the_middle_costs_what_it_had_in_flight_and_no_more(
    tmp_path: Path, postgres: Postgres, s3: S3Server, calm: Sweep
) -> None:
    with Loopback(latency_s=0.3) as server:
        spread = Everywhere(tmp_path / "spread", server, postgres.database_of(tmp_path), s3.bucket(), s3)
        with Cluster(tmp_path / "spread", s3.environment) as cluster:
            process = spread.start(*_on_cluster(cluster))
            _until(server, 30)
            cluster.workers[0].send_signal(signal.SIGKILL)
            _, err = process.communicate(timeout=400)
        assert process.returncode == 0, err
        assert spread.usage() == calm.usage()
        assert spread.scores() == _local_files(calm.out)
        assert _paid_once_but_for_what_was_in_flight(spread) <= CONCURRENCY


def test_a_worker_the_database_and_the_scheduler_that_die_in_one_run_cost_what_was_in_flight(
    tmp_path: Path, s3: S3Server, calm: Sweep
) -> None:
    with Loopback(latency_s=0.3) as server, Postgres() as own:
        spread = Everywhere(tmp_path / "spread", server, own.database_of(tmp_path), s3.bucket(), s3)
        with Cluster(tmp_path / "spread", s3.environment) as cluster:
            process = spread.start(*_on_cluster(cluster))
            _until(server, 20)
            cluster.workers[0].send_signal(signal.SIGKILL)
            _until(server, 40)
            own.stop()
            own.start()
            # It goes on after both.
            _until(server, 60)
            cluster.scheduler.send_signal(signal.SIGKILL)
            out, err = process.communicate(timeout=400)
            assert process.returncode == 1, out + err
            assert f"nothing answers any more at {cluster.address}; start the cluster again" in out + err
            assert "Traceback" not in out + err
        with Cluster(tmp_path / "spread", s3.environment) as cluster:
            code, _, err = spread.run(*_on_cluster(cluster))
            assert code == 0, err
        assert spread.usage() == calm.usage()
        assert spread.scores() == _local_files(calm.out)
        # Of the worker, of those it had when the database went, and of the cluster.
        assert _paid_once_but_for_what_was_in_flight(spread) <= 3 * CONCURRENCY


def _until(server: Loopback, requests: int) -> None:
    deadline = time.monotonic() + 600
    while server.books.requests < requests:
        assert time.monotonic() < deadline, f"{server.books.requests} of {requests} requests came"
        time.sleep(0.02)


def test_the_dollar_cap_holds_over_the_whole_cluster(tmp_path: Path, postgres: Postgres, s3: S3Server) -> None:
    with Loopback(latency_s=0.05) as server:
        spread = Everywhere(tmp_path, server, postgres.database_of(tmp_path), s3.bucket(), s3)
        with Cluster(tmp_path, s3.environment) as cluster:
            limits = ("--set", "models.m.limits.concurrency=64", "--set", "budget.max_usd=0.02")
            code, out, err = spread.run(*_on_cluster(cluster), *limits)
        assert code == 1, out + err
        assert "The budget is used up" in err
        spent = sum(row.spent_usd or 0.0 for row in spread.attempts())
        bill = server.books.tokens_in * 2e-6 + server.books.tokens_out * 8e-6
        assert spent == pytest.approx(bill, abs=1e-9)
        # What is in flight was reserved before it was sent, so that not even that passes the cap.
        assert 0.005 < bill <= 0.02


def test_workers_without_the_keys_of_the_storage_are_explained_without_a_traceback(
    tmp_path: Path, postgres: Postgres, s3: S3Server
) -> None:
    with Loopback() as server:
        spread = Everywhere(tmp_path / "spread", server, postgres.database_of(tmp_path), s3.bucket(), s3)
        none = {name: "" for name in s3.environment if "KEY" in name}
        with Cluster(tmp_path, {**s3.environment, **none}) as cluster:
            code, out, err = spread.run(*_on_cluster(cluster), "--set", "seeds=[0]")
    assert code != 0
    assert "AWS_ACCESS_KEY_ID with its fellows" in err, out + err
    assert "Traceback" not in out + err, out + err
