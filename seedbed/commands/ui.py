"""`seedbed ui`: the Prefect UI, and the reports its artifacts link to."""

from __future__ import annotations

import argparse
import os
import webbrowser

from seedbed import reports, server
from seedbed.cli import EXIT_OK
from seedbed.paths import local_path


def run(arguments: argparse.Namespace) -> int:
    serving = reports.server(local_path(arguments.out, "--out").resolve()) if arguments.reports else None
    given = os.environ.get("PREFECT_API_URL")
    address = given.removesuffix("/").removesuffix("/api") if given else server.start().ui
    print(address, flush=True)
    if not arguments.no_open:
        webbrowser.open(address)
    if serving is not None:
        print(f"reports: http://127.0.0.1:{serving.server_port}/sweeps/ (Ctrl-C stops)", flush=True)
        with serving:
            serving.serve_forever()
    return EXIT_OK
