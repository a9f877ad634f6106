"""DSPy in front of the offline provider: programs ask for real, only the network is missing."""

from __future__ import annotations

import asyncio
import hashlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import dspy
import pytest
from dspy.lm15 import Message, RateLimitError, Response, ServerError, TextPart, Usage

from seedbed.errors import ProviderError
from seedbed.lm.types import Attempt, JsonDict
from seedbed.offline import OfflineModel, OfflineOptions, OfflineProvider
from seedbed.offline.lexicon import Lexicon

DATA = Path(__file__).parent / "data"


def body_of(request: Any) -> JsonDict:
    """The OpenAI chat body of a request that DSPy hands to an engine."""
    messages = [{"role": "system", "content": request.system}] if request.system else []
    messages += [{"role": m.role, "content": "".join(part.text for part in m.parts)} for m in request.messages]
    return {"model": request.model, "messages": messages, "temperature": request.config.temperature}


class ProviderEngine:
    """A bare engine: no ledger, no cache. DSPy makes the retries, and each is the next attempt of its request."""

    def __init__(self, provider: OfflineProvider, seed: int | None = None) -> None:
        self.provider = provider
        self.seed = seed
        self.bodies: list[JsonDict] = []
        self.replies: list[str] = []
        self._tries: dict[str, int] = {}

    def complete(self, request: Any) -> Response:
        body = body_of(request)
        key = hashlib.sha256(json.dumps(body, ensure_ascii=False).encode()).hexdigest()
        self._tries[key] = self._tries.get(key, 0) + 1
        self.bodies.append(body)
        try:
            completion = asyncio.run(self.provider.chat(body, Attempt(key, self.seed, 0, self._tries[key], 5.0)))
        except ProviderError as error:
            raise (RateLimitError if error.kind == "rate_limit" else ServerError)(error.message) from error
        text = completion["choices"][0]["message"]["content"]
        self.replies.append(text)
        usage = completion.get("usage") or {"prompt_tokens": 0, "completion_tokens": 0, "total_tokens": 0}
        return Response(
            id=None,
            model=completion["model"],
            message=Message.assistant([TextPart(text)]),
            finish_reason="stop",
            usage=Usage(usage["prompt_tokens"], usage["completion_tokens"], usage["total_tokens"]),
        )


Connect = Callable[..., ProviderEngine]


@pytest.fixture(scope="session")
def lexicon() -> Lexicon:
    return Lexicon.load(DATA)


@pytest.fixture
def connect(lexicon: Lexicon) -> Any:
    """Puts an offline model behind DSPy for the test and returns the engine. Flawless unless told otherwise."""
    contexts: list[Any] = []

    def _connect(*, seed: int | None = None, temperature: float = 0.0, retries: int = 0, **options: Any) -> Any:
        provider = OfflineProvider("offline/test", OfflineOptions(**{"ability": 1.0, "noise": 0.0, **options}))
        provider.model = OfflineModel("offline/test", provider.options, lexicon=lexicon)
        engine = ProviderEngine(provider, seed)
        lm = dspy.LM("offline/test", engine=engine, cache=False, num_retries=retries, temperature=temperature)
        context = dspy.context(lm=lm, adapter=dspy.ChatAdapter())
        context.__enter__()
        contexts.append(context)
        return engine

    yield _connect
    for context in reversed(contexts):
        context.__exit__(None, None, None)


@pytest.fixture
def document() -> Callable[[str], list[str]]:
    """The sample documents in one language, one a topic."""
    rows = [json.loads(line) for line in (DATA / "parallel.jsonl").read_text("utf-8").splitlines()]

    def _document(lang: str) -> list[str]:
        topics = dict.fromkeys(row["topic"] for row in rows)
        return [" ".join(row[lang] for row in rows if row["topic"] == topic) for topic in topics]

    return _document
