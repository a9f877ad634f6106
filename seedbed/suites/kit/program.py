"""A base for systems written with `aforward` only."""

from __future__ import annotations

import asyncio
import copy
from typing import Any, cast

import dspy
from dspy.primitives.base_module import BaseModule


class Program(dspy.Module):
    """A system whose `aforward` is all there is: phases await it, optimizers, which call from threads, get a `forward`.
    Copies, of which optimizers make many, have prompts of their own and share everything else (corpora, clients)."""

    def forward(self, **inputs: Any) -> dspy.Prediction:
        # The calls themselves are made on the LM runtime's loop; this one only waits for them.
        return asyncio.run(cast(Any, self).aforward(**inputs))

    def __deepcopy__(self, memo: dict[int, Any]) -> Program:
        twin = type(self).__new__(type(self))
        memo[id(self)] = twin
        for name, value in self.__dict__.items():
            own = isinstance(value, BaseModule | list | dict)
            object.__setattr__(twin, name, copy.deepcopy(value, memo) if own else value)
        return twin
