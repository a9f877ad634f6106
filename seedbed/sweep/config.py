"""A sweep is one YAML file, read into these models. Everything is frozen and unknown keys are refused."""

from __future__ import annotations

import difflib
import math
import os
import re
from pathlib import Path
from typing import Annotated, Any, Literal
from urllib.parse import unquote

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, ValidationError, model_validator

from seedbed.storage.paths import safe_name
from seedbed.storage.redact import is_secret_name, redact
from seedbed.storage.yamlfile import FieldPath, YamlFile, read_yaml
from seedbed.sweep.batch_config import CELLS_AT_ONCE
from seedbed.sweep.model_config import Frozen, ModelConfig, SecretVariable
from seedbed.sweep.normalise_config import NormaliseRule

_BY_ENVIRONMENT = "put it into an environment variable and name that (api_key_env: NAME)"
_KEY_IN_QUERY = re.compile(r"key|code|sig|signature|auth", re.IGNORECASE)
_SHORTEST_KEY = 8

Name = Annotated[str, AfterValidator(safe_name)]


class BudgetConfig(Frozen):
    max_usd: float | None = Field(default=None, ge=0)
    """No call is started that could take the sweep past this sum."""
    max_usd_per_cell: float | None = Field(default=None, ge=0)


class _Named(BaseModel):
    """A name with options: `lbrag` is short for `{name: lbrag}`. Options are checked by what they are given to."""

    model_config = ConfigDict(frozen=True, extra="allow", use_attribute_docstrings=True)

    name: str
    label: Name | None = None
    """The name in paths and tables, where two variants would otherwise share one."""

    @model_validator(mode="before")
    @classmethod
    def _from_name(cls, value: Any) -> Any:
        if isinstance(value, str):
            return {"name": value}
        # YAML's .inf has no place in JSON, where the plan is kept.
        return {k: "inf" if v == math.inf else v for k, v in value.items()} if isinstance(value, dict) else value

    @classmethod
    def __get_pydantic_json_schema__(cls, core: Any, handler: Any) -> dict[str, Any]:
        return {"anyOf": [{"type": "string"}, handler(core)]}

    @property
    def shown(self) -> str:
        return self.label or self.name

    @property
    def options(self) -> dict[str, Any]:
        return dict(self.model_extra or {})


class BenchmarkConfig(_Named):
    """A benchmark and its options (path, limit, and what the suite adds)."""


class SystemConfig(_Named):
    """A system and its options."""

    seed_changes_system: bool = False
    """Whether every seed makes another system of it, as training or a search does: comparisons are then about other
    seeds too, and need more than one."""
    normalise: list[NormaliseRule] = Field(default_factory=list[NormaliseRule])
    """What of its requests does not count when their answers are looked up: times, random ids."""


class OptimizerConfig(_Named):
    """An optimizer and its options; `Baseline` is none."""


class ScorerConfig(_Named):
    """A scorer beside the suite's own, and its options."""


_SWEPT = "_sweep"


def _each_variant(entries: Any) -> Any:
    """`{name: lbrag, budget_sweep: [0, 70, inf]}` stands for lbrag-b0, lbrag-b70 and lbrag-binf: a variant a value of
    the option `budget`, labelled with its initials. Entries without such an option stay as they are."""
    if not isinstance(entries, list):
        return entries
    return [variant for entry in entries for variant in _variants(entry)]


def _variants(entry: Any) -> list[Any]:
    swept = [key for key in entry if str(key).endswith(_SWEPT)] if isinstance(entry, dict) else []
    if not swept:
        return [entry]
    option, values = swept[0].removesuffix(_SWEPT), entry[swept[0]]
    if not isinstance(values, list) or not values:
        raise ValueError(f"{swept[0]} must be a list of values of {option}")
    rest = {key: value for key, value in entry.items() if key != swept[0]}
    label = rest.get("label") or rest.get("name")
    initials = "".join(word[:1] for word in option.split("_"))
    # Twice, so that two swept options give every pair of their values.
    return _each_variant([{**rest, option: value, "label": f"{label}-{initials}{value}"} for value in values])


