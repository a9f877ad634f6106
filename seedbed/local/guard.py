"""What stands before the local Prefect server: it lets in who names this machine and comes from here.

A browser carries requests of any web page to loopback addresses. Prefect's own auth string keeps them from doing
anything; this guard keeps them from arriving: a request must name the server as its host (a foreign name that resolves
to loopback does not) and, where a browser says which page it comes from, come from the server's own pages. It also
hands the auth string to the browser of the user who ran `seedbed ui`, and proves to `seedbed` that it is the one that
was started here.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import os
import secrets
import time
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any
from urllib.parse import parse_qs, urlsplit

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]

PROOF, TICKET, LOGIN = "/seedbed/proof", "/seedbed/ticket", "/seedbed/login"
PAGES, FILES = "/seedbed/", "/seedbed/files/"
"""Our own pages; and reports, whose addresses hold what nobody can guess."""
TICKET_S = 600.0
"""How long the link that `seedbed ui` prints can be opened, once."""

_MAX_BODY = 1000
_HEADERS = [
    # A page of someone else that shows this one in a frame could lend its clicks.
    (b"x-frame-options", b"DENY"),
    (b"content-security-policy", b"frame-ancestors 'none'"),
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"same-origin"),
]
# Where Prefect's UI looks for the auth string; the address forgets the ticket at once.
_LOGIN_PAGE = b"""<!doctype html><meta charset="utf-8"><title>Seedbed</title><p id="told">Opening the UI ...</p><script>
const ticket = location.hash.slice(1);
history.replaceState(null, "", location.pathname);
fetch(location.pathname, {method: "POST", body: ticket})
  .then(reply => reply.ok ? reply.text() : Promise.reject())
  .then(password => { localStorage.setItem("prefect-password", password); location.replace("/seedbed/"); })
  .catch(() => { document.getElementById("told").textContent =
    "This link was used before or is too old. Run seedbed ui again."; });
</script>"""


class Guard:
    """An ASGI app around another. `public` is a further address under which a proxy shows the server, if any."""

    def __init__(self, app: App, port: int, auth: str, public: str | None = None) -> None:
        own = f"http://127.0.0.1:{port}"
        self._app, self._auth, self._own = app, auth, own
        self._origins = {own, f"http://localhost:{port}", *([_origin(public)] if public else [])}
        self._hosts = {urlsplit(origin).netloc for origin in self._origins}
        self._tickets: dict[str, float] = {}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] not in ("http", "websocket"):
            await self._app(scope, receive, send)
            return
        headers = {name.decode("latin-1").lower(): value.decode("latin-1") for name, value in scope["headers"]}
        refusal = self._refusal(scope, headers)
        if refusal is not None and scope["type"] == "websocket":
            await send({"type": "websocket.close", "code": 1008, "reason": refusal})
        elif refusal is not None:
            await _answer(send, 403, f"{refusal}\n")
        elif scope["type"] == "http" and scope["path"] in (PROOF, TICKET, LOGIN):
            await self._own_page(scope, headers, receive, send)
        elif headers.get("host", "").startswith("localhost:") and _is_page(headers):
            # One origin, so that a browser that has logged in has done so for every link.
            query = f"?{scope['query_string'].decode('latin-1')}" if scope["query_string"] else ""
            await _answer(send, 307, "", (b"location", f"{self._own}{scope['path']}{query}".encode("latin-1")))
        else:
            await self._app(scope, receive, _with_headers(send))

    def _refusal(self, scope: Scope, headers: dict[str, str]) -> str | None:
        if [name for name, _ in scope["headers"]].count(b"host") != 1 or headers["host"].lower() not in self._hosts:
            return f"This server is {self._own} and answers to no other name."
        if scope["path"].startswith(FILES) and scope.get("method") == "GET":
            # A report runs in a sandbox and counts as foreign; who knows its address may read it.
            return None
        origin = headers.get("origin")
        if origin is not None and origin.lower() not in self._origins:
            return "Requests of other web pages are refused."
        foreign = headers.get("sec-fetch-site") in ("cross-site", "same-site")
        if foreign and not (_is_page(headers) and scope.get("method") == "GET"):
            return "Requests of other web pages are refused."
        return None

    async def _own_page(self, scope: Scope, headers: dict[str, str], receive: Receive, send: Send) -> None:
        match scope["path"], scope["method"]:
            case "/seedbed/proof", "GET":
                nonce = parse_qs(scope["query_string"].decode("latin-1")).get("nonce", [""])[0]
                told = {"pid": os.getpid(), "proof": proof(self._auth, nonce), "pages": True}
                await _answer(send, 200, json.dumps(told))
            case "/seedbed/ticket", "POST" if hmac.compare_digest(
                headers.get("authorization", "").encode(), basic(self._auth).encode()
            ):
                await _answer(send, 200, self.new_ticket())
            case "/seedbed/login", "GET":
                await _answer(send, 200, _LOGIN_PAGE.decode(), (b"content-type", b"text/html; charset=utf-8"))
            case "/seedbed/login", "POST" if "origin" in headers and self._redeem(await _body(receive)):
                await _answer(send, 200, basic(self._auth).removeprefix("Basic "))
            case _:
                await _answer(send, 401, "Unauthorized\n")

    def new_ticket(self) -> str:
        """What lets a browser in, once and not for long."""
        now = time.monotonic()
        self._tickets = {ticket: until for ticket, until in self._tickets.items() if until > now}
        ticket = secrets.token_urlsafe(32)
        self._tickets[ticket] = now + TICKET_S
        return ticket

    def _redeem(self, ticket: str) -> bool:
        return self._tickets.pop(ticket, 0.0) > time.monotonic()


def basic(auth: str) -> str:
    """The Authorization header that Prefect's server wants for its auth string."""
    return f"Basic {base64.b64encode(auth.encode()).decode()}"


def proof(auth: str, nonce: str) -> str:
    """What only a server that knows the auth string can answer to a number it never saw."""
    return hmac.new(auth.encode(), f"seedbed server {nonce}".encode(), hashlib.sha256).hexdigest()


def _origin(address: str) -> str:
    parts = urlsplit(address.lower())
    return f"{parts.scheme}://{parts.netloc}"


def _is_page(headers: dict[str, str]) -> bool:
    """Whether a person opens a page (a link from anywhere may lead here), as far as the browser tells."""
    return headers.get("sec-fetch-mode") == "navigate" and headers.get("sec-fetch-dest") == "document"


async def _body(receive: Receive) -> str:
    body = b""
    while len(body) <= _MAX_BODY:
        message = await receive()
        body += message.get("body", b"")
        if not message.get("more_body"):
            break
    return body[:_MAX_BODY].decode("latin-1")


async def _answer(send: Send, status: int, text: str, *headers: tuple[bytes, bytes]) -> None:
    kind = [] if any(name == b"content-type" for name, _ in headers) else [(b"content-type", b"text/plain")]
    sent = [*headers, *kind, *_HEADERS, (b"cache-control", b"no-store")]
    await send({"type": "http.response.start", "status": status, "headers": sent})
    await send({"type": "http.response.body", "body": text.encode()})


def _with_headers(send: Send) -> Send:
    async def sending(message: Message) -> None:
        if message["type"] == "http.response.start":
            message["headers"] = [*message.get("headers", []), *_HEADERS]
        await send(message)

    return sending
