"""Batches as Anthropic has them: all requests in one call, one file of results."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator, Collection, Iterable
from datetime import datetime
from typing import Any
from urllib.parse import quote

from seedbed.errors import ProviderError
from seedbed.lm.batches.anthropic_messages import MessagesCodec
from seedbed.lm.batches.http import BatchHttp, as_counts, as_object, as_objects, parsed_line
from seedbed.lm.batches.protocol import Perhaps, Progress, RowsRefused
from seedbed.lm.ledger.batches import Batch
from seedbed.lm.providers.openai_http import http_error
from seedbed.lm.types import JsonDict
from seedbed.sweep.model_config import ModelConfig

_BASE = "https://api.anthropic.com"
_VERSION = "2023-06-01"
_PAGE = 100
_PAGES = 50
_EARLIER_S = 3600.0
"""Clocks differ: a batch is looked for among those that are older by so much."""
_STATUS_OF = {
    "invalid_request_error": 400,
    "authentication_error": 401,
    "billing_error": 402,
    "permission_error": 403,
    "not_found_error": 400,  # of a single request: its model's name, say
    "request_too_large": 413,
    "rate_limit_error": 429,
    "timeout_error": 504,
    "overloaded_error": 529,
}


class AnthropicBatches:
    def __init__(self, model: ModelConfig) -> None:
        self._key_env = model.api_key_env or ("ANTHROPIC_API_KEY" if model.api_base is None else None)
        base = (model.api_base or _BASE).rstrip("/").removesuffix("/v1/messages").removesuffix("/v1")
        self._url = f"{base}/v1/messages/batches"
        self._codec = MessagesCodec(model.model)
        self._features: set[str] = set()
        self._http = BatchHttp(base, self._headers, int(model.max_reply_mb * 1e6))

    async def upload(self, batch: Batch, rows: Iterable[tuple[str, JsonDict]]) -> str | None:
        return None

    async def create(self, batch: Batch, rows: Iterable[tuple[str, JsonDict]]) -> str:
        asked: list[JsonDict] = []
        refused: dict[str, ProviderError] = {}
        self._features = set()
        for name, body in rows:
            await asyncio.sleep(0)  # litellm leaves nobody else a turn
            try:
                params, features = await self._codec.encode(body)
            except ProviderError as error:
                refused[name] = error
                continue
            asked.append({"custom_id": name, "params": params})
            self._features.update(part.strip() for part in features.split(",") if part.strip())
        if refused:
            raise RowsRefused(refused)
        said = await self._http.ask("POST", self._url, json={"requests": asked})
        if not isinstance(said.get("id"), str):
            raise ProviderError("malformed", "the response names no id")
        return said["id"]

    async def find(self, batch: Batch, since: float, known: Collection[str]) -> str | Perhaps | None:
        """A batch has no name of ours here. What tells it is the ids in its results, which are there at its end."""
        after, perhaps = "", None
        for _ in range(_PAGES):
            page = await self._http.ask("GET", f"{self._url}?limit={_PAGE}{after}")
            found = as_objects(page.get("data"))
            for one in found:
                name, counts = one.get("id"), as_counts(one.get("request_counts"))
                others = bool(counts) and sum(counts.values()) != batch.requests
                if name in known or others or _made_at(one) < since - _EARLIER_S:
                    continue
                if one.get("processing_status") != "ended" or not isinstance(name, str):
                    perhaps = Perhaps()
                elif await self._is_ours(name, batch):
                    return name
            if not page.get("has_more") or not found or min(map(_made_at, found)) < since - _EARLIER_S:
                break
            after = f"&after_id={quote(str(found[-1].get('id')), safe='')}"
        return perhaps

    async def _is_ours(self, provider_id: str, batch: Batch) -> bool:
        try:
            async for line in self._http.lines(f"{self._of(provider_id)}/results"):
                said = parsed_line(line) or {}
                return str(said.get("custom_id")).endswith(f"-{batch.id}")
        except ProviderError as error:
            if error.status not in (404, 410):
                raise
        return False

    async def progress(self, provider_id: str) -> Progress:
        said = await self._http.ask("GET", self._of(provider_id))
        status, counts = str(said.get("processing_status")), as_counts(said.get("request_counts"))
        failed = counts.get("errored", 0) + counts.get("expired", 0) + counts.get("canceled", 0)
        unsaid = ProviderError("malformed", "the results of the batch say nothing of this request")
        ended = status == "ended"
        return Progress(status, ended, counts.get("succeeded", 0), failed, unsaid, complete=ended)

    async def results(
        self, provider_id: str, progress: Progress
    ) -> AsyncIterator[tuple[str, JsonDict | ProviderError]]:
        async for line in self._http.lines(f"{self._of(provider_id)}/results"):
            said = parsed_line(line)
            if said is not None and isinstance(said.get("custom_id"), str):
                yield said["custom_id"], _result(said.get("result"))

    async def read(self, reply: JsonDict, request: JsonDict) -> JsonDict:
        return await self._codec.decode(reply, request)

    async def cancel(self, provider_id: str) -> None:
        await self._http.ask("POST", f"{self._of(provider_id)}/cancel")

    async def aclose(self) -> None:
        await self._http.aclose()

    def _of(self, provider_id: str) -> str:
        return f"{self._url}/{quote(provider_id, safe='')}"

    def _headers(self) -> dict[str, str]:
        key = os.environ.get(self._key_env, "") if self._key_env else ""
        headers = {"anthropic-version": _VERSION} | ({"x-api-key": key} if key else {})
        return headers | ({"anthropic-beta": ",".join(sorted(self._features))} if self._features else {})


def _made_at(said: JsonDict) -> float:
    try:
        return datetime.fromisoformat(str(said.get("created_at"))).timestamp()
    except ValueError:
        return float("inf")


def _result(result: Any) -> JsonDict | ProviderError:
    said = as_object(result)
    match said.get("type"):
        case "succeeded" if isinstance(said.get("message"), dict):
            return said["message"]
        case "errored":
            error = as_object(said.get("error"))
            error = as_object(error.get("error", error))
            kind, message = str(error.get("type")), str(error.get("message"))
            refused = http_error(_STATUS_OF.get(kind, 500), {}, message.encode())
            refused.message = f"{kind}: {message}"[:300]
            return refused
        case "expired":
            return ProviderError("timeout", "the batch expired before this request was answered", unsent=True)
        case "canceled":
            return ProviderError("server", "the batch was cancelled before this request was answered")
        case _:
            return ProviderError("malformed", "the result of this request cannot be read")