class DecideConfig(Frozen):
    """Looking at contests while they grow: one that is decided asks no further sample."""

    metric: str | None = None
    """The metric that decides; null takes the first of the suite."""
    difference: float = Field(gt=0, allow_inf_nan=False)
    """The least difference that matters: a contest that could hardly show it any more is given up."""
    looks: int = Field(default=10, ge=2, le=20)
    """How often is looked, evenly spread over the cases."""


class Experiment(Frozen):
    suite: str
    models: list[str] = Field(min_length=1)
    benchmarks: list[BenchmarkConfig] = Field(min_length=1)
    systems: Annotated[list[SystemConfig], BeforeValidator(_each_variant)] = Field(min_length=1)
    """A list where an option takes one value gives a labelled variant for each; so does an option with `_sweep` behind
    its name."""
    optimizers: list[OptimizerConfig] = Field(default=[OptimizerConfig(name="Baseline")], min_length=1)
    scorers: list[ScorerConfig] = Field(default_factory=list)
    """Scorers beside the suite's own; their metrics stand behind those of the suite."""
    baseline: str | None = None
    """What the others are compared with: a system, or SYSTEM+OPTIMIZER; null takes the first system."""
    decide: DecideConfig | None = None
    """Ask cases in a random order, and stop asking a system when its contest with the baseline is decided."""


class NotifyConfig(Frozen):
    """Who is told of a nightly's verdict."""

    block: str | None = Field(default=None, pattern=r"^[a-z0-9-]+/[a-z0-9-]+$")
    """A notification block of Prefect, as TYPE/NAME: slack-webhook/lab, email-server-credentials/me."""
    url_env: SecretVariable | None = None
    """Name of the environment variable that holds the address of a webhook; it gets the verdict as JSON."""
    on: list[Literal["pass", "fail", "inconclusive"]] = Field(default=["fail", "inconclusive"])


class ExplainConfig(Frozen):
    """How a bad night is explained: old and new answers, judges and data are crossed."""

    max_usd: float | None = Field(default=None, ge=0)
    """What the crossings may cost; null takes `share` of the night's own cost, 0 makes only those that are free."""
    share: float = Field(default=0.5, ge=0)
    """Of what the night cost, as if fresh."""


class GateConfig(Frozen):
    """When a nightly run is a regression against the accepted baseline."""

    baseline: str | None = None
    """File of the baseline; null takes the newest that `seedbed baseline accept` wrote under `out`."""
    metrics: dict[str, list[str]] = Field(default_factory=dict)
    """Suite -> the metrics that are judged; a suite not named here is judged by its first."""
    alpha: float = Field(default=0.05, gt=0, lt=1)
    """Level of the paired tests, over all systems of a metric together (Holm)."""
    min_effect: float = Field(default=0.05, gt=0)
    """A drop up to this is none: a share of the metric's range, or of the baseline's mean where it has no range."""
    max_cost_growth: float | None = Field(default=0.25, ge=0)
    """How much more a sample may cost than in the baseline, as a share; null does not look."""
    max_error_share: float | None = Field(default=0.05, ge=0, le=1)
    """The share of samples without a score that is allowed in any system, beyond the baseline's own."""
    max_latency_growth: float | None = Field(default=1.0, ge=0)
    """How much slower the median call may be than in the baseline, as a share; 1.0 is twice as slow."""
    notify: NotifyConfig = NotifyConfig()
    explain: ExplainConfig | None = ExplainConfig()
    """Name what moved the figures of a night that does not pass; null does not."""


