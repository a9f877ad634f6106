"""`python -m seedbed` is `seedbed`."""

import sys

from seedbed.cli.main import main

if __name__ == "__main__":
    sys.exit(main())
