"""Who may call, and for whom: a key names sweep, cell, phase, role and sample, and is good until that ends."""

from __future__ import annotations

import asyncio
import secrets
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from seedbed.lm.attempts import Binding
from seedbed.lm.types import JsonDict

Bind = Callable[[str], Binding]
"""From a role to the binding of its calls."""
Sample = tuple[str | None, int]
Gone = Callable[[], bool]
"""Whether who asked is there no more to hear the answer."""

_PREFIX = "sk-seedbed-"
"""As keys look, so that one that a program prints is masked like any other."""


@dataclass(slots=True)
class Turn:
    """One of several equal requests of a sample."""

    place: int
    gone: Gone
    tries: int = 0
    free: bool = False


class Turns:
    """Tells a program that asks the same again, and wants another answer, from one that tries again after a failure, or
    after it lost patience: the latter gets the turn, and so the answer, that it asked for before."""

    def __init__(self) -> None:
        self._turns: dict[str, list[Turn]] = {}

    @contextmanager
    def taken(self, key: str, count: int, gone: Gone) -> Iterator[list[Turn]]:
        """So many turns of a request. They are used up when it is answered and the answer can be delivered."""
        mine = [self._take(key, gone) for _ in range(count)]
        try:
            yield mine
        except BaseException:
            self._give_back(mine, gone)
            raise
        if gone():
            return  # whoever asks next finds that these are nobody's
        for turn in mine:
            if turn.gone is gone:
                turn.gone = _never

    def _take(self, key: str, gone: Gone) -> Turn:
        turns = self._turns.setdefault(key, [])
        # Free again, or of somebody who has hung up while the call goes on: its answer is for who asks now.
        turn = next((turn for turn in turns if turn.free or turn.gone()), None)
        if turn is None:
            turn = Turn(len(turns), gone)
            turns.append(turn)
        turn.gone, turn.free = gone, False
        turn.tries += 1
        return turn

    def _give_back(self, turns: list[Turn], gone: Gone) -> None:
        for turn in turns:
            if turn.gone is gone:  # nobody else has taken it over
                turn.free = True


def _never() -> bool:
    """Of a turn that is used up: its client may hang up now."""
    return False


@dataclass(eq=False)
class Grant:
    """Leave to call for one role in one sample of one phase."""

    key: str = field(repr=False)
    bind: Bind
    role: str
    sample: Sample
    execution: str
    turns: Turns = field(default_factory=Turns, repr=False)
    said: dict[str, list[JsonDict]] = field(default_factory=dict[str, list[JsonDict]], repr=False)
    """By the id of a response: the conversation up to it, which a client may go on with by that id alone."""
    running: set[asyncio.Task[Any]] = field(default_factory=set[asyncio.Task[Any]], repr=False)
    """Calls on their way."""

    async def settled(self) -> None:
        """Wait for the calls that a program which has ended left behind: they are paid for, and so recorded."""
        while self.running:
            await asyncio.wait(set(self.running))


class Grants:
    """All leave that is given at the moment. Safe to use from any thread."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._by_key: dict[str, Grant] = {}
        self._by_owner: dict[tuple[str, str, Sample], Grant] = {}

    def give(self, bind: Bind, role: str, sample: Sample) -> Grant:
        """The one grant of a role in a sample of a phase's execution."""
        execution = bind(role).scope.execution
        owner = (execution, role, sample)
        with self._lock:
            if owner not in self._by_owner:
                grant = Grant(_PREFIX + secrets.token_hex(24), bind, role, sample, execution)
                self._by_owner[owner] = self._by_key[grant.key] = grant
            return self._by_owner[owner]

    def find(self, key: str) -> Grant | None:
        return self._by_key.get(key)

    def end(self, grant: Grant) -> None:
        with self._lock:
            self._by_key.pop(grant.key, None)
            self._by_owner.pop((grant.execution, grant.role, grant.sample), None)

    def end_execution(self, execution: str) -> list[Grant]:
        """Take back all that was given for a phase; returns it."""
        with self._lock:
            ended = [grant for grant in self._by_key.values() if grant.execution == execution]
        for grant in ended:
            self.end(grant)
        return ended

    def __len__(self) -> int:
        return len(self._by_key)