class RunnerConfig(Frozen):
    kind: Literal["threads", "dask", "ray"] = "threads"
    """Where cells are worked on: threads of this process, or the workers of a Dask or Ray cluster."""
    workers: int = Field(default=4, ge=1, le=1024)
    """Cells worked on at once."""
    address: str | None = None
    """Of the cluster (tcp://HOST:8786 for Dask, ray://HOST:10001 for Ray); null starts one on this machine."""
    processes: Literal["auto"] | Annotated[int, Field(ge=1, le=256)] = 1
    """Over how many processes of this machine the samples of a cell are spread while they are answered; `auto` takes
    one a core. For calls that come back so fast, and so many at once, that one core is the limit."""

    @property
    def remote(self) -> bool:
        """Whether phases run in other processes than the flow."""
        return self.kind != "threads"

    @property
    def cores(self) -> int:
        """The number of processes."""
        return (os.cpu_count() or 1) if self.processes == "auto" else self.processes

    @model_validator(mode="after")
    def _processes_of_one_machine(self) -> RunnerConfig:
        if self.processes != 1 and self.remote:
            raise ValueError("processes belongs to kind: threads; the workers of a cluster are its processes")
        return self

    @model_validator(mode="after")
    def _address_of_a_cluster(self) -> RunnerConfig:
        if self.address is not None and not self.remote:
            raise ValueError("address belongs to a cluster: give kind: dask or kind: ray, or leave it out")
        return self


def _unique(values: list[int]) -> list[int]:
    if len(set(values)) != len(values):
        raise ValueError(f"the same seed stands twice in {values}")
    return values


def _as_list(value: Any) -> Any:
    return [value] if isinstance(value, str) else value


Module = Annotated[str, Field(pattern=r"^[^\W\d]\w*(\.[^\W\d]\w*)*$", max_length=200)]
"""The name of a Python module."""


class SweepConfig(Frozen):
    name: Name
    seeds: Annotated[list[int], AfterValidator(_unique)] = Field(min_length=1)
    models: dict[Name, ModelConfig] = Field(min_length=1)
    """Name -> how to reach it. The name goes into paths and tables."""
    roles: dict[Name, str] = Field(default_factory=dict)
    """Which model plays the judge, the translator, the reflection model, or any other role that a system or scorer asks
    for by its name; `task` is the cell's own model."""
    budget: BudgetConfig = BudgetConfig()
    experiments: list[Experiment] = Field(min_length=1)
    runner: RunnerConfig = RunnerConfig()
    plugins: Annotated[list[Module], BeforeValidator(_as_list)] = Field(default_factory=list)
    """Modules with suites, benchmarks and systems of one's own, importable or beside this file."""
    out: str = "experiment_runs_data"
    """Where run folders, summaries and the ledger go: a folder, or s3://BUCKET/PREFIX, which needs `ledger` too."""
    ledger: str | None = None
    """sqlite:///FILE, or postgresql+psycopg://USER@HOST/DATABASE where several machines share it; null is ledger.sqlite
    in `out`. A password stands in PGPASSWORD or ~/.pgpass, never here."""
    gate: GateConfig = GateConfig()
    """What a nightly run is held to."""
    store_bodies: bool = True
    """Keep requests and responses in the ledger. Without them nothing can be reused after a crash."""
    max_error_share: float = Field(default=0.2, ge=0, le=1)
    """A cell in which more than this share of samples failed is a failed cell."""

    @model_validator(mode="before")
    @classmethod
    def _many_cells_wait(cls, value: Any) -> Any:
        """A batch holds what all cells ask, if they ask at once."""
        if not isinstance(value, dict) or not isinstance(value.get("models"), dict):
            return value
        batched = any(isinstance(model, dict) and model.get("service") == "batch" for model in value["models"].values())
        runner = value.get("runner") or {}
        if not batched or not isinstance(runner, dict) or "workers" in runner:
            return value
        return {**value, "runner": {**runner, "workers": CELLS_AT_ONCE}}

    @model_validator(mode="after")
    def _batches_are_kept(self) -> SweepConfig:
        for name, model in self.models.items():
            if model.service == "batch" and not self.store_bodies:
                raise ValueError(
                    "store_bodies: false leaves nothing to find the answers of a batch again by; remove it, or "
                    f"`service: batch` of model {name!r}"
                )
        return self


def load_config(path: Path, overrides: list[str] | None = None) -> tuple[SweepConfig, YamlFile]:
    """Read and check the shape of a config; names are checked against the registry when it is planned."""
    source = read_yaml(path, overrides)
    return check_config(source), source


