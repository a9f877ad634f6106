"""Ends a search that no longer gains, for optimizers that score candidates by `dspy.Evaluate`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import dspy
from dspy.utils.callback import BaseCallback

from seedbed.sweep.optimizers import Job


class SearchEnded(BaseException):
    """Leaves a search from inside. Not an Exception, because optimizers swallow those."""


class Plateau(BaseCallback):
    """Counts the rounds in a row that brought no better score, and keeps the best program. A round is a program scored
    on the whole split; with a `proposer`, all programs scored until that model is asked again. After a crash scores
    come from the ledger, so that the same round is the last."""

    def __init__(self, patience: int, proposer: dspy.LM | None = None) -> None:
        self.best: dspy.Module | None = None
        self._patience = patience
        self._proposer = proposer
        self._score: float | None = None
        self._since = 0
        self._open = self._gained = False
        self._running: dict[str, dspy.Module] = {}

    def on_evaluate_start(self, call_id: str, instance: Any, inputs: dict[str, Any]) -> None:
        if self._proposer is None:
            self._end_round()
        # A minibatch says too little to be held against a whole split.
        if inputs["devset"] is None or len(inputs["devset"]) == len(instance.devset):
            self._running[call_id] = inputs["program"]

    def on_evaluate_end(self, call_id: str, outputs: Any, exception: BaseException | None = None) -> None:
        program = self._running.pop(call_id, None)
        if program is None or outputs is None:
            return
        self._open = True
        if self._score is None or outputs.score > self._score:
            # COPRO goes on writing into the program that it has scored.
            self._score, self.best, self._gained = outputs.score, program.deepcopy(), True

    def on_lm_start(self, call_id: str, instance: Any, inputs: dict[str, Any]) -> None:
        if instance is self._proposer:
            self._end_round()

    def _end_round(self) -> None:
        """Before more is paid for: end the search if the rounds so far have brought too little."""
        if not self._open:
            return
        self._since = 0 if self._gained else self._since + 1
        self._open = self._gained = False
        if self._since >= self._patience:
            raise SearchEnded


def until_flat(job: Job, search: Callable[[], dspy.Module], proposer: dspy.LM | None = None) -> dspy.Module:
    """What the search returns, or its best program where the option `stop` ends it before."""
    if job.options.stop is None:
        return search()
    plateau = Plateau(job.options.stop.patience, proposer)
    try:
        with dspy.context(callbacks=[*dspy.settings.callbacks, plateau]):
            return search()
    except SearchEnded:
        assert plateau.best is not None, "no search ends before its first round"
        return plateau.best
