"""DSPy's optimizers print and draw progress bars on stdout, which belongs to whoever called Seedbed."""

from __future__ import annotations

import logging
import threading
from collections.abc import Iterable, Iterator
from types import SimpleNamespace
from typing import Any, ClassVar

from seedbed.lm.compat import LibraryChanged, PrivateName
from seedbed.lm.compat.dspy import BARS, PRINTING
from seedbed.lm.compat.gepa import BAR

logger = logging.getLogger("seedbed.optimizers")

_done = threading.Lock()


class NoBar:
    """What is asked of a bar, and nothing is drawn. A bar of tqdm's that is disabled still enters a set of all bars,
    which DSPy empties whenever it evaluates: of two searches in one process one failed now and then."""

    _instances: ClassVar[set[Any]] = set()

    def __init__(self, iterable: Iterable[Any] = (), *_: object, **__: object) -> None:
        self._iterable = iterable

    def __iter__(self) -> Iterator[Any]:
        return iter(self._iterable)

    def update(self, n: float = 1) -> None: ...

    def set_description(self, desc: str | None = None) -> None: ...

    def close(self) -> None: ...


def silence() -> None:
    """Sends what DSPy's optimizers print to the log `seedbed.optimizers` and draws no bars; once a process is enough.
    Redirecting stdout instead would swallow what other threads write."""
    if not _done.acquire(blocking=False):
        return
    for name in PRINTING:
        _put(name, _log)
    for name in BARS:
        _put(name, SimpleNamespace(tqdm=NoBar))
    _put(BAR, NoBar)
    # Every evaluation logs a line, every unreadable answer a traceback; both are in our own logs.
    for name in ("dspy.teleprompt", "dspy.evaluate", "dspy.utils.parallelizer", "dspy.propose"):
        logging.getLogger(name).setLevel(logging.CRITICAL)
    logging.getLogger("dspy.predict.predict").addFilter(_not_of_proposers)
    import optuna

    optuna.logging.set_verbosity(optuna.logging.WARNING)


def _not_of_proposers(record: logging.LogRecord) -> bool:
    """MIPROv2's proposer gives its own predictors fields they do not have, and DSPy warns of it at every call."""
    message = record.getMessage()
    return not (
        "fields not in signature" in message and ("['max_depth']" in message or "previous_instructions" in message)
    )


def _put(name: PrivateName, value: Any) -> None:
    """What is printed or drawn after all is no reason to stop a search."""
    try:
        vars(name.module())[name.name] = value
    except LibraryChanged as error:
        logger.warning("%s", error)


def _log(*parts: object, **_: object) -> None:
    logger.debug("%s", " ".join(map(str, parts)))
