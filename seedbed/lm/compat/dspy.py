"""What is used of DSPy's insides."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any

from seedbed.lm.compat import PrivateName

if TYPE_CHECKING:
    from dspy.lm15 import Response

_EXECUTION = "dspy.clients.execution"
_SILENCE = "seedbed/phases/optimizers/silence.py"

INSTANT = (
    PrivateName("dspy", _EXECUTION, "prepare", "seedbed/lm/executor.py"),
    PrivateName("dspy", _EXECUTION, "_price_result", "seedbed/lm/executor.py"),
)
"""Functions that DSPy sends through a thread on every call, in case they read a media file or a price list. With our
engines they do neither, and the two hops cost more than all else that DSPy does for a call. Where DSPy has renamed
them, they run in threads again."""

ERROR_BOUNDARY = PrivateName("dspy", "dspy.clients.errors", "error_boundary", "seedbed/lm/fast_path.py")
"""Turns an engine's errors into DSPy's public ones; whoever goes around `dspy.LM.acall` has to do so too."""

CALL_RESULT = PrivateName("dspy", "dspy.clients.call_result", "CallResult", "seedbed/lm/codec.py")
"""Makes of a response what `dspy.LM` returns; only it knows when that is a text and when a mapping."""

FIELD_TYPE = "__dspy_field_type"
"""Where a signature's field says whether it is an input or an output: part of what a description depends on."""

PRINTING = tuple(
    PrivateName("dspy", module, "print", _SILENCE)
    for module in (
        "dspy.teleprompt.bootstrap",
        "dspy.teleprompt.mipro_optimizer_v2",
        "dspy.teleprompt.utils",
        "dspy.propose.grounded_proposer",
        "dspy.propose.utils",
    )
)
"""Modules that print on stdout, which belongs to whoever called Seedbed. They take `print` from the builtins, unless
one is put into the module."""

BARS = tuple(
    PrivateName("dspy", module, "tqdm", _SILENCE) for module in ("dspy.utils.parallelizer", "dspy.teleprompt.bootstrap")
)
"""The module `tqdm`, looked up here whenever a bar is drawn on stdout."""


def error_boundary(model: str) -> AbstractContextManager[None]:
    """Inside, errors of an engine, and unexpected ones, become those that `dspy.LM` raises."""
    return ERROR_BOUNDARY.load()(model, unexpected=True)


def chat_output(response: Response) -> Any:
    """What `dspy.LM` returns for a response: a text, or a mapping where there is more to tell."""
    outputs = CALL_RESULT.load().native(response, model_type="chat", logprobs=False, provider=None).outputs
    return outputs[0] if outputs else None


def is_instant(function: Callable[..., Any]) -> bool:
    """Whether this is what `asyncio.to_thread` makes of a function of `INSTANT`: a partial of Context.run on it."""
    inner = getattr(function, "args", None)
    if not inner:
        return False
    return (getattr(inner[0], "__module__", None), getattr(inner[0], "__name__", None)) in _INSTANT_NAMES


_INSTANT_NAMES = frozenset((one.owner, one.name) for one in INSTANT)
