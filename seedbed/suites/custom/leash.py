"""Runs a program for as long as somebody holds the other end of a pipe: also after `kill -9` of that process nothing is
left running. `leash.py DESCRIPTOR COMMAND ...`, as the leader of a process group of its own, by Python alone."""

import os
import signal
import subprocess
import sys
import threading


def main() -> int:
    held, command = int(sys.argv[1]), sys.argv[2:]
    child = subprocess.Popen(command)  # noqa: S603 - the config's own command
    threading.Thread(target=_end_with, args=(held,), daemon=True).start()
    code = child.wait()
    return 128 - code if code < 0 else code


def _end_with(held: int) -> None:
    os.read(held, 1)
    os.killpg(0, signal.SIGKILL)


if __name__ == "__main__":
    sys.exit(main())
