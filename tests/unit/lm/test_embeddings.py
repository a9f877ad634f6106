"""Embeddings through the openai client: in order, in batches, recorded and reused like chats."""

from __future__ import annotations

import hashlib
from pathlib import Path

import numpy as np
import pytest

from seedbed.errors import ProviderError
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


def test_embeddings_without_an_end_are_left_soon(tmp_path: Path) -> None:
    endless = Loopback(faults={"endless": 1.0})
    told = pytest.raises(ProviderError, match="longer than 1 MB; raise max_reply_mb")
    with endless as server, runtime(tmp_path, server, max_reply_mb=1, retries=0) as made, told:
        made.embedder(scope(role="embedding"))(["hello"])
    assert sums(tmp_path).outcomes == {"failed": 1}
    assert server.books.endless_bytes < 20e6


def _watched(tmp_path: Path, query: str = "") -> tuple[str, dict[str, str]]:
    """Path and headers of a request for embeddings by an address with a query."""
    seen: list[tuple[str, dict[str, str]]] = []
    with Loopback(watch=lambda request, _: seen.append((request.path_qs, dict(request.headers)))) as server:
        base = f"{server.url}/openai/deployments/small{query}"
        with runtime(tmp_path, server, api_base=base, api_key_env="EMBED_KEY") as made:
            assert made.embedder(scope())(["hello"]).shape == (1, 8)
    assert len(seen) == 1
    return seen[0]


def test_the_query_of_an_address_stays_behind_the_path(tmp_path: Path) -> None:
    path, _ = _watched(tmp_path, "?api-version=2024-10-21&tenant=a%20b")
    assert path == "/v1/openai/deployments/small/embeddings?api-version=2024-10-21&tenant=a+b"


@pytest.mark.parametrize("azure", [True, False])
def test_the_key_goes_into_the_header_the_endpoint_reads(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, azure: bool
) -> None:
    monkeypatch.setenv("EMBED_KEY", "my-embedding-key")
    monkeypatch.setattr("seedbed.lm.providers.openai_embeddings.is_azure", lambda _url: azure)
    _, headers = _watched(tmp_path)
    found = {name.lower(): value for name, value in headers.items()}
    assert found.get("api-key") == ("my-embedding-key" if azure else None)
    assert found.get("authorization") == (None if azure else "Bearer my-embedding-key")
