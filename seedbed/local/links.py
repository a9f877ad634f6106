"""Addresses of our pages, for who shows them in Prefect's UI: only where something answers there."""

from __future__ import annotations

import os
from pathlib import Path
from urllib.parse import quote

from seedbed.local import server
from seedbed.local.guard import FILES, PAGES
from seedbed.local.pages import file_token
from seedbed.local.roots import Root
from seedbed.storage.paths import is_local


def report_link(root: Path, file: Path) -> str | None:
    """Where a browser finds a report: on the server that shows the link, if that is ours, or where SEEDBED_REPORTS_URL
    says that the results folder is shown. None where nothing serves it."""
    name = quote(file.relative_to(root).as_posix())
    given = os.environ.get("SEEDBED_REPORTS_URL")
    if given is not None:
        return f"{given.rstrip('/')}/{name}"
    base = _base(root)
    return base and f"{base}{FILES}{file_token(server.auth_string(), root.resolve())}/{name}"


def live_link(root: Path, sweep: str) -> str | None:
    """Where a browser sees a sweep as it runs; None where nothing shows it."""
    base = _base(root)
    return base and f"{base}{PAGES}#{Root(root.resolve(), True).id}/{quote(sweep)}"


def _base(root: Path) -> str | None:
    """The address of the server of this run, as a browser knows it; None if it is not ours, or cannot read the
    results."""
    if not is_local(root):
        return None
    local = server.running()
    if local is None or os.environ.get("PREFECT_API_URL", local.api).rstrip("/") != local.api:
        return None
    return (os.environ.get("SEEDBED_UI_URL") or local.ui).rstrip("/")
