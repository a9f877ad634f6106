"""`python -m seedbed` is `seedbed`."""

import atexit
import os
import signal
import sys

# Until the command listens a signal ends the process as it does any program: Python's own way is a traceback through
# whatever was just imported.
if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
    signal.signal(signal.SIGINT, signal.SIG_DFL)

_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


def _be_deaf() -> None:
    for number in _SIGNALS:
        signal.signal(number, signal.SIG_IGN)


# The first to be registered is the last to be called. All that is left then is Python's own end, which on a busy
# machine takes long enough for a second signal; it would end the process with another code.
atexit.register(_be_deaf)


def main() -> int:
    """The command as a process: once it has ended its exit code stands, and a signal only lets it end sooner."""
    from seedbed.cli.main import main as command

    code = command()

    def leave(*_: object) -> None:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)

    for number in _SIGNALS:
        if signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, leave)
    return code


if __name__ == "__main__":
    sys.exit(main())
