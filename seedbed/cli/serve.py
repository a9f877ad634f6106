"""`seedbed serve`; see `deploy`."""

from seedbed.cli.deploy import run as run
