"""`seedbed server tidy`: old runs leave Prefect's database, and nothing else goes."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from seedbed.cli.main import main
from tests.flows.conftest import RunSweep
from tests.support.sweeps import OFFLINE

Api = Callable[[str, dict[str, Any]], Any]


def _runs(api: Api) -> set[str]:
    return {run["id"] for run in api("/flow_runs/filter", {"flows": {"name": {"any_": ["sweep"]}}})}


def _tasks(api: Api, runs: set[str]) -> int:
    return api("/task_runs/count", {"flow_runs": {"id": {"any_": list(runs)}}})


def _await_tasks(api: Api, runs: set[str], count: int) -> None:
    """The server writes task runs down some time after they ended."""
    deadline = time.monotonic() + 600
    while _tasks(api, runs) < count:
        assert time.monotonic() < deadline, "the server never recorded the tasks"
        time.sleep(0.1)


@pytest.mark.usefixtures("seedbed_home")
def test_runs_that_ended_are_dropped_with_their_tasks_and_one_at_work_stays(
    run_sweep: RunSweep, api: Api, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    before = _runs(api)
    done = run_sweep(OFFLINE, "--set", "seeds=[0]", "--set", "experiments.0.systems=[direct]")
    assert done.code == 0, done.err
    ended = _runs(api) - before
    assert len(ended) == 1
    _await_tasks(api, ended, 4)
    flow = api("/flows/filter", {"flows": {"name": {"any_": ["sweep"]}}})[0]["id"]
    running = api("/flow_runs/", {"flow_id": flow, "state": {"type": "RUNNING"}})["id"]
    # The command sets where its server is for the process it runs in.
    for name in ("PREFECT_API_URL", "PREFECT_API_AUTH_STRING"):
        monkeypatch.setenv(name, "")
        monkeypatch.delenv(name)

    assert main(["server", "tidy", "--older-than", "1"]) == 0
    assert "would drop 0 runs" in capsys.readouterr().out, "it has only just ended"
    assert main(["server", "tidy", "--older-than", "0"]) == 0
    assert "add --yes" in capsys.readouterr().out
    assert _runs(api) >= ended, "without --yes they are only counted"

    assert main(["server", "tidy", "--older-than", "0", "--yes"]) == 0
    assert "results, reports and the ledger stay" in capsys.readouterr().out
    assert not _runs(api) & ended
    assert _tasks(api, ended) == 0
    assert running in _runs(api)
    assert list(Path(done.root).glob("sweeps/tryout/*/report.html"))
    assert main(["server", "tidy", "--older-than", "0"]) == 0
    assert "would drop 0 runs" in capsys.readouterr().out


def test_what_to_drop_has_to_be_said(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["server", "tidy", "--yes"]) == 2
    assert "--older-than DAYS" in capsys.readouterr().err
