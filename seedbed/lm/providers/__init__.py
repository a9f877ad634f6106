"""Providers, and which one reaches a model. Each is imported only when a model needs it."""

from __future__ import annotations

from seedbed.config import ModelConfig
from seedbed.lm.types import Provider

# Prefixes of litellm names whose servers speak the OpenAI chat dialect at the address given as api_base.
_SPEAKS_OPENAI = frozenset(
    {"openai", "hosted_vllm", "vllm", "ollama", "ollama_chat", "lm_studio", "llamafile", "llamacpp"}
)


def make_provider(model: ModelConfig) -> Provider:
    """The provider of a model: in process, OpenAI-compatible HTTP, or litellm for every other name."""
    prefix, _, name = model.model.partition("/")
    if prefix == "offline":
        from seedbed.lm.offline import OfflineOptions, OfflineProvider

        return OfflineProvider(name, OfflineOptions.model_validate(dict(model.options)))
    if prefix == "openai" or (model.api_base and prefix in _SPEAKS_OPENAI):
        from seedbed.lm.providers.openai_http import OpenAIHttpProvider

        return OpenAIHttpProvider(name, model)
    from seedbed.lm.providers.litellm import LitellmProvider

    return LitellmProvider(model)
