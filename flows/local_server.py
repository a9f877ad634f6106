"""The process of the local server: Prefect's own app and our pages, behind the guard. Started by
`seedbed.local.server`."""

from __future__ import annotations

import os
import sys
from typing import Any

import uvicorn

from seedbed.local import server
from seedbed.local.guard import LOGIN, Guard, Receive, Scope, Send
from seedbed.local.pages import Pages


def main() -> None:
    """Serve until SIGTERM; the port is the argument, everything else stands in the environment."""
    from prefect.server.api.server import create_app
    from prefect.settings import get_current_settings

    port = int(sys.argv[1])
    # What it writes (database, log) holds prompts and answers.
    os.umask(0o077)
    api = get_current_settings().server.api
    assert api.auth_string is not None
    auth = api.auth_string.get_secret_value()
    uvicorn.run(
        Guard(Pages(create_app(final=True), auth), port, auth, public=os.environ.get("SEEDBED_UI_URL")),
        host="127.0.0.1",
        port=port,
        timeout_keep_alive=api.keepalive_timeout,
        ws_ping_interval=api.websocket_ping_interval,
        ws_ping_timeout=api.websocket_ping_timeout,
        log_level="warning",
    )


class PagesServer:
    """Our pages alone, in this process: for who uses a Prefect server that is not ours."""

    def __init__(self, port: int) -> None:
        self.port = server.free_port(port)
        auth = server.auth_string()
        self._guard = Guard(Pages(_nothing, auth), self.port, auth, public=os.environ.get("SEEDBED_UI_URL"))

    def login_link(self) -> str:
        """The address for a browser that is to be let in: good once, for some minutes."""
        return f"http://127.0.0.1:{self.port}{LOGIN}#{self._guard.new_ticket()}"

    def serve(self) -> None:
        """Until Ctrl-C."""
        uvicorn.run(self._guard, host="127.0.0.1", port=self.port, log_level="warning", lifespan="off")


async def _nothing(scope: Scope, receive: Receive, send: Send) -> None:
    found: Any = [(b"location", b"/seedbed/")] if scope["path"] == "/" else []
    await send({"type": "http.response.start", "status": 307 if found else 404, "headers": found})
    await send({"type": "http.response.body", "body": b""})
