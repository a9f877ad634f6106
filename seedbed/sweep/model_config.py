"""How a model is reached and asked: the part of a config under `models:`."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Annotated, Any, Literal
from urllib.parse import urlsplit

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, model_validator

from seedbed.storage.redact import keep_secret
from seedbed.sweep.batch_config import BatchConfig, BatchProtocol, batch_protocol
from seedbed.sweep.price_config import Price

OFFLINE_MODEL_VERSION = 3
"""Raise when the offline model answers differently: stored answers and results of the old one are then not used."""

_LOCAL = re.compile(r"local:?/")
_HERE = frozenset({"localhost", "127.0.0.1", "::1"})
LOCAL_SLOTS = 2
"""Requests that a llama.cpp started for a sweep works on at once, unless told otherwise."""
SERVER_START = 4
"""Calls in flight at first to any other server on this machine, unless told otherwise."""
_NEEDS_ADDRESS = frozenset({"llamacpp", "hosted_vllm", "vllm"})
"""Prefixes of models that lie at no known place."""

SecretVariable = Annotated[str, AfterValidator(keep_secret)]
"""The name of an environment variable whose value is masked everywhere from then on."""


class Frozen(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", use_attribute_docstrings=True, allow_inf_nan=False)


class Limits(Frozen):
    concurrency: int = Field(default=16, ge=1)
    """Calls in flight at once at most, over all cells of the process. Left out, it is the number of slots for a local
    model."""
    start: int | None = Field(default=None, ge=1)
    """Calls in flight at first; more follow as long as they bring more answers in the same time. Left out, it is
    `concurrency`; for a server on this machine whose concurrency is left out, the slots that it tells of, or 4."""
    rpm: float | None = Field(default=None, gt=0)
    """Requests a minute."""
    tpm: float | None = Field(default=None, gt=0)
    """Tokens a minute, input and output together."""
    scope: Literal["process", "sweep"] = "process"
    """`sweep` shares these limits out evenly over all processes at work on the ledger; `process` gives them to each."""


def _switch(value: Any) -> Any:
    """YAML takes a bare on and off for true and false."""
    return {True: "on", False: "off"}[value] if isinstance(value, bool) else value


Switch = Annotated[Literal["auto", "on", "off"], BeforeValidator(_switch)]


class ServeConfig(Frozen):
    """A server that is started for the sweep and ends with it."""

    command: str | list[str] = Field(min_length=1)
    """What to start, on this machine; {port} stands for a free port, where the model has no api_base."""
    ready: str = Field(default="/health", pattern=r"^/")
    """A path that is answered with 200 once the server can be asked."""
    timeout_s: float = Field(default=300.0, gt=0)
    """How long that may take."""


def _mapping(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


class ModelConfig(Frozen):
    model: str = Field(pattern=r"^[^/\s]+/\S+$")
    """A litellm name such as openai/gpt-4.1-mini, local/NAME or local:/PATH.gguf for a real model in a process of its
    own, or offline/NAME for the embedded one."""
    temperature: float = Field(default=0.0, ge=0, le=2)
    top_p: float | None = Field(default=None, ge=0, le=1)
    max_tokens: int | None = Field(default=None, ge=1)
    api_base: str | None = None
    """Address of an OpenAI-compatible endpoint; null takes the provider's own."""
    api_key_env: SecretVariable | None = None
    """Name of the environment variable that holds the key. The key itself never stands in a config."""
    structured: Annotated[Literal["auto", "schema", "json", "off"], BeforeValidator(_switch)] = "auto"
    """Whether an answer can be asked for by a JSON schema, or as JSON of any kind; `auto` goes by what is known of the
    model, which of a server of one's own is nothing."""
    tools: Switch = "auto"
    """Whether the model takes tools as such (native tool calls)."""
    adapter: Literal["chat", "json", "xml"] = "chat"
    """The form in which DSPy asks and reads: marked fields, JSON (with a schema where `structured` allows), or XML."""
    send_seed: Switch = "auto"
    """Whether the provider is sent a seed, made from the sweep's and the sample, where sampling is random; `auto` sends
    it where the provider is known to take one."""
    serve: ServeConfig | None = None
    """A server of one's own to start with the sweep."""
    service: Literal["online", "batch"] = "online"
    """`batch` gathers the calls and sends them as batches, which are answered within a day at about half the price."""
    batch: BatchConfig = BatchConfig()
    limits: Limits = Limits()
    price: Price | None = None
    """Overrides the bundled price list."""
    timeout_s: float = Field(default=120.0, gt=0)
    """How long one attempt may take."""
    retries: int = Field(default=4, ge=0)
    """Further attempts after a failure that may pass."""
    backoff_s: float = Field(default=1.0, ge=0)
    """The pause before the first retry; it doubles with each, with jitter. A Retry-After is always honoured."""
    max_reply_mb: float = Field(default=8.0, gt=0)
    """A longer reply is not read to its end: it is a failed attempt."""
    extra: Mapping[str, Any] = Field(default_factory=dict)
    """Further fields of the request body, passed on as they are (reasoning_effort, seed, ...)."""
    options: Mapping[str, Any] = Field(default_factory=dict)
    """Options of the offline model (ability, noise, latency_ms, errors), or of a local one (slots, context,
    threads)."""

    @model_validator(mode="before")
    @classmethod
    def _costs_nothing(cls, value: Any) -> Any:
        """Nobody is billed for a model on this machine; without a price it could have no budget."""
        if isinstance(value, dict) and _LOCAL.match(str(value.get("model"))):
            return {"price": {"input": 0, "output": 0}, **value}
        return value

    @model_validator(mode="before")
    @classmethod
    def _few_at_once_here(cls, value: Any) -> Any:
        """A server on this machine answers few at once; what waits in its queue can only time out."""
        limits = _mapping(value.get("limits")) if isinstance(value, dict) else {}
        if not isinstance(value, dict) or {"concurrency", "start"} & limits.keys():
            return value
        if _LOCAL.match(str(value.get("model"))):
            own = _mapping(value.get("options")).get("slots")
            few = {"concurrency": own if isinstance(own, int) and own > 0 else LOCAL_SLOTS}
        elif value.get("serve") or urlsplit(str(value.get("api_base"))).hostname in _HERE:
            few = {"start": SERVER_START}
        else:
            return value
        given = value.get("limits") or {}
        return {**value, "limits": {**given, **few}} if isinstance(given, dict) else value

    @model_validator(mode="after")
    def _reachable(self) -> ModelConfig:
        if self.api_base is not None and not self.api_base.startswith(("http://", "https://")):
            raise ValueError(f"api_base {self.api_base!r} is no address: write http:// or https:// before it")
        prefix = self.model.partition("/")[0]
        if self.api_base is None and self.serve is None and prefix in _NEEDS_ADDRESS:
            raise ValueError(f"a {prefix}/ model needs the address of its server: api_base: http://127.0.0.1:8080/v1")
        return self

    @model_validator(mode="after")
    def _has_batches(self) -> ModelConfig:
        if self.service != "batch":
            return self
        host = urlsplit(self.api_base or "").hostname or ""
        if self.batch_protocol is None or self.serve is not None or ".azure." in f"{host}.":
            raise ValueError(
                f"service: batch: no batches are known of {self.model}; openai/ and anthropic/ models have them, and "
                "OpenAI-compatible servers at an api_base; leave `service` out"
            )
        return self

    @property
    def batch_protocol(self) -> BatchProtocol | None:
        """What its batches are spoken in, where it has any."""
        return batch_protocol(self.model, self.api_base)

    def is_batched(self, phase: str) -> bool:
        """Whether calls of a phase go out in batches."""
        return self.service == "batch" and (phase != "optimise" or self.batch.optimise == "batch")

    @property
    def local(self) -> bool:
        """Whether llama.cpp is started for it."""
        return _LOCAL.match(self.model) is not None

    @property
    def simulated(self) -> bool:
        return self.model.startswith("offline/")

    @property
    def provider(self) -> str:
        """Whom it is asked of: the host of its address, or the name before the model's."""
        return (self.api_base and urlsplit(self.api_base).hostname) or self.model.partition("/")[0]

    @property
    def offline_identity(self) -> dict[str, Any]:
        """What decides the answers of the offline model, its own version among it; empty for every other model.
        Latency and faults are left out, but for answers that are spoilt: the others change how an answer comes, not
        what it says."""
        if not self.simulated:
            return {}
        chosen = {name: value for name, value in self.options.items() if name not in ("latency_ms", "errors")}
        faults = self.options.get("errors")
        if isinstance(faults, Mapping) and (spoilt := faults.get("malformed")):
            chosen["malformed"] = spoilt
        return {"version": OFFLINE_MODEL_VERSION, **chosen}
