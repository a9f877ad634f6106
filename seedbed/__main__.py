"""`python -m seedbed` is `seedbed`."""

import signal
import sys

# Until the command listens, and after it has ended, a signal ends the process as it does any program: Python's own way
# is a traceback through whatever was just imported.
if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
    signal.signal(signal.SIGINT, signal.SIG_DFL)

from seedbed.cli.main import main

if __name__ == "__main__":
    sys.exit(main())
