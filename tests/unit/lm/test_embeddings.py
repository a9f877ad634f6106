"""Embeddings through the openai client: in order, in batches, recorded and reused like chats."""

from __future__ import annotations

import base64
import hashlib
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from seedbed.errors import ProviderError
from seedbed.lm import embeddings
from seedbed.lm.tokens import count_tokens
from seedbed.lm.types import Usage
from tests.support.lm import caps, runtime, scope, sums
from tests.support.loopback import Loopback
from tests.support.replies import endpoint


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


@pytest.mark.parametrize(
    ("kind", "failures", "numbers", "answered"),
    [
        ("server", 2, [1, 2, 3], True),
        ("server", 9, [1, 2, 3], False),
        ("auth", 1, [1], False),
    ],
)
def test_failures_that_may_pass_are_tried_again_as_often_as_allowed_and_others_are_not(
    tmp_path: Path, kind: Any, failures: int, numbers: list[int], answered: bool
) -> None:
    tried: list[int] = []
    with Loopback() as server, runtime(tmp_path, server, retries=2, backoff_s=0.0) as made:
        real = made.attempt

        async def failing_first(query: Any) -> Any:
            tried.append(query.attempt.number)
            if len(tried) <= failures:
                raise ProviderError(kind, "not now")
            return await real(query)

        made.attempt = failing_first  # type: ignore[method-assign]
        embed = made.embedder(scope(role="embedding"))
        with nullcontext() if answered else pytest.raises(ProviderError, match="not now"):
            assert embed(["hello"]).shape == (1, 8)
    assert tried == numbers


def test_vectors_are_read_by_their_index_in_either_form() -> None:
    packed = base64.b64encode(np.array([3.0, 4.0], dtype="<f4").tobytes()).decode()
    reply = {"data": [{"index": 1, "embedding": packed}, {"index": 0, "embedding": [1.0, 2.0]}]}
    np.testing.assert_array_equal(embeddings._vectors(reply, 2), [[1, 2], [3, 4]])  # type: ignore[attr-defined]
    for wrong in ({}, {"data": [{"embedding": [1.0]}]}, {"data": []}, {"data": None}):
        with pytest.raises(ProviderError, match="the embeddings cannot be read"):
            embeddings._vectors(wrong, 1)  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    "data",
    [
        [{"index": 0, "embedding": [1.0]}, {"index": 1, "embedding": [1.0]}],
        *([{"index": index, "embedding": [1.0]}] for index in (1, -1, "0", None)),
        *([{"index": 0, "embedding": vector}] for vector in (None, [], "", [None], [[1.0], [2.0]], ["a"], "AAAA", 1.0)),
        [{"index": 0, "embedding": base64.b64encode(np.array([np.inf, np.nan], dtype="<f4").tobytes()).decode()}],
    ],
)
def test_vectors_that_are_none_are_not_kept_and_cost_what_they_tell(tmp_path: Path, data: Any) -> None:
    replies = [{"data": data, "usage": {"prompt_tokens": 5}}, {"data": [{"index": 0, "embedding": [1.0, 2.0]}]}]
    with endpoint(lambda _: replies[len(asked) > 1]) as (url, asked):
        for answered in (False, True):
            with runtime(tmp_path, Loopback(), api_base=url, retries=0) as made:
                embed = made.embedder(scope(role="embedding"), caps(1.0))
                with nullcontext() if answered else pytest.raises(ProviderError, match="embeddings cannot be read"):
                    assert embed(["hello"]).tolist() == [[1.0, 2.0]]
    found = sums(tmp_path, "outcome = 'failed'")
    assert (found.tokens_in, found.at_risk_usd) == (5, 0.0)
    assert found.spent_usd == pytest.approx(5 * 2e-6)
    assert len(asked) == 2


@pytest.mark.parametrize("tokens", [-5, 18446744073709551615, True, 1.5, "5", [5]])
def test_tokens_that_cannot_be_meant_are_estimated(tmp_path: Path, tokens: Any) -> None:
    reply = {"data": [{"index": 0, "embedding": [1.0, 2.0]}], "usage": {"prompt_tokens": tokens}}
    with endpoint(reply) as (url, _), runtime(tmp_path, Loopback(), api_base=url) as made:
        assert made.embedder(scope(role="embedding"), caps(1.0))(["hello"]).shape == (1, 2)
    found = sums(tmp_path)
    assert (found.outcomes, found.estimated, found.tokens_in) == ({"paid": 1}, 1, 1)


def test_tokens_that_nobody_told_are_estimated() -> None:
    told = embeddings._usage({"input": ["hello"]}, {"usage": {"prompt_tokens": 7}})  # type: ignore[attr-defined]
    assert told == Usage(7, 0)
    body = {"input": ["hello", [1, 2, 3]]}
    for reply in ({}, {"usage": None}, {"usage": {"prompt_tokens": None}}):
        found = embeddings._usage(body, reply)  # type: ignore[attr-defined]
        assert (found.output, found.estimated) == (0, True)
        assert found.input == count_tokens("hello") + 3
