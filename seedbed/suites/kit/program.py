"""A base for systems written with `aforward` only."""

from __future__ import annotations

import asyncio
import copy
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar, cast

import dspy
from dspy.primitives.base_module import BaseModule

from seedbed.lm.lm import SeedbedLM

T = TypeVar("T")


def wait_for(lm: dspy.LM, work: Callable[[], Coroutine[Any, Any, T]]) -> T:
    """Do asynchronous work for somebody who calls from a thread, as optimizers do."""
    return lm.wait_for(work) if isinstance(lm, SeedbedLM) else asyncio.run(work())


class Program(dspy.Module):
    """A system whose `aforward` is all there is: phases await it, optimizers, which call from threads, get a `forward`.
    Copies, of which optimizers make many, have prompts of their own and share everything else (corpora, clients)."""

    def forward(self, **inputs: Any) -> dspy.Prediction:
        return wait_for(dspy.settings.lm, lambda: cast(Any, self).aforward(**inputs))

    def __deepcopy__(self, memo: dict[int, Any]) -> Program:
        twin = type(self).__new__(type(self))
        memo[id(self)] = twin
        for name, value in self.__dict__.items():
            own = isinstance(value, BaseModule | list | dict)
            object.__setattr__(twin, name, copy.deepcopy(value, memo) if own else value)
        return twin
