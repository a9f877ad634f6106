"""`seedbed ui`: the Prefect UI."""

from __future__ import annotations

import argparse
import os
import webbrowser

from seedbed import server
from seedbed.cli import EXIT_OK


def run(arguments: argparse.Namespace) -> int:
    given = os.environ.get("PREFECT_API_URL")
    address = given.removesuffix("/").removesuffix("/api") if given else server.start().ui
    print(address)
    if not arguments.no_open:
        webbrowser.open(address)
    return EXIT_OK
