"""What a deployment asks for: the form in the Prefect UI is made from these models, and the server enforces them."""

from __future__ import annotations

from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field

from seedbed.config import SweepConfig, load_config
from seedbed.paths import as_root
from seedbed.plan import Plan, make_plan, missing_keys


class ConfigRequest(BaseModel):
    """A sweep's config, with what is to be different this time."""

    model_config = ConfigDict(extra="forbid")

    config: str = Field(description="The sweep's YAML file, from the folder of the deployment.")
    seeds: list[int] | None = Field(default=None, description="Other seeds than the config's.")
    max_usd: float | None = Field(default=None, ge=0, description="Another budget than the config's, in dollars.")
    overrides: list[str] = Field(
        default_factory=list, description="Further fields to override, each FIELD=VALUE (runner.workers=8)."
    )
    out: str | None = Field(default=None, description="Where results go; the config says where by default.")

    def plan(self) -> tuple[Plan, Path]:
        """The plan, checked as `seedbed run` checks it, and the root of its results."""
        overrides = list(self.overrides)
        if self.seeds is not None:
            overrides.append(f"seeds={self.seeds}")
        if self.max_usd is not None:
            overrides.append(f"budget.max_usd={self.max_usd}")
        config, source = load_config(Path(self.config), overrides)
        plan = make_plan(config, source)
        missing_keys(config, source)
        plan.load_benchmarks()
        return plan, self.root(config)

    def root(self, config: SweepConfig) -> Path:
        return as_root(self.out or config.out)


class SweepRequest(ConfigRequest):
    """A sweep to run."""

    fresh: bool = Field(default=False, description="Use nothing made before: pay for every call again.")


class NightlyRequest(ConfigRequest):
    """A sweep to run every night and to hold against its baseline."""


class RescoreRequest(BaseModel):
    """A sweep whose stored answers are to be scored again."""

    model_config = ConfigDict(extra="forbid")

    sweep: str = Field(description="Name of the sweep.")
    out: str = Field(default="experiment_runs_data", description="Where its results are.")
