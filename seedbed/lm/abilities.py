"""What a model can do beyond text: answers to a schema, tools, reasoning. DSPy asks the engine of an LM for it and
leaves out what the engine does not declare."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from seedbed.lm.prices.price_list import list_entry
from seedbed.sweep.model_config import ModelConfig

_FORMAT = "response_format"
_TOOLS = frozenset({"tools", "tool_choice"})


@dataclass(frozen=True, slots=True)
class Abilities:
    function_calling: bool = False
    reasoning: bool = False
    response_schema: bool = False
    params: frozenset[str] = frozenset()
    """Fields that a request may have."""


_LLAMA = Abilities(response_schema=True, params=frozenset({_FORMAT, "seed", "temperature", "max_tokens", "top_p"}))
"""llama.cpp writes any answer to a schema."""


def abilities_of(model: ModelConfig) -> Abilities:
    """What DSPy's catalogue knows of the model, unless the config says otherwise."""
    known = _known(model)
    schema, params = known.response_schema, known.params
    match model.structured:
        case "schema":
            schema, params = True, params | {_FORMAT}
        case "json":
            schema, params = False, params | {_FORMAT}
        case "off":
            schema, params = False, params - {_FORMAT}
        case "auto":
            pass
    tools = known.function_calling
    if model.tools != "auto":
        tools = model.tools == "on"
        params = params | _TOOLS if tools else params - _TOOLS
    return Abilities(tools, known.reasoning, schema, params)


def takes_images(model: ModelConfig) -> bool | None:
    """Whether a model can be sent images; None where nobody knows, as of a server of one's own. The offline model reads
    the texts beside them."""
    if model.local:
        return False
    entry = None if model.simulated or model.api_base else list_entry(model.model)
    return None if entry is None else bool(entry.get("supports_vision"))


def _known(model: ModelConfig) -> Abilities:
    if model.local:
        return _LLAMA
    return Abilities() if model.simulated else _catalogued(model.model, model.api_base)


@lru_cache(maxsize=256)
def _catalogued(name: str, api_base: str | None) -> Abilities:
    """As a plain `dspy.LM` of that name believes."""
    import dspy

    plain = dspy.LM(name, api_base=api_base) if api_base else dspy.LM(name)
    return Abilities(
        plain.supports_function_calling,
        plain.supports_reasoning,
        plain.supports_response_schema,
        frozenset(plain.supported_params),
    )
