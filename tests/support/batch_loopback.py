"""The loopback server with batches, as OpenAI (files, batches) and Anthropic (message batches) document theirs.

A batch goes on by being asked about: after so many looks it has ended, and is billed. Rows of results come in an order
of their own; some fail, some expire. `at` is told of every step of a batch's life and may do something then, such as
kill who asks.
"""

from __future__ import annotations

import asyncio
import hashlib
import re
import sys
import threading
from collections import Counter
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from email.parser import BytesParser
from typing import Any

import orjson
from aiohttp import web

from tests.support.loopback import Loopback, answer

STEPS = ("upload", "uploaded", "create", "created", "poll", "download", "row")
_SAID = {
    "server": {"status_code": 500, "body": {"error": {"message": "overloaded", "code": "server_error"}}},
    "invalid": {"status_code": 400, "body": {"error": {"message": "no such thing", "code": "invalid"}}},
}


@dataclass
class Made:
    """A batch at the provider."""

    id: str
    rows: list[tuple[str, dict[str, Any]]]
    metadata: Mapping[str, str] = field(default_factory=dict)
    file: str | None = None
    looks: int = 0
    status: str = "in_progress"
    results: list[tuple[str, dict[str, Any]]] = field(default_factory=list)
    """Custom id and what became of it, once it has ended."""

    @property
    def counts(self) -> Counter[str]:
        return Counter(result["type"] for _, result in self.results)


