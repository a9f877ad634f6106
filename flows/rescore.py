"""The rescore: stored answers are scored again with the metrics of today; nothing is generated."""

from __future__ import annotations

from typing import Any

from prefect import Flow

from flows.sweep import sweep_on
from seedbed.sweep.config import RunnerConfig


def rescore_on(runner: RunnerConfig) -> Flow[[str], Any]:
    """The sweep flow under its own name. That only the score phase runs stands in the run's folder."""
    return sweep_on(runner).with_options(name="rescore")
