"""Embeddings through the openai client: in order, in batches, recorded and reused like chats."""

from __future__ import annotations

import hashlib
from pathlib import Path

import numpy as np

from tests.support.lm import runtime, scope, sums
from tests.support.loopback import Loopback


def _expected(text: str) -> list[float]:
    return [byte / 255 for byte in hashlib.sha256(text.encode()).digest()[:8]]


def test_embeddings_come_in_order_and_are_recorded_and_reused(tmp_path: Path) -> None:
    texts = [f"text number {n}" for n in range(150)]
    with Loopback() as server, runtime(tmp_path, server) as made:
        embed = made.embedder(scope(role="embedding"))
        first = embed(texts)
        again = embed(texts)
        empty = embed([])
    np.testing.assert_allclose(first, [_expected(text) for text in texts], rtol=1e-6)
    np.testing.assert_array_equal(first, again)
    assert len(empty) == 0
    found = sums(tmp_path)
    assert server.books.requests == 3
    assert found.outcomes == {"paid": 3, "reused": 3}
    assert found.tokens_in == server.books.tokens_in == 450
    assert found.tokens_out == 0
    assert abs(found.spent_usd - 450 * 2e-6) < 1e-9
