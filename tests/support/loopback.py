"""An OpenAI-compatible server on loopback that keeps its own books and misbehaves on request.

It answers in DSPy's chat format, deterministically: the same body gets the same answer. Which requests go wrong depends
on the seed, the body and how often it was seen, so a run can be repeated. `python -m tests.support.loopback` serves
until killed and prints its port: the benchmark runs it in a process of its own.
"""

from __future__ import annotations

import argparse
import asyncio
import base64
import hashlib
import json
import re
import struct
import threading
from collections import Counter
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

import orjson
from aiohttp import web

FAULTS = ("rate_limit", "server", "timeout", "gateway", "reset", "malformed", "no_usage", "empty", "bad_shape", "drip",
          "mid_body", "auth", "billing", "context_length", "endless")  # fmt: skip
HANG_S = 60.0
ENDLESS = b" " * 100_000


@dataclass
class Books:
    """What the server itself counted. `answered` is what a provider would bill without doubt."""

    requests: int = 0
    answered: int = 0
    tokens_in: int = 0
    tokens_out: int = 0
    tokens_cached: int = 0
    unseen_in: int = 0
    """Tokens of work that was done but whose answer could not be read by the caller."""
    unseen_out: int = 0
    faults: Counter[str] = field(default_factory=Counter)
    by_body: Counter[str] = field(default_factory=Counter)
    answered_by_body: Counter[str] = field(default_factory=Counter)
    told: dict[str, list[tuple[int, int]]] = field(default_factory=dict)
    """By body: the input and output tokens of each answer."""
    in_flight: int = 0
    max_in_flight: int = 0
    endless_bytes: int = 0
    open_bodies: Counter[str] = field(default_factory=Counter)

    def to_json(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if isinstance(value, int)}


