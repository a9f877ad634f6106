"""Reports over HTTP on this machine, so that artifacts in the Prefect UI can link to them: browsers open no local file
from a web page."""

from __future__ import annotations

import functools
import os
from http import HTTPStatus
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import cast
from urllib.parse import quote, urlsplit

from seedbed.errors import UserError
from seedbed.local.server import port_setting
from seedbed.storage.paths import is_local

DEFAULT_PORT = 4280
_SERVED = ("sweeps", "nightly")
"""What of a root is shown; the ledger, with every prompt, is not."""


def port() -> int:
    return port_setting("SEEDBED_REPORTS_PORT", DEFAULT_PORT)


def address(root: Path, file: Path) -> str:
    """Where a report is found while `seedbed ui --reports` runs. SEEDBED_REPORTS_URL names another server of the same
    folder."""
    given = os.environ.get("SEEDBED_REPORTS_URL")
    if given is None and not is_local(root):
        return str(file)
    base = given or f"http://127.0.0.1:{port()}"
    return f"{base.rstrip('/')}/{quote(file.relative_to(root).as_posix())}"


def server(root: Path) -> ThreadingHTTPServer:
    """A server of the reports under a root, on loopback only; `serve_forever` runs it."""
    if not root.exists():
        raise UserError(f"{root}: there are no results; give their folder with --out.")
    try:
        return ThreadingHTTPServer(("127.0.0.1", port()), functools.partial(_Reports, directory=str(root.resolve())))
    except OSError as error:
        raise UserError(f"port {port()} cannot be used ({error.strerror}); set SEEDBED_REPORTS_PORT.") from None


class _Reports(SimpleHTTPRequestHandler):
    def parse_request(self) -> bool:
        """Also refuses a request that names another host: a web page under a foreign name that resolves to loopback
        could read the reports."""
        if not super().parse_request():
            return False
        named = self.headers.get_all("Host") or []
        if len(named) == 1 and named[0].lower() in self._hosts():
            return True
        self.send_error(HTTPStatus.FORBIDDEN, "This server answers to no such name")
        return False

    def _hosts(self) -> set[str]:
        own = cast("ThreadingHTTPServer", self.server).server_port
        public = os.environ.get("SEEDBED_REPORTS_URL")
        return {f"127.0.0.1:{own}", f"localhost:{own}", *([urlsplit(public.lower()).netloc] if public else [])}

    def translate_path(self, path: str) -> str:
        root, file = Path(self.directory), Path(super().translate_path(path)).resolve()
        if any(file.is_relative_to(root / name) for name in _SERVED):
            return super().translate_path(path)
        # Everything else looks like a file that is not there.
        return str(root / ".not-served")

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002
        """The terminal is not a place for every picture of a page."""