class BatchLoopback(Loopback):
    """`looks` at a batch until it has ended; shares of rows that `fail` (by kind: server, invalid, expired) the first
    time they are asked."""

    def __init__(
        self,
        *,
        looks: int = 2,
        fail: Mapping[str, float] | None = None,
        keeps_metadata: bool = True,
        at: Callable[[str], None] | None = None,
        **more: Any,
    ) -> None:
        super().__init__(**more)
        self.looks, self.fail, self.keeps_metadata, self.at = looks, dict(fail or {}), keeps_metadata, at
        self.files: dict[str, bytes] = {}
        self.made: dict[str, Made] = {}
        self.asked: Counter[str] = Counter()
        self.polling = threading.Semaphore(1)
        self.most_polls_at_once = 0
        self._polls = 0
        self.online = 0
        """Chats that came by a normal call."""
        self.seen: Counter[str] = Counter()
        """How often a body was worked on, by its name."""
        self.hold = False
        """While set, no batch ends."""

    def _step(self, name: str) -> None:
        self.asked[name] += 1
        if self.at is not None:
            self.at(name)

    async def _handle(self, request: web.BaseRequest) -> web.StreamResponse:
        path = re.sub(r"^(/v1)+", "", request.path)
        if request.path.endswith("/stats"):
            sizes = [len(one.rows) for one in self.made.values()]
            told = {"batches": sizes, "polls": self.asked["poll"], "polls_at_once": self.most_polls_at_once}
            return web.json_response({**self.books.to_json(), **told, "online": self.online})
        for pattern, handler in (
            (r"/files", self._upload),
            (r"/files/([^/]+)/content", self._content),
            (r"/batches", self._batches),
            (r"/batches/([^/]+)", self._status),
            (r"/batches/([^/]+)/cancel", self._cancel),
            (r"/messages/batches", self._message_batches),
            (r"/messages/batches/([^/]+)", self._message_status),
            (r"/messages/batches/([^/]+)/results", self._message_results),
            (r"/messages/batches/([^/]+)/cancel", self._cancel),
            (r"/messages", self._message),
        ):
            found = re.fullmatch(pattern, path)
            if found:
                try:
                    return await handler(request, *found.groups())
                except KeyError:
                    return web.json_response({"error": {"message": "no such thing"}}, status=404)
        self.online += 1
        return await super()._handle(request)

    # -- OpenAI ----------------------------------------------------------------------------------------------------

    async def _upload(self, request: web.BaseRequest) -> web.StreamResponse:
        raw = await request.read()
        self._step("upload")
        head = f"Content-Type: {request.headers['Content-Type']}\r\n\r\n".encode()
        parts = BytesParser().parsebytes(head + raw).get_payload()
        fields = {part.get_param("name", header="content-disposition"): part for part in parts}  # type: ignore[union-attr]
        assert fields["purpose"].get_payload() == "batch"  # type: ignore[union-attr]
        name = f"file-{len(self.files)}"
        self.files[name] = fields["file"].get_payload(decode=True)  # type: ignore[union-attr,assignment]
        self._step("uploaded")
        return web.json_response({"id": name, "object": "file", "purpose": "batch", "bytes": len(raw)})

    async def _batches(self, request: web.BaseRequest) -> web.StreamResponse:
        if request.method == "GET":
            made = list(self.made.values())[::-1]
            after = request.query.get("after")
            at = next((i + 1 for i, one in enumerate(made) if one.id == after), 0)
            limit = int(request.query.get("limit", 20))
            page = made[at : at + limit]
            return web.json_response(
                {"object": "list", "data": [self._batch(one) for one in page], "has_more": at + limit < len(made)}
            )
        asked = orjson.loads(await request.read())
        self._step("create")
        assert asked["endpoint"] == "/v1/chat/completions"
        assert asked["completion_window"] == "24h"
        rows = [orjson.loads(line) for line in self.files[asked["input_file_id"]].splitlines()]
        assert all(row["method"] == "POST" and row["url"] == "/v1/chat/completions" for row in rows)
        kept = asked.get("metadata") or {} if self.keeps_metadata else {}
        pairs = [(row["custom_id"], row["body"]) for row in rows]
        assert len(dict(pairs)) == len(pairs), "a custom_id stands twice"
        made = Made(f"batch_{len(self.made)}", pairs, kept, asked["input_file_id"])
        self.made[made.id] = made
        self._step("created")
        return web.json_response(self._batch(made))

    def _batch(self, made: Made) -> dict[str, Any]:
        counts, ended = made.counts, made.status != "in_progress"
        return {
            "id": made.id, "object": "batch", "endpoint": "/v1/chat/completions", "input_file_id": made.file,
            "completion_window": "24h", "status": made.status, "created_at": 1, "errors": None,
            "output_file_id": f"{made.id}-out" if ended and counts["succeeded"] else None,
            "error_file_id": f"{made.id}-err" if ended and counts.total() > counts["succeeded"] else None,
            "metadata": dict(made.metadata) or None,
            "request_counts": {"total": len(made.rows), "completed": counts["succeeded"],
                               "failed": counts.total() - counts["succeeded"]},
        }  # fmt: skip

    async def _status(self, request: web.BaseRequest, name: str) -> web.StreamResponse:
        made = self.made[name]
        await self._look(made)
        if made.status == "in_progress" and made.results:
            made.status = "expired" if made.counts["expired"] else "completed"
        return web.json_response(self._batch(made))

    async def _content(self, request: web.BaseRequest, file: str) -> web.StreamResponse:
        name, _, kind = file.rpartition("-")
        lines = [
            _openai_line(custom_id, result) for custom_id, result in self.made[name].results
            if (result["type"] == "succeeded") == (kind == "out")
        ]  # fmt: skip
        return await self._rows(request, lines)

    async def _cancel(self, request: web.BaseRequest, name: str) -> web.StreamResponse:
        made = self.made[name]
        if not made.results:
            made.results = [(custom_id, {"type": "canceled"}) for custom_id, _ in made.rows]
            made.status = "ended" if "messages" in request.path else "cancelled"
        return web.json_response({"id": made.id, "status": "cancelling"})

    # -- Anthropic -------------------------------------------------------------------------------------------------

    async def _message_batches(self, request: web.BaseRequest) -> web.StreamResponse:
        assert request.headers["anthropic-version"]
        if request.method == "GET":
            made = list(self.made.values())[::-1]
            for one in made:
                # Time passes, whoever looks.
                self._go_on(one)
                one.status = "ended" if one.results else one.status
            return web.json_response({"data": [self._message_batch(one) for one in made], "has_more": False})
        asked = orjson.loads(await request.read())
        self._step("create")
        rows = [(row["custom_id"], row["params"]) for row in asked["requests"]]
        assert all(re.fullmatch(r"[a-zA-Z0-9_-]{1,64}", custom_id) for custom_id, _ in rows)
        assert len(dict(rows)) == len(rows)
        made = self.made.setdefault(f"msgbatch_{len(self.made)}", Made(f"msgbatch_{len(self.made)}", rows))
        self._step("created")
        return web.json_response(self._message_batch(made))

    def _message_batch(self, made: Made) -> dict[str, Any]:
        counts, ended = made.counts, made.status == "ended"
        named = {name: counts[name] if ended else 0 for name in ("succeeded", "errored", "canceled", "expired")}
        return {
            "id": made.id, "type": "message_batch", "processing_status": made.status,
            "request_counts": {"processing": 0 if ended else len(made.rows), **named},
            "created_at": datetime.now(UTC).isoformat(), "ended_at": None, "expires_at": None,
            "results_url": f"{self.url}/messages/batches/{made.id}/results" if ended else None,
        }  # fmt: skip

    async def _message_status(self, request: web.BaseRequest, name: str) -> web.StreamResponse:
        made = self.made[name]
        await self._look(made)
        if made.results:
            made.status = "ended"
        return web.json_response(self._message_batch(made))

    async def _message_results(self, request: web.BaseRequest, name: str) -> web.StreamResponse:
        made = self.made[name]
        if made.status != "ended":
            raise KeyError(name)
        lines = [{"custom_id": custom_id, "result": _anthropic_result(result)} for custom_id, result in made.results]
        return await self._rows(request, lines)

    async def _message(self, request: web.BaseRequest) -> web.StreamResponse:
        """A normal call."""
        self.online += 1
        result = self._work(orjson.loads(await request.read()), first=False)
        return web.json_response(result["message"])

    # -- both ------------------------------------------------------------------------------------------------------

    async def _look(self, made: Made) -> None:
        self._polls += 1
        self.most_polls_at_once = max(self.most_polls_at_once, self._polls)
        try:
            self._step("poll")
            await asyncio.sleep(0)
            self._go_on(made)
        finally:
            self._polls -= 1

    def _go_on(self, made: Made) -> None:
        made.looks += 1
        if made.looks >= self.looks and not self.hold and not made.results:
            done = [(custom_id, self._work(body, first=True)) for custom_id, body in made.rows]
            made.results = sorted(done, key=lambda row: hashlib.sha256(row[0].encode()).digest())

    def _work(self, body: dict[str, Any], *, first: bool) -> dict[str, Any]:
        """One request, worked on and billed."""
        anthropic = "choices" not in body and isinstance(body["messages"][-1]["content"], list)
        name = hashlib.sha256(orjson.dumps(body, option=orjson.OPT_SORT_KEYS if anthropic else 0)).hexdigest()
        self.seen[name] += 1
        fault = self._spoilt(name) if first and self.seen[name] <= self.max_faults else None
        if fault is not None:
            return {"type": "expired" if fault == "expired" else "errored", "kind": fault}
        flat = _flat(body) if anthropic else body
        text = answer(flat, name)
        sent, received = self._count(flat, text)
        self._bill(name, sent, received, 0)
        usage = {"input_tokens": sent, "output_tokens": received}
        message = {"id": f"msg_{name[:12]}", "type": "message", "role": "assistant", "model": body["model"],
                   "content": [{"type": "text", "text": text}], "stop_reason": "end_turn", "stop_sequence": None,
                   "usage": usage}  # fmt: skip
        told = {"prompt_tokens": sent, "completion_tokens": received, "total_tokens": sent + received,
                "prompt_tokens_details": {"cached_tokens": 0}}  # fmt: skip
        chat = {"id": f"loopback-{name[:12]}", "object": "chat.completion", "created": 0, "model": body["model"],
                "choices": [{"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": "stop"}],
                "usage": told}  # fmt: skip
        return {"type": "succeeded", "message": message, "chat": chat}

    def _spoilt(self, name: str) -> str | None:
        draw = int(hashlib.sha256(f"{self.seed}:{name}:{self.seen[name]}".encode()).hexdigest()[:8], 16) / 2**32
        for fault, share in self.fail.items():
            draw -= share
            if draw < 0:
                return fault
        return None

    async def _rows(self, request: web.BaseRequest, lines: list[dict[str, Any]]) -> web.StreamResponse:
        self._step("download")
        reply = web.StreamResponse(headers={"Content-Type": "application/x-jsonl"})
        await reply.prepare(request)
        with suppress(ConnectionError):
            for line in lines:
                await reply.write(orjson.dumps(line) + b"\n")
                if self.at is not None:
                    # So that what was sent can be worked on before the next is.
                    await asyncio.sleep(0.002)
                self._step("row")
            await reply.write_eof()
        return reply


