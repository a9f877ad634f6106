"""`seedbed batches`, and what `plan` and `status` say of batches."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from seedbed.cli.main import main
from seedbed.errors import Interrupted
from seedbed.lm.runtime import close_runtimes
from seedbed.local.progress_bar import show_progress
from seedbed.phases.context import open_run
from seedbed.phases.standing import standing
from tests.support.batch_loopback import BatchLoopback
from tests.support.cells import prepared
from tests.support.lm import runtime, sums
from tests.unit.lm.batches.conftest import QUICK, batched, start
from tests.unit.lm.batches.test_poller import PATIENCE_S, until

CONFIG = """\
name: both
seeds: [0]
models:
  m: {model: openai/gpt-4.1-mini, service: batch}
experiments:
  - suite: crosslingual
    models: [m]
    benchmarks: [{name: tiny, limit: 6}]
    systems: [direct]
"""


def _left_running(folder: Path, server: BatchLoopback) -> None:
    server.hold = True
    with runtime(folder, server, **batched()) as made:
        asked = start(made, 3)
        until(lambda: server.asked["poll"])
        made.stop(Interrupted("enough"))
        asked.result(PATIENCE_S)
    server.hold = False


def test_batches_are_listed_and_waited_for_without_a_sweep(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with BatchLoopback() as server:
        _left_running(tmp_path, server)
        assert main(["batches", "--out", str(tmp_path)]) == 0
        said = capsys.readouterr().out
        assert "openai/loop, in_progress, 0 of 3" in said
        assert "for s; no process looks after it" in said
        assert main(["batches", "wait", "--out", str(tmp_path)]) == 0
        assert "1 batch has ended" in capsys.readouterr().out
    assert sums(tmp_path).outcomes == {"paid": 3}
    assert main(["batches", "list", "--all", "--json", "--out", str(tmp_path)]) == 0
    (view,) = json.loads(capsys.readouterr().out)
    assert (view["requests"], view["taken"], view["ended"]) == (3, 3, True)


def test_a_cancelled_batch_ends_its_requests_unpaid(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with BatchLoopback() as server:
        _left_running(tmp_path, server)
        assert main(["batches", "cancel", "batch_0", "--out", str(tmp_path)]) == 0
        assert "asked to cancel" in capsys.readouterr().out
        assert main(["batches", "wait", "--out", str(tmp_path)]) == 0
    found = sums(tmp_path)
    assert (found.outcomes, found.spent_usd, found.at_risk_usd) == ({"failed": 3}, 0.0, 0.0)
    assert server.books.answered == 0


def test_a_batch_that_its_provider_never_ends_can_be_dropped_at_its_worst_case(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with BatchLoopback() as server:
        _left_running(tmp_path, server)
        server.hold = True
        out = ["--out", str(tmp_path)]
        assert main(["batches", "drop", *out]) == 2
        assert "name the batches to drop" in capsys.readouterr().err
        before = server.asked["poll"]
        with runtime(tmp_path, server, **batched()) as made:
            asked = start(made, 3, execution="e2")
            until(lambda: server.asked["poll"] > before)
            assert main(["batches", "drop", "batch_0", *out]) == 0
            assert "another process looks after it" in capsys.readouterr().out
            made.stop(Interrupted("enough"))
            asked.result(PATIENCE_S)
        assert main(["batches", "drop", "batch_0", *out]) == 0
        assert "3 requests count as lost" in capsys.readouterr().out
        found = sums(tmp_path)
        assert found.outcomes == {"lost": 3}
        assert found.at_risk_usd > 0, "it may yet be billed"
        server.hold = False
        with runtime(tmp_path, server, **batched()) as made:
            assert all(isinstance(answer, list) for answer in start(made, 3, execution="e3").result(PATIENCE_S))
        assert sums(tmp_path).outcomes == {"lost": 3, "paid": 3}


@pytest.mark.parametrize("action", ["wait", "cancel"])
def test_a_provider_that_is_not_there_any_more_is_a_sentence(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], action: str
) -> None:
    with BatchLoopback() as server:
        _left_running(tmp_path, server)
    assert main(["batches", action, "--out", str(tmp_path)]) == 2
    said = capsys.readouterr().err.splitlines()[-1]
    assert said.startswith("seedbed: ")
    assert "cannot reach http://127.0.0.1" in said
    assert sums(tmp_path).in_flight == 3, "what was not taken is there for the next time"


def test_a_batch_that_is_not_there_is_a_sentence(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with BatchLoopback() as server:
        _left_running(tmp_path, server)
    assert main(["batches", "cancel", "nope", "--out", str(tmp_path)]) == 2
    assert "no batch 'nope' is open here" in capsys.readouterr().err


def test_a_plan_shows_dollars_both_ways(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    config = tmp_path / "both.yaml"
    config.write_text(CONFIG, encoding="utf-8")
    assert main(["plan", str(config), "--out", str(tmp_path / "out"), "--json"]) == 0
    total = json.loads(capsys.readouterr().out)["total"]
    assert total["online_usd"]["likely"] == pytest.approx(2 * total["usd"]["likely"])
    assert main(["plan", str(config), "--out", str(tmp_path / "out")]) == 0
    said = capsys.readouterr().out
    assert "by batches (m): $" in said
    assert "a batch is answered within a day" in said
    assert " of calls\n" not in said, "there is no time of calls to tell"


def test_who_only_waits_for_a_batch_of_before_is_at_work_and_says_for_what(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """He begins no call, for all of them are under way."""
    config = tmp_path / "both.yaml"
    with BatchLoopback() as server, ThreadPoolExecutor() as threads:
        quick = json.dumps({"service": "batch", "batch": QUICK, "api_base": server.url})[1:-1]
        config.write_text(CONFIG.replace("service: batch", quick), encoding="utf-8")
        ready = prepared(config, tmp_path / "out")
        server.hold = True
        try:
            left = threads.submit(ready.phase, ready.plan.cells[0], "generate")
            until(lambda: server.asked["poll"])
            ready.runtime().stop(Interrupted("enough"))
            assert isinstance(left.exception(PATIENCE_S), Interrupted)
            close_runtimes()
            assert standing(open_run(ready.run)).status == "stopped"
            asked = server.asked["poll"]
            again = threads.submit(ready.phase, ready.plan.cells[0], "generate")
            until(lambda: server.asked["poll"] > asked)
            assert standing(open_run(ready.run)).status == "running"
            with show_progress(Path(ready.run)):
                pass
            assert "openai/gpt-4.1-mini, in_progress, 0 of 6" in capsys.readouterr().out
            server.hold = False
            again.result(PATIENCE_S)
        finally:
            server.hold = False
            close_runtimes()


def test_batches_need_bodies_on_record(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    config = tmp_path / "both.yaml"
    config.write_text(f"{CONFIG}store_bodies: false\n", encoding="utf-8")
    assert main(["plan", str(config), "--out", str(tmp_path / "out")]) == 2
    assert "store_bodies: false leaves nothing to find the answers of a batch again by" in capsys.readouterr().err
