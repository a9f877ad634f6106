"""`seedbed server start|stop|status|env|tidy`."""

from __future__ import annotations

import argparse
import asyncio
import shlex

from seedbed.cli.main import EXIT_FAILED, EXIT_OK
from seedbed.errors import UserError
from seedbed.local import server
from seedbed.local.launch import import_flows


def run(arguments: argparse.Namespace) -> int:
    match arguments.action:
        case "start":
            print(f"Prefect server: {server.start().ui}")
        case "stop":
            print("stopped" if server.stop() else "no server was running")
        case "env":
            settings = {"PREFECT_API_URL": server.start().api, "PREFECT_API_AUTH_STRING": server.auth_string()}
            print("\n".join(f"export {name}={shlex.quote(value)}" for name, value in settings.items()))
        case "tidy":
            _tidy(arguments.older_than, apply=arguments.yes)
        case _:
            found = server.running()
            print(
                f"running: {found.ui} (pid {found.pid})"
                if found
                else "not running; start it with `seedbed server start`"
            )
            return EXIT_OK if found else EXIT_FAILED
    return EXIT_OK


def _tidy(days: float | None, *, apply: bool) -> None:
    """Prefect's records of sweeps that ended long ago: each cell leaves some dozens of rows."""
    if days is None or days < 0:
        raise UserError("say what to drop: --older-than DAYS, counted from the end of a run.")
    server.connect()
    runs = asyncio.run(import_flows("tidy").tidy(days, apply=apply))
    what = f"{runs:,} run{'s' * (runs != 1)} with their tasks, states and logs from Prefect's database"
    if apply:
        print(f"dropped {what}; results, reports and the ledger stay")
    else:
        print(f"would drop {what}; add --yes to do it")
