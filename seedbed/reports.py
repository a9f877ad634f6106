"""Reports over HTTP on this machine, so that artifacts in the Prefect UI can link to them: browsers open no local file
from a web page."""

from __future__ import annotations

import functools
import os
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import quote

from seedbed.errors import UserError
from seedbed.paths import is_local

DEFAULT_PORT = 4280
_SERVED = ("sweeps", "nightly")
"""What of a root is shown; the ledger, with every prompt, is not."""


def port() -> int:
    return int(os.environ.get("SEEDBED_REPORTS_PORT", DEFAULT_PORT))


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
    def translate_path(self, path: str) -> str:
        root, file = Path(self.directory), Path(super().translate_path(path)).resolve()
        if any(file.is_relative_to(root / name) for name in _SERVED):
            return super().translate_path(path)
        # Everything else looks like a file that is not there.
        return str(root / ".not-served")

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002
        """The terminal is not a place for every picture of a page."""
