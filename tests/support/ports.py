"""Ports that stay free."""

from __future__ import annotations

import random
import socket

_random = random.SystemRandom()
"""Hypothesis sets the seed of the ordinary one, in several processes to the same."""


def quiet_port() -> int:
    """One that no outgoing connection is given, as those are that the system picks; it can be bound again, too."""
    while True:
        port = _random.randint(20000, 32000)
        with socket.socket() as probe:
            try:
                probe.bind(("127.0.0.1", port))
            except OSError:
                continue
            return port
