"""Our own pages, beside Prefect's on the same address: sweeps as they run, and their reports.

`/seedbed/` is a page without data; what it shows comes as JSON from `/seedbed/data/...`, to who has the server's auth
string. Reports are files under an address that nobody can guess (`/seedbed/files/TOKEN/...`), and run in a sandbox: a
report may have been sent by somebody, and must not act as the user in Prefect's UI, whose origin this is.
"""

from __future__ import annotations

import asyncio
import hashlib
import hmac
import json
import mimetypes
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, quote

from seedbed.errors import UserError
from seedbed.local.guard import FILES, PAGES, App, Receive, Scope, Send, basic
from seedbed.local.live import Live, Watched, runs_of
from seedbed.local.roots import known_roots
from seedbed.storage.paths import home
from seedbed.storage.redact import redact

_ASSETS = Path(__file__).with_name("assets")
_SHELL = {"": "live.html", "live.css": "live.css", "live.js": "live.js", "views.js": "views.js"}
_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self'; base-uri 'none'; "
    "form-action 'none'; frame-ancestors 'none'"
)
_SANDBOX = "sandbox allow-scripts allow-popups allow-popups-to-escape-sandbox allow-downloads"
_SERVED = ("sweeps", "nightly")
"""What of a root is shown; the ledger, with every prompt, is not."""
_PIECE = 1 << 20


class Pages:
    """An ASGI app: ours under /seedbed/, another's everywhere else."""

    def __init__(self, app: App, auth: str) -> None:
        self._app, self._auth = app, auth
        self._live = Live()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        path: str = scope.get("path", "")
        if scope["type"] != "http" or not (path == PAGES.rstrip("/") or path.startswith(PAGES)):
            await self._app(scope, receive, send)
        elif scope["method"] not in ("GET", "HEAD"):
            await _answer(send, 405, "text/plain", b"only GET\n")
        elif path.startswith(FILES):
            await self._file(path.removeprefix(FILES), send)
        elif path.startswith(f"{PAGES}data/"):
            await self._data(path.removeprefix(f"{PAGES}data/"), scope, send)
        elif (name := _SHELL.get(path.removeprefix(PAGES))) is not None:
            kind = mimetypes.guess_type(name)[0] or "text/plain"
            policy = (b"content-security-policy", _POLICY.encode())
            await _answer(send, 200, f"{kind}; charset=utf-8", (_ASSETS / name).read_bytes(), policy)
        elif path == PAGES.rstrip("/"):
            await _answer(send, 307, "text/plain", b"", (b"location", PAGES.encode()))
        else:
            await _answer(send, 404, "text/plain", b"there is no such page\n")

    async def _data(self, name: str, scope: Scope, send: Send) -> None:
        given = dict(scope["headers"]).get(b"authorization", b"")
        if not hmac.compare_digest(given, basic(self._auth).encode()):
            await _answer(send, 401, "application/json", b'{"error": "this browser was not let in; run `seedbed ui`"}')
            return
        asked = {key: values[0] for key, values in parse_qs(scope["query_string"].decode("latin-1")).items()}
        status, told = await asyncio.to_thread(self._told, name, asked)
        body = redact(json.dumps(told, ensure_ascii=False, default=str)).encode()
        await _answer(send, status, "application/json", body)

    def _told(self, name: str, asked: Mapping[str, str]) -> tuple[int, Any]:
        views: dict[str, Callable[[], Any]] = {
            "sweeps": lambda: {"sweeps": self._live.sweeps()},
            "run": lambda: self._run(asked),
            "cells": lambda: self._watched(asked).cells(
                asked.get("state", ""), asked.get("find", ""), int(asked.get("offset", "0"))
            ),
            "call": lambda: self._watched(asked).call(int(asked["id"])),
        }
        try:
            return (200, views[name]()) if name in views else (404, {"error": "there is no such data"})
        except (KeyError, ValueError) as error:
            return 400, {"error": f"cannot be read: {error}"}
        except UserError as error:
            return 404, {"error": str(error)}
        except OSError as error:
            # A file or a database that is in somebody's hands for a moment.
            return 503, {"error": f"cannot look just now: {error}"}

    def _watched(self, asked: Mapping[str, str]) -> Watched:
        return self._live.run(asked["root"], asked["sweep"], asked.get("run"))

    def _run(self, asked: Mapping[str, str]) -> dict[str, Any]:
        watched = self._watched(asked)
        told = dict(watched.told())
        report = dict(told["report"])
        root = report.pop("root", None)
        report["link"] = root and f"{FILES}{file_token(self._auth, root)}/{quote(report['file'])}"
        return {**told, "report": report, "runs": runs_of(watched.root, watched.folder.parent.name)[:20]}

    async def _file(self, path: str, send: Send) -> None:
        token, _, name = path.partition("/")
        file = await asyncio.to_thread(self._find, token, name)
        if file is None:
            await _answer(send, 404, "text/plain", b"there is no such file; results may have been moved\n")
            return
        kind = mimetypes.guess_type(file.name)[0] or "application/octet-stream"
        headers = [
            (b"content-type", f"{kind}{'; charset=utf-8' if kind.startswith('text/') else ''}".encode()),
            (b"content-length", str(file.stat().st_size).encode()),
            (b"content-security-policy", _SANDBOX.encode()),
            # The page in its sandbox has no origin of its own; its address is the secret.
            (b"access-control-allow-origin", b"*"),
            (b"referrer-policy", b"no-referrer"),
            (b"cache-control", b"no-cache"),
        ]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        with file.open("rb") as handle:
            while piece := await asyncio.to_thread(handle.read, _PIECE):
                await send({"type": "http.response.body", "body": piece, "more_body": True})
        await send({"type": "http.response.body", "body": b""})

    def _find(self, token: str, name: str) -> Path | None:
        shadows = (home() / "growing").glob("*")
        for root in (*(root.path for root in known_roots()), *shadows):
            if hmac.compare_digest(file_token(self._auth, root).encode(), token.encode()):
                file = (root / name).resolve()
                shown = any(file.is_relative_to(root.resolve() / part) for part in _SERVED)
                return file if shown and file.is_file() else None
        return None


def file_token(auth: str, root: Path) -> str:
    """What stands for a root in the addresses of its reports; nobody without the auth string can tell it."""
    return hmac.new(auth.encode(), f"files {root}".encode(), hashlib.sha256).hexdigest()[:40]


async def _answer(send: Send, status: int, kind: str, body: bytes, *headers: tuple[bytes, bytes]) -> None:
    sent = [(b"content-type", kind.encode()), (b"cache-control", b"no-store"), *headers]
    await send({"type": "http.response.start", "status": status, "headers": sent})
    await send({"type": "http.response.body", "body": body})
