"""The page on which a rater labels answers: on loopback, for whoever has the link that the command printed.

The page itself holds nothing. What is asked and answered, and every mark, goes by requests that carry the token of the
link; a request that names another host, or comes from another page, is refused before that.
"""

from __future__ import annotations

import base64
import functools
import hashlib
import hmac
import json
import secrets
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, Protocol, cast
from urllib.parse import parse_qs, urlsplit

from seedbed.errors import UserError

DEFAULT_PORT = 4290
TOKEN_HEADER = "X-Seedbed-Token"  # noqa: S105
_ASSETS = Path(__file__).parent / "assets"
_MAX_BODY = 1000


class Work(Protocol):
    """What the server asks of a rater's work."""

    def page(self, at: int | None) -> dict[str, Any]: ...

    def label(self, at: int, mark: int | None) -> None: ...


class LabelServer(ThreadingHTTPServer):
    """Serves one rater's work; `serve_forever` runs it."""

    daemon_threads = True

    def __init__(self, work: Work, port: int) -> None:
        self.token = secrets.token_urlsafe(32)
        self.work = work
        try:
            super().__init__(("127.0.0.1", port), functools.partial(_Labelling))
        except OSError as error:
            raise UserError(f"--port {port}: cannot be used ({error.strerror}); give another.") from None

    @property
    def link(self) -> str:
        """Behind the # so that the token is in no request line and no log."""
        return f"http://127.0.0.1:{self.server_port}/#{self.token}"


class _Labelling(BaseHTTPRequestHandler):
    timeout = 60
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        if not self._welcome():
            return
        parts = urlsplit(self.path)
        if parts.path == "/":
            page, policy = _page()
            self._send(HTTPStatus.OK, page.encode(), "text/html; charset=utf-8", policy)
        elif parts.path == "/item" and self._known():
            at = parse_qs(parts.query).get("at", [""])[0]
            if at and not (at.isascii() and at.isdigit()):
                self._refuse(HTTPStatus.BAD_REQUEST, "`at` must be a number")
            else:
                self._send_json(self._work.page(int(at[:9]) if at else None))
        elif parts.path != "/item":
            self._refuse(HTTPStatus.NOT_FOUND, "There is no such page")

    def do_POST(self) -> None:
        if not self._welcome() or not self._known():
            return
        length = self.headers.get("Content-Length", "")
        if self.path != "/label" or not length.isdigit() or int(length) > _MAX_BODY:
            self._refuse(HTTPStatus.BAD_REQUEST, "Not a mark")
            return
        try:
            at, mark = _mark(self.rfile.read(int(length)))
            self._work.label(at, mark)
        except (ValueError, LookupError):
            self._refuse(HTTPStatus.BAD_REQUEST, "Not a mark")
        except OSError as error:
            self._refuse(HTTPStatus.INSUFFICIENT_STORAGE, f"The label could not be kept: {error.strerror}")
        else:
            self._send_json(self._work.page(at + 1))

    @property
    def _work(self) -> Work:
        return cast("LabelServer", self.server).work

    def _welcome(self) -> bool:
        """Whether a request names this server and comes from its own page, or from no page at all."""
        own = f"127.0.0.1:{cast('LabelServer', self.server).server_port}"
        origin, site = self.headers.get("Origin"), self.headers.get("Sec-Fetch-Site")
        # Opening the link from elsewhere shows the page, which holds nothing.
        opened = self.command == "GET" and self.path.partition("?")[0] == "/"
        if (self.headers.get_all("Host") or []) != [own]:
            self._refuse(HTTPStatus.FORBIDDEN, "This server answers to no such name")
        elif origin not in (None, f"http://{own}") or (site not in (None, "same-origin", "none") and not opened):
            self._refuse(HTTPStatus.FORBIDDEN, "Requests of other web pages are refused")
        else:
            return True
        return False

    def _known(self) -> bool:
        given = self.headers.get(TOKEN_HEADER, "").encode("latin-1", "replace")
        if hmac.compare_digest(given, cast("LabelServer", self.server).token.encode()):
            return True
        self._refuse(HTTPStatus.UNAUTHORIZED, "Open the link that `seedbed label` printed")
        return False

    def _refuse(self, status: HTTPStatus, text: str) -> None:
        self.close_connection = True
        self._send(status, f"{text}\n".encode(), "text/plain; charset=utf-8")

    def _send_json(self, data: dict[str, Any]) -> None:
        self._send(HTTPStatus.OK, json.dumps(data, ensure_ascii=False).encode(), "application/json")

    def _send(self, status: HTTPStatus, body: bytes, kind: str, policy: str = "default-src 'none'") -> None:
        self.send_response(status)
        headers = {
            "Content-Type": kind,
            "Content-Length": str(len(body)),
            "Content-Security-Policy": f"{policy}; frame-ancestors 'none'; base-uri 'none'; form-action 'none'",
            "X-Content-Type-Options": "nosniff",
            "X-Frame-Options": "DENY",
            "Referrer-Policy": "no-referrer",
            "Cache-Control": "no-store",
        }
        for name, value in headers.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002
        """The terminal is not a place for every mark."""


def _mark(body: bytes) -> tuple[int, int | None]:
    data: Any = json.loads(body)
    at, mark = (data["at"], data["mark"]) if isinstance(data, dict) else (None, None)
    if type(at) is not int or at < 0 or (mark is not None and (type(mark) is not int or not 0 <= mark < 9)):
        raise ValueError("at and mark must be numbers")
    return at, mark


@functools.cache
def _page() -> tuple[str, str]:
    """The page with its script and style in it, and the policy that lets these two run and no other."""
    script, style, frame = (
        (_ASSETS / name).read_text(encoding="utf-8") for name in ("label.js", "label.css", "label.html")
    )
    hashes = [base64.b64encode(hashlib.sha256(text.encode()).digest()).decode() for text in (script, style)]
    policy = (
        f"default-src 'none'; script-src 'sha256-{hashes[0]}'; style-src 'sha256-{hashes[1]}'; connect-src 'self'; "
        "img-src data:"
    )
    return frame.replace("/*style*/", style).replace("/*script*/", script), policy
