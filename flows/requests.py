"""What a deployment asks for: the form in the Prefect UI is made from these models, and the server enforces them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field

from seedbed.errors import UserError
from seedbed.lm.usable_models import refuse_unusable
from seedbed.storage.paths import as_root
from seedbed.sweep.config import SweepConfig, load_config
from seedbed.sweep.plan import Plan, make_plan

_MAY_CHANGE = (
    ("runner", "workers"),
    ("max_error_share",),
    ("models", "*", "temperature"),
    ("models", "*", "retries"),
    ("models", "*", "timeout_s"),
    ("models", "*", "limits", "concurrency"),
    ("models", "*", "options", "*"),
)
"""What a request may override. It comes over the network: where calls, keys and results go, which code runs and what
may be spent is for the config alone to say, which lies on the worker's own disk."""
# Prefect's form reads Markdown, in which stars would be gone.
_LISTED = ", ".join(".".join("NAME" if part == "*" else part for part in field) for field in _MAY_CHANGE)


class ConfigRequest(BaseModel):
    """A sweep's config, with what is to be different this time."""

    model_config = ConfigDict(extra="forbid")

    config: str = Field(description="The sweep's YAML file, from the folder of the deployment.")
    seeds: list[int] | None = Field(default=None, description="Other seeds than the config's.")
    max_usd: float | None = Field(
        default=None, ge=0, allow_inf_nan=False, description="A smaller budget than the config's, in dollars."
    )
    overrides: list[str] = Field(
        default_factory=list,
        description=f"Further fields to override, each FIELD=VALUE: {_LISTED}.",
    )

    def plan(self) -> tuple[Plan, Path]:
        """The plan, checked as `seedbed run` checks it, and the root of its results."""
        for override in self.overrides:
            _refuse_unlisted(override)
        own, _ = load_config(Path(self.config))
        overrides = [*self.overrides, *self._own_overrides(own)]
        config, source = load_config(Path(self.config), overrides)
        plan = make_plan(config, source)
        refuse_unusable(config, source)
        plan.load_benchmarks()
        return plan, as_root(config.out)

    def _own_overrides(self, own: SweepConfig) -> Iterator[str]:
        if self.seeds is not None:
            yield f"seeds={self.seeds}"
        if self.max_usd is None:
            return
        if own.budget.max_usd is not None and self.max_usd > own.budget.max_usd:
            raise UserError(
                f"max_usd {self.max_usd:g}: {self.config} allows {own.budget.max_usd:g}; a request can lower the "
                "budget and not raise it. Change budget.max_usd in the file."
            )
        yield f"budget.max_usd={self.max_usd}"


class SweepRequest(ConfigRequest):
    """A sweep to run."""

    fresh: bool = Field(default=False, description="Use nothing made before: pay for every call again.")


class NightlyRequest(ConfigRequest):
    """A sweep to run every night and to hold against its baseline."""


class RescoreRequest(BaseModel):
    """A sweep whose stored answers are to be scored again."""

    model_config = ConfigDict(extra="forbid")

    config: str = Field(description="The sweep's YAML file: it says the sweep's name and where its results are.")


def _refuse_unlisted(override: str) -> None:
    name = override.partition("=")[0]
    parts = name.split(".")
    for allowed in _MAY_CHANGE:
        if len(parts) == len(allowed) and all(a in ("*", part) for a, part in zip(allowed, parts, strict=True)):
            return
    raise UserError(f"override {name}: a request may change {_LISTED} only; change the config's file for the rest.")