class Loopback:
    """Runs in a thread with a loop of its own. Use as a context manager."""

    def __init__(
        self,
        *,
        seed: int = 0,
        latency_s: float = 0.0,
        faults: Mapping[str, float] | None = None,
        max_faults: int = 2,
        retry_after: str = "0.02",
        exact_tokens: bool = True,
        cached_share: float = 0.0,
        port: int = 0,
        watch: Callable[[web.BaseRequest, bytes], None] | None = None,
        say: Callable[[Mapping[str, Any], str], dict[str, Any] | None] | None = None,
        slots: int | None = None,
        served: Mapping[str, str] | None = None,
    ) -> None:
        unknown = set(faults or {}) - set(FAULTS)
        assert not unknown, unknown
        self.seed = seed
        self.latency_s = latency_s
        self.faults = dict(faults or {})
        self.max_faults = max_faults
        """A body fails at most so often, so that a caller who tries again gets through."""
        self.retry_after = retry_after
        self.exact_tokens = exact_tokens
        self.cached_share = cached_share
        self.watch = watch
        """Called with each request and its body as they come."""
        self.say = say
        """The message for a body and its name, where it is to be another than `answer`."""
        self.served = dict(served or {})
        """By the model that is asked, the one that its answers say they are of."""
        self.slots = slots
        """What it says of how many it works on at once, as llama.cpp does; most servers say nothing."""
        self.books = Books()
        self._port = port
        self._loop = asyncio.new_event_loop()
        self._ready = threading.Event()
        self._thread = threading.Thread(target=self._serve, daemon=True, name="loopback")

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._port}/v1"

    @property
    def port(self) -> int:
        return self._port

    def __enter__(self) -> Loopback:
        self._thread.start()
        assert self._ready.wait(120)
        return self

    def __exit__(self, *_: object) -> None:
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(120)

    def _serve(self) -> None:
        asyncio.set_event_loop(self._loop)
        self._loop.run_until_complete(self._start())
        self._ready.set()
        self._loop.run_forever()
        self._loop.run_until_complete(self._end())
        self._loop.close()

    async def _end(self) -> None:
        """Requests that still hang are let go."""
        hanging = asyncio.all_tasks() - {asyncio.current_task()}
        for task in hanging:
            task.cancel()
        await asyncio.gather(*hanging, return_exceptions=True)

    async def _start(self) -> None:
        runner = web.ServerRunner(web.Server(self._handle, access_log=None))
        await runner.setup()
        site = web.TCPSite(runner, "127.0.0.1", self._port, backlog=2048)
        await site.start()
        self._port = site._server.sockets[0].getsockname()[1]  # type: ignore[union-attr]

    async def _handle(self, request: web.BaseRequest) -> web.StreamResponse:
        if request.path.endswith("/stats"):
            return web.Response(body=orjson.dumps(self.books.to_json()), content_type="application/json")
        if request.path.endswith("/props"):
            told = {} if self.slots is None else {"total_slots": self.slots}
            return web.Response(status=200 if told else 404, body=orjson.dumps(told), content_type="application/json")
        raw = await request.read()
        if self.watch is not None:
            self.watch(request, raw)
        books, name = self.books, hashlib.sha256(raw).hexdigest()
        books.requests += 1
        books.by_body[name] += 1
        books.open_bodies[name] += 1
        books.in_flight += 1
        books.max_in_flight = max(books.max_in_flight, books.in_flight)
        try:
            if self.latency_s:
                await asyncio.sleep(self.latency_s)
            body = orjson.loads(raw)
            fault = self._fault(name)
            if fault == "endless":
                return await _without_end(request, self.books)
            if request.path.endswith("/embeddings"):
                return self._embeddings(body, name)
            return await self._chat(request, body, name, fault)
        finally:
            books.in_flight -= 1
            books.open_bodies[name] -= 1

    def _fault(self, name: str) -> str | None:
        seen = self.books.by_body[name]
        if not self.faults or seen > self.max_faults:
            return None
        digest = hashlib.sha256(f"{self.seed}:{name}:{seen}".encode()).digest()
        draw = int.from_bytes(digest[:8], "big") / 2**64
        for fault, share in self.faults.items():
            draw -= share
            if draw < 0:
                self.books.faults[fault] += 1
                return fault
        return None

    async def _chat(
        self, request: web.BaseRequest, body: dict[str, Any], name: str, fault: str | None
    ) -> web.StreamResponse:
        if fault in _REFUSALS:
            status, code = _REFUSALS[fault]
            headers = {"Retry-After": self.retry_after} if fault == "rate_limit" else {}
            error = {"error": {"message": f"refused: {fault}", "code": code}}
            return web.Response(status=status, body=orjson.dumps(error), headers=headers)
        own = self.say(body, name) if self.say else None
        text = "" if fault == "empty" else json.dumps(own) if own else answer(body, name)
        sent, received = self._count(body, text)
        cached = int(sent * self.cached_share)
        content = _completion(body, own or text, name, sent, received, cached, fault, self.served)
        if fault in ("timeout", "gateway", "reset", "malformed", "drip", "mid_body"):
            # The work was done, but nobody will be able to read what it cost.
            self.books.unseen_in += sent
            self.books.unseen_out += received
            return await _spoil(request, content, fault)
        self._bill(name, sent, received, cached)
        return web.Response(body=content, content_type="application/json")

    def _embeddings(self, body: dict[str, Any], name: str) -> web.Response:
        tokens = sum(len(text.split()) for text in body["input"])
        self._bill(name, tokens, 0, 0)
        data = [{"index": i, "embedding": _vector(text, body)} for i, text in enumerate(body["input"])]
        # In another order than asked: the index is what counts.
        return web.Response(
            body=orjson.dumps({"data": data[::-1], "usage": {"prompt_tokens": tokens, "total_tokens": tokens}}),
            content_type="application/json",
        )

    def _bill(self, name: str, sent: int, received: int, cached: int) -> None:
        books = self.books
        books.answered += 1
        books.answered_by_body[name] += 1
        books.told.setdefault(name, []).append((sent, received))
        books.tokens_in += sent
        books.tokens_out += received
        books.tokens_cached += cached

    def _count(self, body: dict[str, Any], text: str) -> tuple[int, int]:
        contents = [str(message.get("content") or "") for message in body["messages"]]
        if not self.exact_tokens:
            return sum(map(len, contents)) // 4, len(text) // 4
        return sum(4 + len(_tokenizer().encode_ordinary(c)) for c in contents), len(_tokenizer().encode_ordinary(text))


_REFUSALS = {
    "rate_limit": (429, "rate_limit_exceeded"),
    "server": (500, "server_error"),
    "auth": (401, "invalid_api_key"),
    "billing": (429, "insufficient_quota"),
    "context_length": (400, "context_length_exceeded"),
}


def answer(body: Mapping[str, Any], name: str) -> str:
    """A reply in the format the last message asks for; its values are yes or no by chance of the body."""
    asked = str(body["messages"][-1]["content"])
    value = "yes" if int(name[:8], 16) % 2 else "no"
    if body.get("response_format"):
        last = asked.rpartition("Respond with a JSON object")[2]
        return json.dumps(dict.fromkeys(re.findall(r"`(\w+)`", last), value))
    last = asked.rpartition("Respond with the corresponding output fields")[2]
    parts = [
        f"[[ ## {field} ## ]]\n{_typed(kind, value)}\n"
        for field, kind in re.findall(r"`\[\[ ## (\w+) ## \]\]`(?: \(must be formatted as a valid Python (\w+))?", last)
        if field != "completed"
    ]
    return "\n".join([*parts, "[[ ## completed ## ]]"]) if parts else f"```\nAnswer {value} ({name[:6]}).\n```"


