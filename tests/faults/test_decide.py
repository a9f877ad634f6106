"""Sweeps that stop when decided, by a judge's word: killed in the middle and started again, by batches, with a search
whose seeds are systems. Each takes the looks of a sweep that nobody disturbed."""

from __future__ import annotations

import json
import shutil
import signal
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from tests.support.batch_loopback import BatchLoopback
from tests.support.loopback import Loopback
from tests.support.sweeps import Sweep

pytestmark = pytest.mark.usefixtures("seedbed_home")

CONFIG = """\
name: claims
seeds: [0, 1]
models:
  m:
    model: openai/loop
    api_base: {url}
    api_key_env: LOOP_KEY
    temperature: 0.7
    max_tokens: 100
    price: {{input: 2.0, output: 8.0}}
    backoff_s: 0.02
    limits: {{concurrency: 16}}
roles: {{judge: m}}
experiments:
  - suite: contest
    models: [m]
    benchmarks: [claims]
    systems:
      - {{name: say, label: plain}}
      - {{name: say, label: able, skill: 0.9}}
      - {{name: say, label: same, skill: 0.001}}
    decide: {{metric: fine, difference: 0.2}}
plugins: [contest_suite]
runner: {{kind: threads, workers: 3}}
"""
BATCHED = "    service: batch\n    batch: {{size: 64, age_s: 0.1, poll_s: 0.05, settle_s: 0.5}}\n    backoff_s"
SYSTEMS = CONFIG[CONFIG.index("    systems:") : CONFIG.index("    decide")]
SEARCHED = CONFIG.replace(SYSTEMS, "    systems: [say]\n    optimizers: [Baseline, BootstrapFewShot]\n").replace(
    "seeds: [0, 1]", "seeds: [0, 1, 2]"
)


class Calm(NamedTuple):
    """What a sweep that nobody disturbs finds, and what it takes."""

    found: dict[str, Any]
    requests: int
    spent_usd: float


@pytest.fixture(scope="module", autouse=True)
def _key() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("LOOP_KEY", "a-key-of-nobody")
        yield


@pytest.fixture(scope="module")
def calm(seedbed_home: Path, tmp_path_factory: pytest.TempPathFactory) -> Calm:
    with Loopback() as server:
        sweep = _sweep(tmp_path_factory.mktemp("calm"), server)
        found = _completed(sweep)
        return Calm(found, server.books.requests, sum(row.spent_usd or 0.0 for row in sweep.attempts()))


def _sweep(folder: Path, server: Loopback, template: str = CONFIG) -> Sweep:
    made = Sweep(folder, server, template=template)
    shutil.copy(Path(__file__).parents[1] / "support" / "contest_suite.py", folder)
    return made


def _found(sweep: Sweep) -> dict[str, Any]:
    """What a sweep decided and answered. A look's key is of the endpoint's address too, which no two have alike."""
    looks = sorted((sweep.out / "experiment_runs" / "looks" / "claims").iterdir())
    seeds = sweep.out / "experiment_runs"
    files = [path for name in ("scores", "predictions") for path in seeds.glob(f"seed_*/*/{name}.jsonl")]
    summary = json.loads(sorted(sweep.out.glob("sweeps/claims/*/summary.json"))[-1].read_text(encoding="utf-8"))
    return {
        "looks": {path.name: json.loads(path.read_text(encoding="utf-8"))["contests"] for path in looks},
        "files": {str(path.relative_to(sweep.out)): path.read_bytes() for path in sorted(files)},
        "comparisons": summary["comparisons"],
        "rows": [{name: row[name] for name in ("label", "n", "n_errors", "metrics")} for row in summary["rows"]],
    }


def _kill_at(server: Loopback, requests: int, process: subprocess.Popen[str]) -> None:
    deadline = time.monotonic() + 600
    while server.books.requests < requests:
        assert process.poll() is None, process.communicate()[1]
        assert time.monotonic() < deadline, f"only {server.books.requests} requests came"
        time.sleep(0.005)
    process.send_signal(signal.SIGKILL)
    process.communicate()


def _completed(sweep: Sweep) -> dict[str, Any]:
    code, out, err = sweep.run()
    assert code == 0, f"{out}\n{err}"
    return _found(sweep)


def _stopped(found: dict[str, Any]) -> dict[str, str]:
    return {c["label"]: c["stopped"] for c in found["comparisons"] if c["metric"] == "fine"}


def test_kill_9_in_mid_sweep_changes_no_look_no_verdict_and_no_byte(tmp_path: Path, calm: Calm) -> None:
    expected, requests, _ = calm
    assert "decided (better)" in _stopped(expected)["able"]
    assert len(expected["looks"]) > 2
    with Loopback(latency_s=0.02) as server:
        killed = _sweep(tmp_path, server)
        for share in (0.2, 0.6):
            _kill_at(server, round(requests * share), killed.start())
        assert _completed(killed) == expected
        assert server.books.requests <= requests + 2 * 16, "nothing but what was in flight is asked again"


def test_batches_take_the_looks_of_normal_calls(tmp_path: Path, calm: Calm) -> None:
    with BatchLoopback() as server:
        template = CONFIG.replace("    backoff_s", BATCHED)
        assert _completed(_sweep(tmp_path, server, template)) == calm.found


def test_contests_of_systems_that_seeds_make_are_the_same_after_a_kill(tmp_path: Path) -> None:
    with Loopback() as server:
        calm = _completed(_sweep(tmp_path / "calm", server, SEARCHED))
        requests = server.books.requests
    (contest,) = calm["looks"]["contest_fine_01.json"]
    assert (contest["label"], contest["baseline"]) == ("say+BootstrapFewShot", "say")
    with Loopback(latency_s=0.02) as server:
        killed = _sweep(tmp_path / "killed", server, SEARCHED)
        _kill_at(server, requests // 2, killed.start())
        assert _completed(killed) == calm


def test_a_cap_below_the_price_of_all_samples_holds_where_contests_end_early(tmp_path: Path, calm: Calm) -> None:
    """What a decided contest does not spend is there for those that are open."""
    whole = calm.spent_usd * 6 * 160 / sum(row["n"] for row in calm.found["rows"])
    cap = (calm.spent_usd + whole) / 2
    with Loopback() as server:
        capped = _sweep(tmp_path, server, CONFIG + f"budget: {{{{max_usd: {cap:.4f}}}}}\n")
        found = _completed(capped)
    assert found["looks"] == calm.found["looks"]