def _flat(body: Mapping[str, Any]) -> dict[str, Any]:
    """Messages whose content is one text, as the loopback's own answers read them."""
    said = [
        {**message, "content": "".join(part.get("text", "") for part in message["content"])}
        if isinstance(message["content"], list) else message
        for message in body["messages"]
    ]  # fmt: skip
    return {**body, "messages": said}


def _openai_line(custom_id: str, result: Mapping[str, Any]) -> dict[str, Any]:
    line: dict[str, Any] = {"id": "r", "custom_id": custom_id, "response": None, "error": None}
    match result["type"]:
        case "succeeded":
            return line | {"response": {"status_code": 200, "request_id": "r", "body": result["chat"]}}
        case "errored":
            return line | {"response": {"request_id": "r", **_SAID[result["kind"]]}}
        case "expired":
            return line | {"error": {"code": "batch_expired", "message": "This request could not be executed."}}
        case _:
            return line | {"error": {"code": "batch_cancelled", "message": "This batch was cancelled."}}


def _anthropic_result(result: Mapping[str, Any]) -> dict[str, Any]:
    match result["type"]:
        case "succeeded":
            return {"type": "succeeded", "message": result["message"]}
        case "errored":
            kind = "invalid_request_error" if result["kind"] == "invalid" else "overloaded_error"
            return {"type": "errored", "error": {"type": "error", "error": {"type": kind, "message": "no"}}}
        case _:
            return {"type": result["type"]}


def main() -> None:
    """Serve until killed; prints the port."""
    with BatchLoopback(looks=int(sys.argv[1]), exact_tokens=False) as server:
        print(server.port, flush=True)
        threading.Event().wait()


if __name__ == "__main__":
    main()
