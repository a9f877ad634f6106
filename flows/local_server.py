"""The process of the local Prefect server: Prefect's own app behind the guard. Started by `seedbed.local.server`."""

from __future__ import annotations

import os
import sys

import uvicorn
from prefect.server.api.server import create_app
from prefect.settings import get_current_settings

from seedbed.local.guard import Guard


def main() -> None:
    """Serve until SIGTERM; the port is the argument, everything else stands in the environment."""
    port = int(sys.argv[1])
    # What it writes (database, log) holds prompts and answers.
    os.umask(0o077)
    api = get_current_settings().server.api
    assert api.auth_string is not None
    uvicorn.run(
        Guard(
            create_app(final=True), port, api.auth_string.get_secret_value(), public=os.environ.get("SEEDBED_UI_URL")
        ),
        host="127.0.0.1",
        port=port,
        timeout_keep_alive=api.keepalive_timeout,
        ws_ping_interval=api.websocket_ping_interval,
        ws_ping_timeout=api.websocket_ping_timeout,
        log_level="warning",
    )
