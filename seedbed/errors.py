"""The errors of Seedbed: what a user can mend, what a provider did, what a sweep could not finish."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Literal

ProviderErrorKind = Literal[
    "rate_limit",
    "server",
    "timeout",
    "transport",
    "malformed",
    "auth",
    "billing",
    "context_length",
    "invalid_request",
]

RETRYABLE_KINDS: frozenset[ProviderErrorKind] = frozenset({"rate_limit", "server", "timeout", "transport", "malformed"})
"""Kinds that may go away by themselves; the others need a person."""

MAYBE_BILLED_KINDS: frozenset[ProviderErrorKind] = frozenset({"timeout", "transport", "malformed"})
"""Kinds after which nobody here knows whether the provider did the work and will charge for it."""


_LONG_WORD = re.compile(r"(\S{60})\S{280,}(\S{60})")
"""Longer than any path: what was typed or pasted by mistake, and is quoted back."""


class SeedbedError(Exception):
    """Base of all errors raised by Seedbed itself."""


class UserError(SeedbedError):
    """Something the user can mend. Printed as one sentence without a traceback; the exit code is 2."""

    def __str__(self) -> str:
        """The sentence; of a word nobody would read to its end, both ends."""
        return _LONG_WORD.sub(r"\1...\2", super().__str__())


class ProviderError(SeedbedError):
    """One attempt at a model call that did not give a usable answer."""

    def __init__(
        self,
        kind: ProviderErrorKind,
        message: str,
        *,
        status: int | None = None,
        retry_after: float | None = None,
        unsent: bool = False,
    ) -> None:
        super().__init__(message)
        self.kind: ProviderErrorKind = kind
        self.message = message
        self.status = status
        self.retry_after = retry_after
        self.unsent = unsent
        """The request never left, so nobody can charge for it."""

    @property
    def retryable(self) -> bool:
        return self.kind in RETRYABLE_KINDS

    @property
    def maybe_billed(self) -> bool:
        return self.kind in MAYBE_BILLED_KINDS and not self.unsent


class LeftByExit(SeedbedError):
    """The code of others, a system or a scorer, that called `sys.exit`."""


class CellFailed(SeedbedError):
    """A cell whose samples failed too often to give a figure. The other cells go on."""


class SweepStopped(SeedbedError):
    """Nothing further is started: what went wrong for one call would go wrong for all."""


class Unreachable(SweepStopped):
    """A model that cannot answer any call as it is set up: wrong address, name or key. A person has to mend it."""


class BudgetReached(SweepStopped):
    """The next paid call could pass the dollar cap. Not a failure of a sample: the work is resumable."""


class ReplayMiss(SweepStopped):
    """A replay met a request that the ledger does not hold."""


class Interrupted(SweepStopped):
    """The sweep was asked to stop; no new call is started."""


class Signalled(KeyboardInterrupt):
    """Ctrl-C or SIGTERM, as it reaches the main thread."""

    def __init__(self, number: int) -> None:
        super().__init__(f"signal {number}")
        self.number = number

    @property
    def exit_code(self) -> int:
        """As a shell would tell of a process that died of the signal."""
        return 128 + self.number


@contextmanager
def staying() -> Iterator[None]:
    """Code of others that leaves by `sys.exit` fails, and nothing else: it would end the loop that all samples share,
    and whoever waits for them would wait for ever."""
    try:
        yield
    except SystemExit as end:
        raise LeftByExit(f"the code called sys.exit({end.code!r})") from end


def causes(error: BaseException) -> Iterator[BaseException]:
    """The error and what it was raised from, outermost first."""
    seen: set[int] = set()
    current: BaseException | None = error
    while current is not None and id(current) not in seen:
        seen.add(id(current))
        yield current
        current = current.__cause__ or current.__context__


def is_stop(error: BaseException) -> bool:
    """Whether an error is the end of the sweep and not a fault of the sample it came up with."""
    return any(isinstance(cause, SweepStopped) for cause in causes(error))
