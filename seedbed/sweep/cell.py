"""A cell: benchmark x system x optimizer x model x seed, its id, and the keys of its phases."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from seedbed.storage.hashing import hash_json
from seedbed.sweep.model_config import ModelConfig

CELL_ID_VERSION = 2
"""Raise when the recipe below changes; golden tests pin the ids of the current one."""

BASELINE = "Baseline"
"""The name of no optimizer at all."""

Phase = Literal["optimise", "generate", "score"]

IN_LOOKS = "whole clusters by their hash"
"""How the cases of a cell are asked that is looked at while it grows."""

# Fields of a model that change how it is reached or how fast, not what it answers.
_NOT_SAMPLING = frozenset(
    {"api_key_env", "limits", "price", "timeout_s", "retries", "backoff_s", "max_reply_mb", "service", "batch"}
)


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
    answers: Mapping[str, str]
    """What its answers depend on, a hash a part; together they are the id. Kept to say which part has changed."""
    scoring: Mapping[str, str]
    """What its scores depend on beyond the answers."""
    optimised: bool = False
    in_looks: bool = False
    """Whether its cases are asked look by look, as `decide` has it: it may be finished before all are asked."""

    @property
    def folder(self) -> str:
        """Where its files lie, below the root of all runs."""
        return f"experiment_runs/seed_{self.seed}/{self.benchmark}_{self.system}_{self.optimizer}_{self.model}"

    @property
    def label(self) -> str:
        """What tells it from the other cells of its group."""
        return self.system if self.optimizer == BASELINE else f"{self.system}+{self.optimizer}"

    @property
    def group(self) -> tuple[str, str, str, int]:
        return self.suite, self.benchmark, self.model, self.seed

    @property
    def title(self) -> str:
        """How it is called in the Prefect UI and in messages."""
        parts = [self.system, self.benchmark, *([self.optimizer] if self.optimizer != BASELINE else []), self.model]
        return " · ".join([*parts, f"seed {self.seed}"])

    @property
    def phases(self) -> tuple[Phase, ...]:
        return ("optimise", "generate", "score") if self.optimised else ("generate", "score")

    def key(self, phase: Phase) -> str:
        """The identity of a phase's result: of its marker, of Prefect's cache, of what must run again."""
        match phase:
            case "optimise":
                return hash_json([phase, self.id])
            case "generate":
                before = self.key("optimise") if self.optimised else self.id
                return hash_json([phase, before, *([IN_LOOKS] if self.in_looks else [])])
            case "score":
                return hash_json([phase, self.key("generate"), dict(self.scoring)])

    def parts(self, phase: Phase) -> Mapping[str, str]:
        """What the key of a phase is made from, by name."""
        own = {**self.answers, **self.scoring} if phase == "score" else self.answers
        return {**own, "order": hash_json(IN_LOOKS)} if self.in_looks and phase != "optimise" else own


def model_identity(model: ModelConfig) -> dict[str, Any]:
    """What of a model's settings can change its answers. Defaults are left out, so that new fields keep old ids."""
    settings = model.model_dump(mode="json", exclude_defaults=True, exclude=set(_NOT_SAMPLING))
    settings["temperature"] = model.temperature
    if model.simulated:
        settings["options"] = model.offline_identity
    return settings


def cell_id(answers: Mapping[str, str]) -> str:
    """The hash of everything that affects a cell's answers, and of nothing else."""
    return hash_json({"version": CELL_ID_VERSION, **answers})
