"""A cell: benchmark x system x optimizer x model x seed, and its id."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from seedbed.config import ModelConfig
from seedbed.hashing import hash_json

CELL_ID_VERSION = 1
"""Raise when the recipe below changes; golden tests pin the ids of the current one."""

# Fields of a model that change how it is reached or how fast, not what it answers.
_NOT_SAMPLING = frozenset({"api_key_env", "limits", "price", "timeout_s", "retries", "backoff_s"})


@dataclass(frozen=True, slots=True)
class Cell:
    """The unit that is scheduled, cached, retried and reported."""

    id: str
    experiment: int
    """Which experiment of the config it belongs to."""
    suite: str
    benchmark: str
    system: str
    optimizer: str
    model: str
    seed: int

    @property
    def folder(self) -> str:
        """Where its files lie, below the root of all runs."""
        return f"experiment_runs/seed_{self.seed}/{self.benchmark}_{self.system}_{self.optimizer}_{self.model}"

    @property
    def label(self) -> str:
        """What tells it from the other cells of its group."""
        return self.system if self.optimizer == "Baseline" else f"{self.system}+{self.optimizer}"

    @property
    def group(self) -> tuple[str, str, str, int]:
        return self.suite, self.benchmark, self.model, self.seed

    @property
    def title(self) -> str:
        """How it is called in the Prefect UI and in messages."""
        parts = [self.system, self.benchmark, *([self.optimizer] if self.optimizer != "Baseline" else []), self.model]
        return " · ".join([*parts, f"seed {self.seed}"])


def model_identity(model: ModelConfig) -> dict[str, Any]:
    """What of a model's settings can change its answers. Defaults are left out, so that new fields keep old ids."""
    settings = model.model_dump(mode="json", exclude_defaults=True, exclude=set(_NOT_SAMPLING))
    settings["temperature"] = model.temperature
    if model.simulated:
        settings["options"] = model.skill
    return settings


def cell_id(
    *,
    suite: str,
    suite_version: str,
    benchmark: Mapping[str, Any],
    system: Mapping[str, Any],
    optimizer: Mapping[str, Any],
    model: ModelConfig,
    roles: Mapping[str, ModelConfig],
    seed: int,
) -> str:
    """The hash of everything that affects a cell's results, and of nothing else."""
    identity = {
        "version": CELL_ID_VERSION,
        "suite": suite,
        "suite_version": suite_version,
        "benchmark": dict(benchmark),
        "system": dict(system),
        "optimizer": dict(optimizer),
        "model": model_identity(model),
        "roles": {role: model_identity(config) for role, config in roles.items()},
        "seed": seed,
    }
    return hash_json(identity)
