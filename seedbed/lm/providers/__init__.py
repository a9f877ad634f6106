"""Providers, and which one reaches a model. Each is imported only when a model needs it.

To add one, decorate what makes it from a model's name behind the prefix and its settings:

    @provider("mine")
    def mine(name: str, model: ModelConfig) -> Provider: ...
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from seedbed.lm.types import Attempt, Provider
from seedbed.suite import Target, resolve
from seedbed.sweep.batch_config import SPEAKS_OPENAI
from seedbed.sweep.model_config import ModelConfig

MakeProvider = Callable[[str, ModelConfig], Provider]
"""From the name behind the prefix and the model's settings."""
__all__ = ["Attempt", "Provider", "make_provider", "prefixes", "provider"]
MakeT = TypeVar("MakeT", bound=MakeProvider)

_OPENAI = "seedbed.lm.providers.openai_http:OpenAIHttpProvider"
_LITELLM = "seedbed.lm.providers.litellm:LitellmProvider"
_SERVED = "seedbed.lm.served.provider:served_provider"
_BY_PREFIX: dict[str, Target[MakeProvider]] = {
    "local": "seedbed.lm.served.provider:local_provider",
    "local:": "seedbed.lm.served.provider:file_provider",
    "offline": "seedbed.offline.provider:offline_provider",
    "openai": _OPENAI,
}


def provider(prefix: str) -> Callable[[MakeT], MakeT]:
    """Decorator: reach all models whose name begins with `PREFIX/` in a way of one's own."""

    def register(make: MakeT) -> MakeT:
        _BY_PREFIX[prefix] = make
        return make

    return register


def prefixes() -> set[str]:
    """What a model's name may begin with, litellm's many others apart."""
    return {*_BY_PREFIX, *SPEAKS_OPENAI}


def make_provider(model: ModelConfig) -> Provider:
    """The provider of a model: a server that is started for it, that of its prefix, OpenAI-compatible HTTP, or litellm
    for every other name."""
    prefix, _, name = model.model.partition("/")
    if model.serve is not None:
        return resolve(_SERVED)(name, model)
    chosen = _BY_PREFIX.get(prefix) or (_OPENAI if model.api_base and prefix in SPEAKS_OPENAI else _LITELLM)
    return resolve(chosen)(name, model)
