"""Every deployment's entrypoint loads for real, from our own packages, and what it needs is written beside it."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest
import yaml
from prefect.flows import load_flow_from_entrypoint

import seedbed

ROOT = Path(seedbed.__file__).resolve().parent.parent
FILE = ROOT / "deployments" / "prefect.yaml"
DEPLOYMENTS: list[dict[str, Any]] = yaml.safe_load(FILE.read_text(encoding="utf-8"))["deployments"]


@pytest.mark.parametrize("deployment", DEPLOYMENTS, ids=lambda deployment: deployment["name"])
def test_an_entrypoint_loads_without_a_placeholder_from_our_own_package(deployment: dict[str, Any]) -> None:
    flow = load_flow_from_entrypoint(deployment["entrypoint"], use_placeholder_flow=False)
    module = sys.modules[flow.fn.__module__]
    assert Path(module.__file__ or "").resolve().is_relative_to(ROOT / "flows")


@pytest.mark.parametrize("deployment", DEPLOYMENTS, ids=lambda deployment: deployment["name"])
def test_a_deployments_parameters_fit_its_flow(deployment: dict[str, Any]) -> None:
    flow = load_flow_from_entrypoint(deployment["entrypoint"], use_placeholder_flow=False)
    if "parameters" in deployment:
        flow.validate_parameters(deployment["parameters"])


def test_there_is_a_deployment_for_sweep_nightly_and_rescore() -> None:
    assert [deployment["name"] for deployment in DEPLOYMENTS] == ["sweep", "nightly", "rescore"]


def test_only_the_nightly_has_a_schedule_and_never_runs_twice_at_once() -> None:
    scheduled = [deployment for deployment in DEPLOYMENTS if deployment.get("schedules")]
    assert [deployment["name"] for deployment in scheduled] == ["nightly"]
    assert scheduled[0]["concurrency_limit"]["limit"] == 1
