"""A sweep on a real Prefect server, as a user starts it."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import time
import urllib.request
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.flows.conftest import RunSweep
from tests.support.sweeps import OFFLINE

Api = Callable[[str, dict[str, Any]], Any]


def newest_run(api: Api) -> dict[str, Any]:
    # Runs that a schedule has planned count as started in the future.
    started = {"state": {"type": {"not_any_": ["SCHEDULED"]}}}
    return api("/flow_runs/filter", {"sort": "START_TIME_DESC", "limit": 1, "flow_runs": started})[0]


def tasks_of(api: Api, run: dict[str, Any], expected: int) -> list[dict[str, Any]]:
    """The task runs of a flow run, once the server has recorded them all."""
    found: list[dict[str, Any]] = []
    for _ in range(100):
        found = api("/task_runs/filter", {"flow_runs": {"id": {"any_": [run["id"]]}}, "limit": 200})
        if len(found) == expected and all(task["state_type"] in ("COMPLETED", "FAILED") for task in found):
            break
        time.sleep(0.1)
    return found


def test_a_sweep_runs_from_yaml_to_summary_and_a_second_time_all_is_cached(run_sweep: RunSweep, api: Api) -> None:
    first = run_sweep(OFFLINE)
    assert first.code == 0, first.err
    assert "multi    | EM=" in first.out
    assert "Simulated" in first.out
    folder = first.cell(0, "tiny_multi_Baseline_reader")
    names = ("config.json", "predictions.jsonl", "scores.jsonl", "metrics.json", "lm_history.jsonl", "manifest.json")
    for name in names:
        assert (folder / name).stat().st_size > 0, name
    assert (folder / "evaluation_results/evaluation_result.txt").read_text().startswith("score,cost,input_tokens,")
    assert json.loads((folder / "manifest.json").read_text())["simulated"] is True

    flow_run = newest_run(api)
    assert flow_run["state_name"] == "Completed"
    kinds = Counter(task["name"].rpartition(" · ")[2] for task in tasks_of(api, flow_run, 8))
    assert kinds == {"generate and score": 4, "pair": 2, "summary over seeds": 1, "artifacts for the UI": 1}
    artifacts = api("/artifacts/filter", {"artifacts": {"flow_run_id": {"any_": [flow_run["id"]]}}})
    by_key = {artifact["key"]: artifact for artifact in artifacts}
    assert by_key.keys() >= {"summary-tryout", "cells-tryout", "costs-tryout"}
    progress = by_key["progress-tryout"]
    assert (progress["type"], progress["data"]) == ("progress", 100)
    assert "tryout: completed\n\n100% · 4 of 4 cells" in progress["description"]
    # What links to a report is the server that shows it.
    link = re.search(r"\((http://[^)]+/seedbed/files/[^)]+/report.html)\)", by_key["report-tryout"]["data"])
    assert link is not None
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    assert b"Seedbed report" in opener.open(link[1]).read()

    # Where nothing at all has changed nothing is started; other workers are another plan.
    second = run_sweep(OFFLINE, "--set", "runner.workers=3")
    assert second.code == 0, second.err
    assert [row["metrics"] for row in second.summary()["rows"]] == [row["metrics"] for row in first.summary()["rows"]]
    assert second.summary()["costs"] == first.summary()["costs"], "the second run made new calls"
    phases = [t for t in tasks_of(api, newest_run(api), 8) if t["name"].endswith("score")]
    assert [task["state_name"] for task in phases] == ["Cached"] * 4


def test_a_cached_result_is_not_believed_when_its_files_are_gone(run_sweep: RunSweep) -> None:
    first = run_sweep(OFFLINE, "--set", "seeds=[0]")
    folder = first.cell(0, "tiny_multi_Baseline_reader")
    before = (folder / "metrics.json").read_text()
    shutil.rmtree(folder)
    again = run_sweep(OFFLINE, "--set", "seeds=[0]")
    assert again.code == 0, again.err
    assert json.loads((folder / "metrics.json").read_text())["metrics"] == json.loads(before)["metrics"]
    reused = [row for row in again.summary()["costs"] if row["outcome"] == "reused"]
    assert reused[0]["calls"] == 6, "what was lost on disk comes back from the ledger, unpaid"


def test_fresh_pays_again_and_its_account_begins_anew(run_sweep: RunSweep) -> None:
    one_cell = ("--set", "seeds=[0]", "--set", "experiments.0.systems=[direct]")
    run_sweep(OFFLINE, *one_cell)
    again = run_sweep(OFFLINE, *one_cell, "--fresh")
    assert again.code == 0, again.err
    assert [(row["outcome"], row["calls"]) for row in again.summary()["costs"]] == [("paid", 6)]
    resumed = run_sweep(OFFLINE, *one_cell)
    assert [(row["outcome"], row["calls"]) for row in resumed.summary()["costs"]] == [("paid", 6)]


PLUGIN = """
from seedbed import Benchmark, BenchmarkOptions, Case, Options, benchmark, system


