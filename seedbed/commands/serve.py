"""`seedbed serve`; see `deploy`."""

from seedbed.commands.deploy import run as run