def _typed(kind: str, value: str) -> str:
    return {"dict": "{}", "list": "[]", "int": "1", "float": "0.5", "bool": str(value == "yes")}.get(kind, value)


def _completion(
    body: Mapping[str, Any],
    said: Any,
    name: str,
    sent: int,
    received: int,
    cached: int,
    fault: str | None,
    served: Mapping[str, str],
) -> bytes:
    message: Any = {"role": "assistant", "content": said} if isinstance(said, str) else said
    finish = "tool_calls" if isinstance(said, dict) and said.get("tool_calls") else "stop"
    logprobs = {"content": [{"token": "a", "logprob": -0.5, "bytes": [97], "top_logprobs": []}]}
    completion: dict[str, Any] = {
        "id": f"loopback-{name[:12]}",
        "object": "chat.completion",
        "created": 0,
        "model": served.get(body["model"], body["model"]),
        "choices": [{"index": 0, "message": message, "finish_reason": finish}],
        "usage": {
            "prompt_tokens": sent,
            "completion_tokens": received,
            "total_tokens": sent + received,
            "prompt_tokens_details": {"cached_tokens": cached},
        },
    }
    if body.get("logprobs"):
        completion["choices"][0]["logprobs"] = logprobs
    if fault == "no_usage":
        del completion["usage"]
    if fault == "bad_shape":
        completion["choices"] = [{"index": 0, "message": "not an object", "finish_reason": "stop"}]
    return orjson.dumps(completion)


async def _without_end(request: web.BaseRequest, books: Books) -> web.StreamResponse:
    """A reply that goes on until its reader has had enough; the books say how much of it was taken."""
    reply = web.StreamResponse(headers={"Content-Type": "application/json"})
    await reply.prepare(request)
    with suppress(ConnectionError):
        while True:
            await reply.write(ENDLESS)
            books.endless_bytes += len(ENDLESS)
    return reply


def _cut(request: web.BaseRequest) -> None:
    """Break the connection, if the caller (who may have been killed meanwhile) still has one."""
    if request.transport is not None:
        request.transport.abort()


async def _spoil(request: web.BaseRequest, content: bytes, fault: str) -> web.StreamResponse:
    match fault:
        case "timeout":
            await asyncio.sleep(HANG_S)
        case "gateway":
            # Somebody between the model and the caller ran out of patience: a timeout that needs no clock of ours.
            return web.Response(status=504)
        case "reset":
            _cut(request)
        case "malformed":
            return web.Response(body=content[: len(content) // 2], content_type="application/json")
        case "drip" | "mid_body":
            reply = web.StreamResponse(headers={"Content-Length": str(len(content))})
            await reply.prepare(request)
            with suppress(ConnectionError):  # its reader had enough
                for at in range(len(content) if fault == "drip" else 8):
                    await reply.write(content[at : at + 1])
                    if fault == "drip":
                        await asyncio.sleep(1.0)
            _cut(request)
            return reply
        case _:
            raise AssertionError(fault)
    return web.Response(status=500)


def _vector(text: str, body: Mapping[str, Any]) -> str | list[float]:
    digest = hashlib.sha256(text.encode()).digest()[:8]
    values = [byte / 255 for byte in digest]
    if body.get("encoding_format") == "base64":
        return base64.b64encode(struct.pack("<8f", *values)).decode()
    return values


@lru_cache(maxsize=1)
def _tokenizer() -> Any:
    import os
    from importlib.util import find_spec
    from pathlib import Path

    spec = find_spec("litellm")
    assert spec is not None
    assert spec.submodule_search_locations is not None
    folder = Path(next(iter(spec.submodule_search_locations))) / "litellm_core_utils" / "tokenizers"
    os.environ.setdefault("TIKTOKEN_CACHE_DIR", str(folder))
    import tiktoken

    return tiktoken.get_encoding("o200k_base")


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--latency-ms", type=float, default=0.0)
    arguments = parser.parse_args()
    with Loopback(latency_s=arguments.latency_ms / 1000, port=arguments.port, exact_tokens=False) as server:
        print(server.port, flush=True)
        threading.Event().wait()


if __name__ == "__main__":
    main()
