"""An agent whose memory is the package mem0ai, with our models behind it and nothing over the network.

The package as it is now only adds memories; `mem0_style` is the agent that also updates and deletes.
"""

from __future__ import annotations

import asyncio
import math
import os
import zlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import dspy

from seedbed.errors import UserError
from seedbed.suite import PhaseContext
from seedbed.suites.finance_dialog.agents.base import DialogueAgent
from seedbed.suites.finance_dialog.agents.turn import Recall, RecallItem, TurnInput, TurnOutput
from seedbed.suites.finance_dialog.options import Mem0Options
from seedbed.suites.kit.tokenise import tokenise

_DIMENSIONS = 256


class Mem0Package(DialogueAgent):
    """Facts are extracted by the package's own prompt, stored in an in-memory Qdrant, found by hashed words."""

    def __init__(self, context: PhaseContext, options: Mem0Options) -> None:
        super().__init__(context, options)
        _require_package(context.cache_dir / "mem0")
        self.lm = context.lm("task")
        self.top_k = options.top_k

    def open_session(self) -> Mem0PackageSession:
        return Mem0PackageSession(self)


class Mem0PackageSession:
    def __init__(self, agent: Mem0Package) -> None:
        self._agent = agent
        self._memory: Any = None
        # Ids of the package are random; the turn and place of a memory are the same in every run.
        self._added: dict[str, tuple[int, int]] = {}

    async def respond(self, turn: TurnInput) -> TurnOutput:
        if self._memory is None:
            self._memory = await asyncio.to_thread(_open_memory, self._agent.lm)
        added = await self._memory.add([{"role": "user", "content": turn.user_text}], user_id=turn.user_id)
        for place, entry in enumerate(added["results"], start=1):
            self._added[entry["id"]] = (turn.turn_pair_id, place)
        found = await self._memory.search(
            turn.user_text, top_k=self._agent.top_k, filters={"user_id": turn.user_id}, threshold=0.0
        )
        items = [self._item(hit) for hit in found["results"]]
        recall = Recall(query=turn.user_text, items=items)
        reply, tools = await self._agent.reply(turn, recall)
        return TurnOutput(reply, recall, tools, {}, calls=2)

    def _item(self, hit: Mapping[str, Any]) -> RecallItem:
        turn, place = self._added.get(hit["id"], (0, 0))
        return RecallItem(f"t{turn}.{place}", hit["memory"], round(float(hit["score"]), 6), turn)

    def ended(self, turn: TurnInput, reply: str | None) -> None:
        """Nothing: the message went into the memory before the reply."""


class LmBridge:
    """Our model as the package calls one: from a thread, with messages, for a text."""

    def __init__(self, lm: dspy.LM) -> None:
        self._lm = lm

    def generate_response(self, messages: Sequence[Mapping[str, str]], **_: Any) -> str:
        answer: Any = self._lm(messages=[dict(message) for message in messages])
        first = answer[0]
        return str(first["text"] if isinstance(first, Mapping) else first)


class HashedWords:
    """Texts as vectors of hashed words and character pairs: near where they share words, with no model to load."""

    def embed(self, text: str, memory_action: str | None = None) -> list[float]:
        vector = [0.0] * _DIMENSIONS
        for token in tokenise(text):
            vector[zlib.crc32(token.encode()) % _DIMENSIONS] += 1.0
        length = math.sqrt(sum(value * value for value in vector)) or 1.0
        return [value / length for value in vector]

    def embed_batch(self, texts: Sequence[str], memory_action: str | None = None) -> list[list[float]]:
        return [self.embed(text) for text in texts]


def _open_memory(lm: dspy.LM) -> Any:
    """A memory of its own for a dialogue. The package insists on making an OpenAI client; it is never used."""
    from mem0 import AsyncMemory  # type: ignore[import-not-found]
    from qdrant_client import QdrantClient  # type: ignore[import-not-found]

    unused = {"provider": "openai", "config": {"api_key": "unused"}}
    store = {"client": QdrantClient(":memory:"), "path": ":memory:", "embedding_model_dims": _DIMENSIONS}
    memory: Any = AsyncMemory.from_config(
        {
            "llm": unused,
            "embedder": unused,
            "vector_store": {"provider": "qdrant", "config": store},
            "history_db_path": ":memory:",
        }
    )
    memory.llm, memory.embedding_model = LmBridge(lm), HashedWords()
    return memory


def _require_package(folder: Path) -> None:
    # Read at import: without these it reports home and writes into the user's home folder.
    os.environ.setdefault("MEM0_TELEMETRY", "False")
    os.environ.setdefault("MEM0_DIR", str(folder))
    try:
        import mem0  # type: ignore[import-not-found]  # noqa: F401
        import qdrant_client  # type: ignore[import-not-found]  # noqa: F401
    except ImportError as error:
        raise UserError(f"system mem0: {error}; install it with `pip install mem0ai`, or take mem0_style.") from None
