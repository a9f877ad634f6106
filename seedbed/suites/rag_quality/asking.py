"""Puts a typed question to a model: one call, one repair call if the reply does not fit, then an error."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

import dspy
from dspy.utils.exceptions import AdapterParseError

from seedbed.errors import BudgetReached, Interrupted, ProviderError, ReplayMiss, SeedbedError
from seedbed.lm.prices import price_of
from seedbed.lm.types import Usage
from seedbed.lm.usage import read_usage
from seedbed.storage.redact import redact
from seedbed.sweep.model_config import ModelConfig

T = TypeVar("T")

_QUOTED_REPLY = 600
_KEPT_PROMPTS = 32
_NOT_THE_SAMPLES_FAULT = (BudgetReached, Interrupted, ReplayMiss)


class Misfit(ValueError):
    """A reply that can be read but not used; the text tells the model what to mend."""


class AskError(SeedbedError):
    """A model that gave nothing usable, even when asked to mend it."""


@dataclass(slots=True)
class Account:
    """What the calls for one purpose took."""

    calls: int = 0
    cost_usd: float | None = 0.0
    elapsed_s: float = 0.0


class _Adapter(dspy.ChatAdapter):
    """DSPy's chat format without two of its costs: its fallback to JSON would be a second and a third call that nobody
    counted on, and it spells out the same types and schemas anew for every call."""

    def __init__(self) -> None:
        super().__init__(use_json_adapter_fallback=False)
        self._system: dict[type[dspy.Signature], str] = {}

    def format_system_message(self, signature: type[dspy.Signature]) -> str:
        if signature not in self._system:
            if len(self._system) >= _KEPT_PROMPTS:  # repairs have a signature of their own each
                self._system.clear()
            self._system[signature] = super().format_system_message(signature)
        return self._system[signature]


class Asker:
    """A model behind typed prompts. Makes no more than two calls a question, whatever comes back."""

    def __init__(self, lm: dspy.LM) -> None:
        self._lm = lm
        self._price = price_of(_config_of(lm))
        self._adapter = _Adapter()

    async def ask(
        self,
        account: Account,
        signature: type[dspy.Signature],
        inputs: Mapping[str, Any],
        check: Callable[[Any], T],
    ) -> T:
        """`check` turns the prediction into what is wanted, or raises Misfit."""
        try:
            return check(await self._call(account, signature, inputs))
        except AdapterParseError as error:
            problem, reply = "it lacks the fields and types asked for", str(error.lm_response)
        except Misfit as error:
            problem, reply = str(error), ""
        mended = signature.append("problem", dspy.InputField(desc="why your last reply could not be used"), type_=str)
        told = f"{problem}. Reply again, in full and in the format asked for." + _quote(reply)
        try:
            return check(await self._call(account, mended, {**inputs, "problem": told}))
        except AdapterParseError as error:
            raise AskError(f"the reply could not be read, nor its repair: {_short(str(error.lm_response))}") from error
        except Misfit as error:
            raise AskError(f"the reply does not fit, nor does its repair: {error}") from error

    async def _call(self, account: Account, signature: type[dspy.Signature], inputs: Mapping[str, Any]) -> Any:
        started = time.perf_counter()
        account.calls += 1
        with dspy.context(lm=self._lm, adapter=self._adapter), dspy.track_usage() as tracker:
            try:
                answer = await dspy.Predict(signature).acall(**inputs)
            except AdapterParseError:
                self._charge(account, tracker.usage_data)
                raise
            except _NOT_THE_SAMPLES_FAULT:
                raise
            except Exception as error:
                raise AskError(_words_of(error)) from error
            finally:
                account.elapsed_s += time.perf_counter() - started
            self._charge(account, tracker.usage_data)
            return answer

    def _charge(self, account: Account, usage: Mapping[str, list[Mapping[str, Any]]]) -> None:
        if not any(usage.values()):
            account.cost_usd = None  # an answer whose tokens nobody told was not free
        for entry in (entry for entries in usage.values() for entry in entries):
            used = read_usage(entry) or Usage(0, 0)
            known = self._price is not None and account.cost_usd is not None
            account.cost_usd = account.cost_usd + self._price.cost(used) if known else None  # type: ignore[operator,union-attr]


def _config_of(lm: dspy.LM) -> ModelConfig:
    """The model's own config where the LM is bound to one (its price may be set there), else what its name tells."""
    bound = getattr(getattr(lm, "async_engine", None), "_binding", None) or getattr(
        getattr(lm, "engine", None), "_binding", None
    )
    return bound.model if bound is not None else ModelConfig(model=lm.model)


def _words_of(error: BaseException) -> str:
    """The provider's own words where there are any, without secrets."""
    cause: BaseException | None = error
    while cause is not None:
        if isinstance(cause, ProviderError):
            return f"{cause.kind}: {redact(cause.message)}"
        cause = cause.__cause__ or cause.__context__
    return f"{type(error).__name__}: {_short(redact(str(error)))}"


def _quote(reply: str) -> str:
    return f" It began: {reply[:_QUOTED_REPLY]}" if reply.strip() else ""


def _short(text: str) -> str:
    flat = " ".join(text.split())
    return repr(flat if len(flat) <= 160 else f"{flat[:160]}…")
