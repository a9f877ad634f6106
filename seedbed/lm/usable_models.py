"""Refusing models that cannot be asked, before anything is started: a name nobody knows, a key that is not there."""

from __future__ import annotations

import difflib
import os
from collections.abc import Iterator

from seedbed.lm.prices.price_list import list_entry, models_by_provider
from seedbed.lm.providers import prefixes
from seedbed.storage.yamlfile import YamlFile
from seedbed.sweep.checks import missing_keys
from seedbed.sweep.config import SweepConfig
from seedbed.sweep.model_config import ModelConfig

_KEYS = {
    "openai": ("OPENAI_API_KEY",),
    "anthropic": ("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN"),
    "gemini": ("GEMINI_API_KEY", "GOOGLE_API_KEY"),
    "mistral": ("MISTRAL_API_KEY",),
    "groq": ("GROQ_API_KEY",),
    "deepseek": ("DEEPSEEK_API_KEY",),
    "openrouter": ("OPENROUTER_API_KEY", "OR_API_KEY"),
    "xai": ("XAI_API_KEY",),
}
"""Where providers that take no call without a key look for it, unless `api_key_env` names another variable."""
_NEAR = 0.8


def refuse_unusable(config: SweepConfig, source: YamlFile) -> list[str]:
    """Refuse a model that is used and has no key, or whose provider nobody knows; returns warnings about names that
    look like slips."""
    missing_keys(config, source)
    for name in _used(config):
        _refuse_without_key(name, config.models[name], source)
    return check_model_names(config, source)


def check_model_names(config: SweepConfig, source: YamlFile) -> list[str]:
    """Refuse a provider that nobody knows; returns warnings about models that litellm's list does not have, where it
    has one that is called almost so. A new model need not be in it."""
    warnings: list[str] = []
    for name in _used(config):
        model = config.models[name]
        prefix = model.model.partition("/")[0]
        if model.serve is None and prefix not in prefixes() and prefix not in models_by_provider():
            _ask_litellm(name, model, source)
        if (told := _slip(model)) is not None:
            warnings.append(f"models.{name}.model: {told}")
    return warnings


def _used(config: SweepConfig) -> Iterator[str]:
    used = {name for experiment in config.experiments for name in experiment.models} | set(config.roles.values())
    return (name for name in sorted(used) if name in config.models)


def _refuse_without_key(name: str, model: ModelConfig, source: YamlFile) -> None:
    known = _KEYS.get(model.model.partition("/")[0])
    if known is None or model.api_base or model.api_key_env or model.serve or "api_key" in str(model.extra):
        return
    if not any(os.environ.get(variable) for variable in known):
        raise source.error(
            ("models", name),
            f"{model.model} needs a key; export {known[0]}, or name the variable that holds it: api_key_env: NAME.",
        )


def _ask_litellm(name: str, model: ModelConfig, source: YamlFile) -> None:
    """Its list of prices has most providers, and importing it takes seconds: it is asked about the rest alone."""
    from seedbed.lm.providers.litellm import import_litellm

    try:
        import_litellm().get_llm_provider(model.model)
    except Exception:
        prefix, _, rest = model.model.partition("/")
        close = difflib.get_close_matches(prefix, {*prefixes(), *models_by_provider()}, n=1)
        hint = f"did you mean {close[0]}/{rest}? " if close else ""
        some = "offline/, local/, openai/, anthropic/, gemini/"
        raise source.error(
            ("models", name, "model"),
            f"no provider is called {prefix!r}; {hint}Names begin with {some} or another provider of litellm.",
        ) from None


def _slip(model: ModelConfig) -> str | None:
    prefix, _, own = model.model.partition("/")
    listed = models_by_provider().get(prefix)
    if listed is None or model.api_base or model.price or model.serve or list_entry(model.model) is not None:
        return None
    close = difflib.get_close_matches(own, listed, n=1, cutoff=_NEAR)
    return f"{model.model} is not in litellm's list; did you mean {prefix}/{close[0]}?" if close else None