def check_config(source: YamlFile) -> SweepConfig:
    """The config that a source holds, if its shape is right."""
    _refuse_secrets(source, source.data, ())
    try:
        return SweepConfig.model_validate(source.data)
    except ValidationError as error:
        raise source.error(*_explain(error)) from None


def _refuse_secrets(source: YamlFile, value: Any, at: FieldPath) -> None:
    """A config is copied into every run's folder; a key must not stand in it."""
    if isinstance(value, dict):
        for key, item in value.items():
            _refuse_secret_field(source, item, (*at, str(key)))
            _refuse_secrets(source, item, (*at, str(key)))
    elif isinstance(value, list):
        for index, item in enumerate(value):
            if isinstance(item, str) and len(item) >= _SHORTEST_KEY:
                _refuse_secret_field(source, item, (*at, index))
            _refuse_secrets(source, item, (*at, index))
    elif isinstance(value, str) and redact(value) != value:
        remedy = _BY_ENVIRONMENT
        if at == ("ledger",):
            remedy = "leave the password out and set PGPASSWORD, or write a line in ~/.pgpass"
        raise source.error(at, f"holds a secret; {remedy}.")


def _refuse_secret_field(source: YamlFile, value: Any, at: FieldPath) -> None:
    """What a model's `extra` or address would carry as a key, whatever it looks like."""
    if len(at) < 3 or at[0] != "models":
        return
    name = next(part for part in reversed(at) if isinstance(part, str))
    if at[2] == "extra" and name.lower() in ("headers", "extra_headers", "default_headers"):
        raise source.error(at, f"headers carry keys and a config is copied into every run's folder; {_BY_ENVIRONMENT}.")
    secret = name.lower() == "authorization" or (is_secret_name(name) and not name.lower().endswith("_tokens"))
    if at[2] == "extra" and isinstance(value, str) and secret:
        raise source.error(at, f"holds a secret; {_BY_ENVIRONMENT}.")
    if at[2:] == ("api_base",) and isinstance(value, str):
        names = [unquote(part.partition("=")[0]) for part in re.split("[?&;#]", value)[1:]]
        if any(_KEY_IN_QUERY.fullmatch(part) or is_secret_name(part) for part in names):
            raise source.error(at, f"has a key behind its '?'; {_BY_ENVIRONMENT}.")


def _explain(error: ValidationError) -> tuple[FieldPath, str]:
    """The first problem as a place and one sentence; a misspelt key before the missing one it stands for."""
    problems = error.errors(include_url=False)
    first = next((problem for problem in problems if problem["type"] == "extra_forbidden"), problems[0])
    location: FieldPath = tuple(part for part in first["loc"] if part != "[key]")
    match first["type"]:
        case "extra_forbidden":
            known = fields_at(SweepConfig, location[:-1])
            close = difflib.get_close_matches(str(location[-1]), known, n=1)
            hint = f"did you mean {close[0]!r}? " if close else ""
            return location, f"unknown key; {hint}Known here: {', '.join(known)}."
        case "missing":
            return location, "is required; add it."
        case _:
            message = first["msg"].removeprefix("Value error, ")
            return location, f"{message[0].lower()}{message[1:]} (got {first['input']!r})."


def fields_at(model: type[BaseModel], location: FieldPath) -> list[str]:
    """The field names of the model found at a place inside another, for 'did you mean'."""
    current: Any = model
    for part in location:
        if isinstance(current, type) and issubclass(current, BaseModel) and str(part) in current.model_fields:
            current = current.model_fields[str(part)].annotation
        else:
            # A list index or a dict key: step into the type of the items.
            arguments: tuple[Any, ...] = getattr(current, "__args__", ())
            current = arguments[-1] if arguments else current
        while not isinstance(current, type) and type(None) in getattr(current, "__args__", ()):
            current = next(arg for arg in current.__args__ if arg is not type(None))
    if isinstance(current, type) and issubclass(current, BaseModel):
        return list(current.model_fields)
    return []


def schema() -> dict[str, Any]:
    """The JSON schema of a sweep, for editors; `configs/schema.json` is this."""
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **SweepConfig.model_json_schema()}
