"""`python -m seedbed` is `seedbed`."""

import sys

from seedbed.cli import main

sys.exit(main())
