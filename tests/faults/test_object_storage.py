"""Sweeps whose results lie on object storage: a real S3-compatible server, a real Prefect server, real processes."""

from __future__ import annotations

import csv
import io
import json
import os
import re
import shutil
import signal
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pytest

from seedbed.cli.main import main
from seedbed.lm.ledger.database import sqlite_url
from seedbed.storage.paths import as_path
from tests.support import forked
from tests.support.loopback import Loopback
from tests.support.s3 import S3Server
from tests.support.sweeps import OFFLINE, Sweep

OF_THE_MOMENT = {"latency_s", "latency_ms", "started_at", "ended_at", "at", "execution", "id", "attempt"}
SAME_IN_A_CELL = (
    "cell.json",
    "config.json",
    "predictions.jsonl",
    "scores.jsonl",
    "metrics.json",
    "evaluation_results/evaluation_result.txt",
    "evaluation_results/result.json",
    "metric_logs/test.jsonl",
)
SAME_IN_A_RUN = ("summary.json", "summary.csv", "summary.md", "summary.tex", "costs.csv")
Command = Callable[..., str]


@pytest.fixture
def seedbed(seedbed_home: Path, tmp_path: Path) -> Command:
    """`seedbed(*words)` in a process of its own; what it printed."""

    def run(*words: str) -> str:
        done = forked.run(
            [sys.executable, "-m", "seedbed", *words], capture_output=True, text=True, timeout=600, cwd=tmp_path
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    return run


def _stamp(objects: Iterable[str], root: str = "") -> str:
    runs = (key.removeprefix(f"{root}sweeps/tryout/").split("/") for key in objects if "/sweeps/" in f"/{key}")
    return max(stamp for stamp, *name in runs if name == ["plan.json"])


def _newest(objects: dict[str, bytes]) -> dict[str, bytes]:
    """The files of the newest run of the sweep, by name."""
    folder = f"sweeps/tryout/{_stamp(objects)}/"
    return {key.removeprefix(folder): body for key, body in objects.items() if key.startswith(folder)}


def _on_disk(root: Path) -> dict[str, bytes]:
    return {p.relative_to(root).as_posix(): p.read_bytes() for p in root.rglob("*") if p.is_file()}


def _figures(name: str, body: bytes) -> Any:
    """A file to compare, to the digit; but the last digits of dollars depend on the order in which a database adds."""

    def same(pairs: Iterable[tuple[str, Any]]) -> list[tuple[str, Any]]:
        return [(key, round(float(value), 12) if key.endswith("_usd") and value else value) for key, value in pairs]

    if name.endswith(".json"):
        return json.loads(body, object_pairs_hook=same)
    if name.endswith(".csv"):
        return [same(row.items()) for row in csv.DictReader(io.StringIO(body.decode()))]
    return body


def _history(body: bytes) -> list[dict[str, Any]]:
    rows = [json.loads(line) for line in body.splitlines()]
    kept = [{name: value for name, value in row.items() if name not in OF_THE_MOMENT} for row in rows]
    return sorted(kept, key=lambda row: json.dumps(row, sort_keys=True))


def test_a_sweep_on_object_storage_gives_the_files_of_one_on_a_disk_and_is_never_paid_twice(
    seedbed: Command,
    seedbed_home: Path,
    tmp_path: Path,
    s3: S3Server,
    bucket: str,
    capsys: pytest.CaptureFixture[str],
) -> None:
    config = tmp_path / "tryout.yaml"
    config.write_text(OFFLINE, encoding="utf-8")
    (tmp_path / "remote.yaml").write_text(f"{OFFLINE}ledger: {sqlite_url(tmp_path / 'remote.sqlite')}\n")
    out = f"s3://{bucket}/lab"
    seedbed("run", str(config), "--out", str(tmp_path / "out"))
    seedbed("run", str(tmp_path / "remote.yaml"), "--out", out)

    local = _on_disk(tmp_path / "out")
    remote = {key.removeprefix("lab/"): body for key, body in s3.objects(bucket).items()}
    cells = {key.rpartition("/")[0] for key in local if key.endswith("/cell.json")}
    assert len(cells) == 4
    for cell in cells:
        for name in SAME_IN_A_CELL:
            assert _figures(name, remote[f"{cell}/{name}"]) == _figures(name, local[f"{cell}/{name}"]), f"{cell}/{name}"
        assert _history(remote[f"{cell}/lm_history.jsonl"]) == _history(local[f"{cell}/lm_history.jsonl"])
    for key in (key for key in local if "/groups/" in key):
        assert remote[key] == local[key], key
    mine, theirs = _newest(remote), _newest(local)
    for name in (*SAME_IN_A_RUN, *(name for name in theirs if name.startswith("plots/"))):
        assert _figures(name, mine[name]) == _figures(name, theirs[name]), name
    not_kept = {"ledger.sqlite", "cache", ".locks"}
    names = {key for key in local if key.startswith("experiment_runs") and not not_kept & set(key.split("/"))}
    assert names == {key for key in remote if key.startswith("experiment_runs")}
    assert s3.environment["AWS_SECRET_ACCESS_KEY"].encode() not in b"".join(remote.values())

    # Another host has none of Prefect's results: the markers alone must do.
    shutil.rmtree(seedbed_home / "results", ignore_errors=True)
    seedbed("run", str(tmp_path / "remote.yaml"), "--out", out)
    again = {key.removeprefix("lab/"): body for key, body in s3.objects(bucket).items()}
    assert _newest(again)["costs.csv"] == mine["costs.csv"], "the second run made new calls"
    assert {key: again[key] for key in names} == {key: remote[key] for key in names}, "a finished cell was done again"

    def said(*words: str) -> str:
        assert main(words) == 0, capsys.readouterr()
        return capsys.readouterr().out

    assert "verified." in said("verify", "tryout", "--out", out)
    assert "completed, 100% · 4 of 4 cells" in said("status", "--out", out)
    assert "paid     24" in said("costs", "tryout", "--out", out)
    assert "tryout:multi against tryout:direct" in said("compare", "tryout:direct", "tryout:multi", "--out", out)
    seedbed("rescore", "tryout", "--out", out)
    folder = f"{out}/sweeps/tryout/{_stamp(s3.objects(bucket), 'lab/')}"
    assert f"{folder}/report.html" in said("report", folder)
    assert f"24 samples in {folder}/samples.parquet" in said("export", folder, "--format", "parquet")
    assert "verified." in said("verify", folder)


def test_a_cell_takes_few_requests_to_run_and_a_report_reads_each_file_once(
    seedbed: Command, tmp_path: Path, s3: S3Server, bucket: str
) -> None:
    config, out = tmp_path / "remote.yaml", f"s3://{bucket}/lab"
    config.write_text(f"{OFFLINE}ledger: {sqlite_url(tmp_path / 'remote.sqlite')}\n", encoding="utf-8")

    def of_cells(*words: str) -> Counter[str]:
        """What was asked of the four cells and of their two groups."""
        s3.requests(bucket)
        seedbed(*words, "--out", out)
        asked = [line for line in s3.requests(bucket) if "/seed_" in line]
        return Counter(re.sub(r"seed_\d/(?!groups)[^/]+", "CELL", line) for line in asked)

    first = of_cells("run", str(config))
    # Besides, who watches a sweep looks for markers every few seconds.
    made = {name: count for name, count in first.items() if "/done/" not in name}
    assert sum(made.values()) <= 4 * 32, made
    assert {count for name, count in first.items() if name.startswith("PUT") and "CELL" in name} == {4}, first
    report = of_cells("report", "tryout")
    assert sum(report.values()) <= 4 * 7, report


def _remote(folder: Path, server: Loopback, root: str) -> Sweep:
    """The sweep of the fault tests with its results on object storage and its ledger beside its config."""
    ledger = sqlite_url(folder / "ledger.sqlite")
    sweep = Sweep(folder, server, f"ledger: {ledger}\n")
    sweep.out, sweep.ledger = as_path(root), ledger
    return sweep


def _await_requests(server: Loopback, count: int) -> None:
    deadline = time.monotonic() + 600
    while server.books.requests < count:
        assert time.monotonic() < deadline, f"only {server.books.requests} requests came"
        time.sleep(0.005)


@pytest.mark.usefixtures("seedbed_home")
def test_kill_9_in_the_middle_then_the_same_command_completes(tmp_path: Path, bucket: str, calm: Sweep) -> None:
    with Loopback(latency_s=0.06) as server:
        sweep = _remote(tmp_path, server, f"s3://{bucket}/lab")
        process = sweep.start()
        _await_requests(server, 50)
        process.send_signal(signal.SIGKILL)
        process.communicate()
        code, _, err = sweep.run()
        assert code == 0, err
    assert sweep.usage() == calm.usage()
    outcomes = sweep.outcomes()
    assert outcomes["paid"] == calm.server.books.requests
    assert outcomes["paid"] + outcomes["lost"] >= server.books.requests
    assert 0 < outcomes["lost"] <= 6


@pytest.mark.usefixtures("seedbed_home")
def test_two_runs_at_once_both_complete_and_pay_once(tmp_path: Path, bucket: str) -> None:
    with Loopback(latency_s=0.03) as server:
        sweep = _remote(tmp_path, server, f"s3://{bucket}/lab")
        both = [sweep.start(), sweep.start()]
        ended = [process.communicate(timeout=600) for process in both]
        assert [process.returncode for process in both] == [0, 0], ended
    paid = [row for row in sweep.attempts() if row.outcome == "paid"]
    assert len({row.key for row in paid}) == len(paid) == server.books.requests
    # 12 questions, asked once or twice and judged once, for two seeds: a cell that both had worked on would add to it.
    outcomes = sweep.outcomes()
    assert outcomes["paid"] + outcomes["reused"] == 2 * 12 * (2 + 3)


@pytest.mark.usefixtures("seedbed_home")
def test_a_bucket_that_goes_away_ends_the_run_with_a_sentence(tmp_path: Path, bucket: str, s3: S3Server) -> None:
    with Loopback(latency_s=0.1) as server:
        sweep = _remote(tmp_path, server, f"s3://{bucket}/lab")
        process = sweep.start("--set", "seeds=[0]")
        _await_requests(server, 3)
        client = s3.client()
        for key in s3.objects(bucket):
            client.delete_object(Bucket=bucket, Key=key)
        client.delete_bucket(Bucket=bucket)
        _, err = process.communicate(timeout=600)
    assert process.returncode == 2, err
    assert f"there is no bucket {bucket}" in err.splitlines()[-1]
    assert os.environ["AWS_SECRET_ACCESS_KEY"] not in err