class ShoutOptions(Options):
    mark: str = "!"


@benchmark("crosslingual", "capitals")
def capitals(options: BenchmarkOptions) -> Benchmark:
    rows = [line.split(",") for line in options.path.read_text().splitlines()]
    cases = [Case(c, {"question": f"Capital of {c}?", "language": "en", "sample_id": c}, [a]) for c, a in rows]
    return Benchmark("capitals", cases[: options.limit])


@system("crosslingual", "shout", options=ShoutOptions)
def shout(context, options):
    async def answer(question, **_):
        country = question.removeprefix("Capital of ").removesuffix("?")
        if country == "Atlantis":
            raise ValueError("no such country")
        return {"France": "Paris", "Japan": "Tokyo"}[country] + options.mark

    return answer


@system("crosslingual", "broken")
def broken(context, options):
    def answer(**_):
        raise RuntimeError("always breaks")

    return answer
"""
PLUGGED = """\
name: tryout
seeds: [0]
plugins: [my_experiments]
max_error_share: 0.5
models:
  reader: {model: offline/reader}
experiments:
  - suite: crosslingual
    models: [reader]
    benchmarks: [{name: capitals, path: capitals.csv}]
    systems: [{name: shout, mark: "?!"}]
"""


@pytest.fixture
def plugin(tmp_path: Path) -> None:
    (tmp_path / "my_experiments.py").write_text(PLUGIN, encoding="utf-8")
    (tmp_path / "capitals.csv").write_text("France,Paris\nJapan,Tokyo\nAtlantis,Poseidonis\n", encoding="utf-8")


@pytest.mark.usefixtures("plugin")
def test_a_benchmark_and_a_system_of_ones_own_run_in_a_sweep(run_sweep: RunSweep) -> None:
    run = run_sweep(PLUGGED)
    assert run.code == 0, run.err
    row = run.summary()["rows"][0]
    assert row["metrics"]["em"]["mean"] == 1.0
    assert (row["n"], row["n_errors"]) == (2, 1), "a failed sample is counted, not scored"
    errors = [json.loads(line) for line in (run.cell(0, "capitals_shout_Baseline_reader") / "scores.jsonl").open()]
    assert errors[2]["status"] == "error"
    assert errors[2]["scores"] == {}


@pytest.mark.usefixtures("plugin")
def test_one_failed_cell_does_not_sink_the_others(run_sweep: RunSweep, api: Api) -> None:
    run = run_sweep(PLUGGED.replace("systems: [", "systems: [broken, "))
    assert run.code == 1
    summary = run.summary()
    assert [row["system"] for row in summary["rows"]] == ["shout"]
    assert summary["status"] == "partial"
    assert summary["missing"][0]["cell"].startswith("broken · capitals")
    assert "always breaks" in summary["missing"][0]["reason"]
    kept = run.cell(0, "capitals_broken_Baseline_reader") / "predictions.jsonl"
    assert [json.loads(line)["error"]["message"] for line in kept.open()] == ["always breaks"] * 3
    assert newest_run(api)["state_name"] == "Failed"


def test_the_log_of_a_run_tells_what_failed_and_what_was_lost(run_sweep: RunSweep, api: Api) -> None:
    faulty = "temperature: 0.7, retries: 1, backoff_s: 0.0, options: {errors: {server: 0.4, rate_limit: 0.1}}"
    text = OFFLINE.replace("temperature: 0.7", faulty).replace("limit: 6", "limit: 30") + "max_error_share: 0.9\n"
    run = run_sweep(text, "--set", "seeds=[0]")
    assert run.code == 0, run.err
    assert "failed attempts: server " in run.out
    found = newest_run(api)
    lines = {"logs": {"flow_run_id": {"any_": [found["id"]]}}, "limit": 200}
    said = ""
    for _ in range(100):
        # Prefect sends log lines by the way.
        said = "\n".join(line["message"] for line in api("/logs/filter", lines))
        if "no answer after all retries" in said:
            break
        time.sleep(0.1)
    assert re.search(r"server: \d+ more calls? of reader failed \(\d+ so far\), and are tried again", said)
    assert "the endpoint's limit was met by" in said
    assert re.search(r"direct · tiny · reader · seed 0: \d+ of 30 samples have no answer after all retries", said)


def test_what_failed_in_a_run_before_is_no_news_of_the_next(run_sweep: RunSweep, api: Api) -> None:
    faulty = "temperature: 0.7, retries: 9, backoff_s: 0.0, options: {errors: {server: 0.4}}"
    first = run_sweep(OFFLINE.replace("temperature: 0.7", faulty), "--set", "seeds=[0]")
    assert "failed attempts: server " in first.out
    second = run_sweep(OFFLINE, "--set", "seeds=[0, 1]")
    assert second.code == 0, second.err
    lines = {"logs": {"flow_run_id": {"any_": [newest_run(api)["id"]]}}, "limit": 200}
    said = ""
    for _ in range(100):
        said = "\n".join(line["message"] for line in api("/logs/filter", lines))
        # The last line of a run.
        if "Finished in state Completed" in said.rpartition("artifacts for the UI")[2]:
            break
        time.sleep(0.1)
    assert "Finished in state Completed" in said
    assert " failed (" not in said


def test_a_given_prefect_api_url_is_respected(run_sweep: RunSweep) -> None:
    run = run_sweep(OFFLINE, env={"PREFECT_API_URL": "http://127.0.0.1:9/api"})
    assert run.code == 2, "no server answers there, and the sweep does not run on another"
    assert run.err.startswith("seedbed: PREFECT_API_URL is http://127.0.0.1:9/api")
    assert not (run.root / "sweeps").exists(), "a run that never began is not the newest"


@pytest.mark.usefixtures("seedbed_home")
def test_a_script_that_has_imported_prefect_before_runs_on_the_same_server(tmp_path: Path, api: Api) -> None:
    """Prefect reads its settings once: those of before knew no server, and it started one that took the run with it."""
    (tmp_path / "sweep.yaml").write_text(OFFLINE, encoding="utf-8")
    script = "import sys, prefect.context; from seedbed.cli.main import main; sys.exit(main(sys.argv[1:]))"
    options = ["--set", "seeds=[0]", "--set", "experiments.0.systems=[direct]", "--out", str(tmp_path / "out")]
    sweeps = {"flows": {"name": {"any_": ["sweep"]}}}
    before = api("/flow_runs/count", sweeps)
    done = subprocess.run(
        [sys.executable, "-c", script, "run", "sweep.yaml", *options],
        capture_output=True,
        text=True,
        env={name: value for name, value in os.environ.items() if not name.startswith("PREFECT_API")},
        cwd=tmp_path,
    )
    assert done.returncode == 0, done.stderr
    assert "temporary server" not in done.stderr
    assert api("/flow_runs/count", sweeps) == before + 1
