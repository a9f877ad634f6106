"""Functions and DSPy modules that a Python program gave, as systems."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Callable, Mapping, Sequence
from typing import Any, cast

import dspy

from seedbed.suites.kit.program import Program


def from_python(target: Any, answer: str | None) -> Callable[..., Any]:
    """A system that takes all inputs of a case and hands on those that the object asks for."""
    return Given(target.deepcopy(), answer) if isinstance(target, dspy.Module) else _function(target)


def asked_inputs(target: Any) -> tuple[list[str], bool]:
    """Names of the inputs an object cannot do without, and whether it takes any others too."""
    parameters = _parameters(target)
    if isinstance(target, dspy.Module) and _takes_any(parameters):
        signatures = [cast(Any, predictor).signature for predictor in target.predictors()]
        return list(signatures[0].input_fields) if len(signatures) == 1 else [], len(signatures) != 1
    needed = [p.name for p in parameters if p.default is p.empty and p.kind not in (p.VAR_KEYWORD, p.VAR_POSITIONAL)]
    return needed, _takes_any(parameters)


class Given(Program):
    """A DSPy module as it was given; optimizers work on a copy of it."""

    def __init__(self, module: Any, answer: str | None) -> None:
        super().__init__()
        self.module = module
        predictors: Sequence[Any] = module.predictors()
        outputs = list(predictors[-1].signature.output_fields) if predictors else ["answer"]
        self.answer_field = answer or ("answer" if "answer" in outputs else outputs[-1])

    async def aforward(self, **inputs: Any) -> dspy.Prediction:
        picked = _picked(self.module, inputs)
        if hasattr(self.module, "aforward"):
            reply = await self.module.acall(**picked)
        else:
            reply = await asyncio.to_thread(self.module, **picked)
        found = _named(reply)
        return dspy.Prediction(**{**found, "answer": found.get(self.answer_field, found.get("answer"))})


def _function(target: Callable[..., Any]) -> Callable[..., Any]:
    async def ask(**inputs: Any) -> Mapping[str, Any]:
        picked = _picked(target, inputs)
        if inspect.iscoroutinefunction(target):
            return _named(await target(**picked))
        return _named(await asyncio.to_thread(target, **picked))

    return ask


def _picked(target: Any, inputs: Mapping[str, Any]) -> dict[str, Any]:
    needed, takes_any = asked_inputs(target)
    if takes_any:
        return dict(inputs)
    names = {*needed, *(parameter.name for parameter in _parameters(target))}
    return {name: value for name, value in inputs.items() if name in names}


def _named(value: Any) -> dict[str, Any]:
    """An answer with a name: of a text or a number it is `answer`."""
    if isinstance(value, dspy.Prediction):
        return dict(value.items())
    if isinstance(value, Mapping):
        return dict(value)
    if isinstance(value, str | bool | int | float | list):
        return {"answer": value}
    raise TypeError(f"a system must return a text, a number, a dict or a prediction, not {type(value).__name__}")


def _parameters(target: Any) -> list[inspect.Parameter]:
    if isinstance(target, dspy.Module):
        kind: Any = type(target)
        method = kind.forward if hasattr(kind, "forward") else kind.aforward
        return list(inspect.signature(method).parameters.values())[1:]
    return list(inspect.signature(target).parameters.values())


def _takes_any(parameters: Sequence[inspect.Parameter]) -> bool:
    return any(parameter.kind is parameter.VAR_KEYWORD for parameter in parameters)
