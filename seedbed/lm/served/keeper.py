"""Runs a server for as long as somebody holds the other end of our input: also after `kill -9` of that process nothing
is left running. `python -m seedbed.lm.served.keeper COMMAND ...`, as the leader of a process group of its own."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading

_PATIENCE_S = 5.0


def main(command: list[str]) -> int:
    """The exit code of the command, or what ended it."""
    # The group is told to end, this process among it; it stays to see to that. To ignore the signal would be inherited.
    signal.signal(signal.SIGTERM, lambda *_: None)
    child = subprocess.Popen(command, stdin=subprocess.DEVNULL)  # noqa: S603 - the config's own command
    threading.Thread(target=_end_with_input, args=(child,), daemon=True).start()
    return child.wait()


def _end_with_input(child: subprocess.Popen[bytes]) -> None:
    sys.stdin.buffer.read()
    os.killpg(0, signal.SIGTERM)
    try:
        child.wait(_PATIENCE_S)
    except subprocess.TimeoutExpired:
        os.killpg(0, signal.SIGKILL)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
