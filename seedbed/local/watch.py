"""A sweep whose Prefect server dies: the server is started again where it was ours; else the sweep ends without it,
since all its results are on disk, and says what the UI lacks."""

from __future__ import annotations

import sys
import time
from concurrent.futures import Future
from pathlib import Path

from seedbed.errors import UserError
from seedbed.local import server
from seedbed.local.identity import birth

_LOOK_S = 1.0
_MISSED = 3
_PATIENCE_S = 10.0
"""So long after the summary is written a flow may take to end. Without a server it would try for minutes to tell of
every task."""


class ServerWatch:
    """Looks after the server of one sweep, from the main thread."""

    def __init__(self, api: str, summary: Path) -> None:
        self._api, self._summary = api, summary
        own = server.running()
        self._own = own if own is not None and own.api == api else None
        self._summed_up_at: float | None = None
        self._unanswered = 0
        self.gone = False
        """Whether the sweep was ended without its server."""

    def wait(self, done: Future[str]) -> str | None:
        """The result; None where there is no use in waiting for it."""
        while True:
            try:
                return done.result(_LOOK_S)
            except TimeoutError:
                if done.done():
                    return done.result()
            self._revive()
            if self._is_left_alone():
                self.gone = True
                return None

    def _revive(self) -> None:
        if self._own is None or birth(self._own.pid) == self._own.born:
            return
        port, self._own = self._own.port, None
        try:
            found = server.start(port)
        except UserError as error:
            _tell(f"the Prefect server ended and cannot be started again: {error}")
            return
        # On another port nobody of this sweep would find it.
        self._own = found if found.port == port else None
        _tell("the Prefect server had ended and was started again; its UI may lack some task runs of this sweep.")

    def _is_left_alone(self) -> bool:
        """Whether all is on disk and only the server is waited for, which is not there."""
        if self._summed_up_at is None:
            self._summed_up_at = time.monotonic() if self._summary.exists() else None
            return False
        if self._own is not None or time.monotonic() - self._summed_up_at < _PATIENCE_S:
            return False
        self._unanswered = 0 if server.answers(self._api) else self._unanswered + 1
        # One that is busy may miss a question.
        return self._unanswered >= _MISSED


def _tell(text: str) -> None:
    print(f"seedbed: {text}", file=sys.stderr, flush=True)
