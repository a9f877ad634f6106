"""`seedbed ui`: the Prefect UI, and the reports its artifacts link to."""

from __future__ import annotations

import argparse
import os
import webbrowser

from seedbed.cli.main import EXIT_OK
from seedbed.local import report_server, server
from seedbed.local.guard import TICKET_S
from seedbed.storage.paths import local_path


def run(arguments: argparse.Namespace) -> int:
    serving = report_server.server(local_path(arguments.out, "--out").resolve()) if arguments.reports else None
    given = os.environ.get("PREFECT_API_URL")
    if given:
        link = given.removesuffix("/").removesuffix("/api")
        print(link, flush=True)
    else:
        link = server.start().login_link()
        print(
            f"{link}\n(opens once, within {TICKET_S / 60:g} minutes; afterwards this browser knows the server)",
            flush=True,
        )
    if not arguments.no_open:
        webbrowser.open(link)
    if serving is not None:
        print(f"reports: http://127.0.0.1:{serving.server_port}/sweeps/ (Ctrl-C stops)", flush=True)
        with serving:
            serving.serve_forever()
    return EXIT_OK
