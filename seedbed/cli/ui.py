"""`seedbed ui`: sweeps as they run, their reports, and beside them the Prefect UI, in the browser."""

from __future__ import annotations

import argparse
import os
import webbrowser

from seedbed.cli.main import EXIT_OK
from seedbed.errors import UserError
from seedbed.local import server
from seedbed.local.guard import TICKET_S
from seedbed.local.launch import import_flows
from seedbed.local.roots import remember_root
from seedbed.storage.paths import local_path


def run(arguments: argparse.Namespace) -> int:
    _show_results(arguments.out)
    given = os.environ.get("PREFECT_API_URL")
    own = server.running() if given else server.start()
    if own is not None and given in (None, own.api):
        _open(own.login_link(), arguments)
        return EXIT_OK
    # Prefect's UI is somebody else's: our pages are shown from here.
    print(f"the Prefect UI: {(given or '').removesuffix('/').removesuffix('/api')}")
    pages = import_flows("local_server").PagesServer(server.port_setting("SEEDBED_UI_PORT", server.UI_PORT))
    _open(pages.login_link(), arguments)
    print("(Ctrl-C stops)", flush=True)
    pages.serve()
    return EXIT_OK


def _show_results(out: str | None) -> None:
    """The results folder that was named, or the one here, is shown beside those that sweeps were run into."""
    root = local_path(out or "experiment_runs_data", "--out").resolve()
    if (root / "sweeps").is_dir():
        remember_root(root, ran=False)
    elif out is not None:
        raise UserError(f"{root}: there are no results; give their folder with --out.")


def _open(link: str, arguments: argparse.Namespace) -> None:
    print(link)
    print(f"(opens once, within {TICKET_S / 60:g} minutes; afterwards this browser knows the server)", flush=True)
    if not arguments.no_open:
        webbrowser.open(link)
