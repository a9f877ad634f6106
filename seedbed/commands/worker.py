"""`seedbed worker`; see `deploy`."""

from seedbed.commands.deploy import run as run
