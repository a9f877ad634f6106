"""Nightlies as a lab runs them: a real server, a worker, runs through the API and by schedule."""

from __future__ import annotations

import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from seedbed.nightly.history import read_history
from seedbed.storage.store import Store, read_json
from tests.support.lab import Lab, call

CONFIG = """\
name: night
seeds: [0]
models:
  reader: {model: offline/reader, temperature: 0.7, options: {ability: 0.85, noise: 0.03}}
experiments:
  - suite: crosslingual
    models: [reader]
    benchmarks: [{name: tiny, limit: 80}]
    systems: [direct, multi]
gate: {min_effect: 0.1}
out: results
"""


@pytest.fixture(scope="module")
def lab(seedbed_home: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lab]:
    folder = tmp_path_factory.mktemp("lab")
    (folder / "night.yaml").write_text(CONFIG, encoding="utf-8")
    made = Lab(folder, "night.yaml", "test-night")
    made.deploy()
    with made:
        yield made


@pytest.fixture(scope="module")
def first_night(lab: Lab) -> str:
    """A night before there was a baseline; its run is then accepted."""
    run = lab.trigger()
    lab.wait(run)
    accepted = lab.seedbed("baseline", "accept", "night", "--out", "results", "--note", "the first")
    assert accepted.returncode == 0, accepted.stderr
    return run


def test_a_night_without_a_baseline_is_inconclusive_and_says_what_to_do(lab: Lab, first_night: str) -> None:
    state = lab.state(first_night)
    assert (state["type"], state["name"]) == ("FAILED", "Inconclusive")
    assert "there is no accepted baseline" in state["message"]
    assert "seedbed baseline accept" in state["message"]


def test_an_unchanged_night_completes_with_verdict_history_and_the_sweeps_own_artifacts(
    lab: Lab, first_night: str
) -> None:
    run = lab.trigger()
    state = lab.wait(run)
    assert (state["type"], state["message"][:6]) == ("COMPLETED", "pass: ")
    found = lab.artifacts(run)
    assert {"gate-night", "nightly-night", "summary-night", "cells-night", "costs-night", "report-night"} <= set(found)
    assert found["gate-night"]["data"].startswith("# PASS: night")
    assert "data:image/png;base64," in found["gate-night"]["data"]


def test_every_night_pays_afresh(lab: Lab, first_night: str) -> None:
    lab.wait(lab.trigger())
    newest = sorted((lab.folder / "results/sweeps/night").glob("*/costs.csv"))[-1]
    rows = newest.read_text(encoding="utf-8").splitlines()
    assert any(",paid," in row for row in rows)
    # Of this night alone, not of all nights together: 80 samples, two systems, a call each.
    calls = sum(int(row.split(",")[4]) for row in rows[1:] if row.startswith("generate"))
    assert calls == 160


def test_a_planted_regression_fails_with_the_figures_as_its_reason(lab: Lab, first_night: str) -> None:
    run = lab.trigger(overrides=["models.reader.options.ability=0.3"])
    state = lab.wait(run)
    assert (state["type"], state["name"]) == ("FAILED", "Failed")
    assert "F1" in state["message"]
    assert "is worse" in state["message"]
    assert lab.artifacts(run)["gate-night"]["data"].startswith("# FAIL: night")
    assert read_history(Store(lab.folder / "results"), "night")[-1]["verdict"] == "fail"
    newest = sorted((lab.folder / "results/sweeps/night").glob("*/gate.json"))[-1]
    verdict = read_json(newest)
    assert verdict["verdict"] == "fail"
    assert verdict["explanation"]["culprits"] == ["model"]
    assert "## What moved it" in lab.artifacts(run)["gate-night"]["data"]


def test_a_night_in_which_every_call_fails_is_inconclusive(lab: Lab, first_night: str) -> None:
    broken = ["models.reader.options.errors={server: 1.0}", "models.reader.retries=0"]
    state = lab.wait(lab.trigger(overrides=broken))
    assert (state["type"], state["name"]) == ("FAILED", "Inconclusive")
    assert "no cell of it has a result" in state["message"]


def test_a_config_that_is_wrong_by_night_fails_with_its_sentence(lab: Lab, first_night: str) -> None:
    state = lab.wait(lab.trigger(overrides=["max_error_share=2"]))
    assert state["type"] == "FAILED"
    assert "field max_error_share: input should be less than or equal to 1" in state["message"]


def test_a_schedule_a_few_seconds_ahead_fires(lab: Lab, first_night: str) -> None:
    deployment = call("GET", "/deployments/name/nightly/nightly")["id"]
    at = datetime.now(UTC) + timedelta(seconds=15)
    # Every minute, so that a scheduler on a busy machine which is late for the first is in time for the second.
    schedule = {"interval": 60, "anchor_date": at.isoformat(), "timezone": "UTC"}
    made = call("POST", f"/deployments/{deployment}/schedules", [{"schedule": schedule, "active": True}])
    wanted = {
        "deployments": {"id": {"any_": [deployment]}},
        "flow_runs": {"expected_start_time": {"before_": (at + timedelta(minutes=4)).isoformat()},
                      "state": {"type": {"not_any_": ["SCHEDULED"]}}},
    }  # fmt: skip
    deadline = time.monotonic() + 600
    try:
        while not (fired := [run for run in call("POST", "/flow_runs/filter", wanted) if run["auto_scheduled"]]):
            assert time.monotonic() < deadline, "no scheduled run was started"
            time.sleep(0.5)
    finally:
        call("DELETE", f"/deployments/{deployment}/schedules/{made[0]['id']}")
    assert lab.wait(fired[0]["id"])["type"] == "COMPLETED"


def test_the_form_of_the_ui_knows_every_field_and_the_server_refuses_what_does_not_fit(lab: Lab) -> None:
    deployment = call("GET", "/deployments/name/launch-sweep/sweep")
    fields = deployment["parameter_openapi_schema"]["definitions"]["SweepRequest"]["properties"]
    assert set(fields) == {"config", "seeds", "max_usd", "overrides", "fresh"}
    assert all(field["description"] for field in fields.values())
    assert any(tag.startswith(("commit ", "version ")) for tag in deployment["tags"])
    with pytest.raises(OSError, match="409"):
        lab.trigger("launch-sweep/sweep", max_usd="much")


def test_a_sweep_and_a_rescore_started_from_their_deployments_complete(lab: Lab) -> None:
    run = lab.trigger("launch-sweep/sweep", seeds=[7])
    assert lab.wait(run)["type"] == "COMPLETED"
    again = call("GET", "/deployments/name/launch-rescore/rescore")
    body = {"state": {"type": "SCHEDULED"}, "parameters": {"request": {"config": "night.yaml"}}}
    rescored = call("POST", f"/deployments/{again['id']}/create_flow_run", body)["id"]
    assert lab.wait(rescored)["type"] == "COMPLETED"
