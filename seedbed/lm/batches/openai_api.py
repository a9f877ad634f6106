"""Batches as OpenAI has them, and servers that are compatible: a file of requests, a batch of it, files of results."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator, Collection, Iterable
from typing import Any
from urllib.parse import quote

import aiohttp
import orjson

from seedbed.errors import ProviderError
from seedbed.lm.batches.http import BatchHttp, as_counts, as_object, as_objects, parsed_line
from seedbed.lm.batches.protocol import Perhaps, Progress
from seedbed.lm.ledger.batches import Batch
from seedbed.lm.providers.openai_http import endpoint, http_error, key_variable
from seedbed.lm.types import JsonDict
from seedbed.sweep.model_config import ModelConfig

_ENDED = frozenset({"completed", "failed", "expired", "cancelled"})
_MARK = "seedbed_batch"
_PAGE = 100
_PAGES = 50
_EARLIER_S = 3600.0
"""Clocks differ: a batch is looked for among those that are older by so much."""


class OpenAIBatches:
    def __init__(self, model: ModelConfig) -> None:
        self._model = model
        self._name = model.model.partition("/")[2]
        self._key_env = key_variable(model)
        self._http = BatchHttp(self._url("batches"), self._headers, int(model.max_reply_mb * 1e6))

    async def upload(self, batch: Batch, rows: Iterable[tuple[str, JsonDict]]) -> str | None:
        lines = b"".join(
            orjson.dumps({"custom_id": name, "method": "POST", "url": "/v1/chat/completions",
                          "body": {**body, "model": self._name}}) + b"\n"
            for name, body in rows
        )  # fmt: skip
        form = aiohttp.FormData({"purpose": "batch"})
        form.add_field("file", lines, filename=f"seedbed-{batch.id}.jsonl", content_type="application/jsonl")
        return _id(await self._http.ask("POST", self._url("files"), data=form))

    async def create(self, batch: Batch, rows: Iterable[tuple[str, JsonDict]]) -> str:
        asked = {
            "input_file_id": batch.file_id,
            "endpoint": "/v1/chat/completions",
            "completion_window": "24h",
            "metadata": {_MARK: batch.id},
        }
        return _id(await self._http.ask("POST", self._url("batches"), json=asked))

    async def find(self, batch: Batch, since: float, known: Collection[str]) -> str | Perhaps | None:
        after = ""
        for _ in range(_PAGES):
            page = await self._http.ask("GET", self._url("batches", f"limit={_PAGE}{after}"))
            found = as_objects(page.get("data"))
            for one in found:
                # A server that keeps no metadata still says of which file a batch is.
                marked = as_object(one.get("metadata")).get(_MARK) == batch.id
                if marked or (batch.file_id and one.get("input_file_id") == batch.file_id):
                    return _id(one)
            if not page.get("has_more") or not found or min(map(_made_at, found)) < since - _EARLIER_S:
                return None
            after = f"&after={quote(str(found[-1].get('id')), safe='')}"
        return None

    async def progress(self, provider_id: str) -> Progress:
        said = await self._http.ask("GET", self._of(provider_id))
        status, counts = str(said.get("status")), as_counts(said.get("request_counts"))
        files = (said.get("output_file_id"), said.get("error_file_id"))
        faults = as_objects(as_object(said.get("errors")).get("data"))
        return Progress(
            status,
            status in _ENDED,
            counts.get("completed", 0),
            counts.get("failed", 0),
            _meaning(status, faults) if status in _ENDED else None,
            tuple(str(name) for name in files if name),
            status == "completed",
            tuple((one["line"], str(one.get("message"))) for one in faults if isinstance(one.get("line"), int)),
        )

    async def results(
        self, provider_id: str, progress: Progress
    ) -> AsyncIterator[tuple[str, JsonDict | ProviderError]]:
        for file in progress.results:
            async for line in self._http.lines(self._url(f"files/{quote(file, safe='')}/content")):
                said = parsed_line(line)
                if said is not None and isinstance(said.get("custom_id"), str):
                    yield said["custom_id"], _result(said)

    async def read(self, reply: JsonDict, request: JsonDict) -> JsonDict:
        return reply

    async def cancel(self, provider_id: str) -> None:
        await self._http.ask("POST", f"{self._of(provider_id)}/cancel")

    async def aclose(self) -> None:
        await self._http.aclose()

    def _of(self, provider_id: str) -> str:
        return self._url(f"batches/{quote(provider_id, safe='')}")

    def _url(self, path: str, query: str = "") -> str:
        url = endpoint(self._model, path)
        return f"{url}{'&' if '?' in url else '?'}{query}" if query else url

    def _headers(self) -> dict[str, str]:
        key = os.environ.get(self._key_env, "") if self._key_env else ""
        return {"Authorization": f"Bearer {key}"} if key else {}


def _id(said: JsonDict) -> str:
    if not isinstance(said.get("id"), str):
        raise ProviderError("malformed", "the response names no id")
    return said["id"]


def _made_at(said: JsonDict) -> float:
    made = said.get("created_at")
    return float(made) if isinstance(made, int | float) else float("inf")


def _result(line: JsonDict) -> JsonDict | ProviderError:
    response, error = line.get("response"), line.get("error")
    if isinstance(response, dict):
        status, body = response.get("status_code"), response.get("body")
        if status == 200:
            return body if isinstance(body, dict) else ProviderError("malformed", "the response has no content")
        return http_error(status if isinstance(status, int) else 500, {}, orjson.dumps(body))
    said = error if isinstance(error, dict) else {}
    message = str(said.get("message") or "the batch has no response to this request")
    return ProviderError("server", f"{said.get('code') or 'no response'}: {message}")


def _meaning(status: str, faults: list[dict[str, Any]]) -> ProviderError:
    """What became of a request that no result speaks of. None of these is billed but one that completed."""
    told = "; ".join(str(one.get("message") or one.get("code")) for one in faults[:3])
    match status:
        case "failed" if any(one.get("code") == "token_limit_exceeded" for one in faults):
            return ProviderError("rate_limit", f"the batch was refused: {told}")
        case "failed" if faults and all(isinstance(one.get("line"), int) for one in faults):
            return ProviderError("server", f"the batch was refused for another of its requests: {told}")
        case "failed":
            return ProviderError("invalid_request", f"the batch was refused: {told or 'no reason given'}")
        case "expired":
            return ProviderError("timeout", "the batch expired before this request was answered", unsent=True)
        case "cancelled":
            return ProviderError("server", "the batch was cancelled before this request was answered")
        case _:
            return ProviderError("malformed", "the results of the batch say nothing of this request")
