"""Vectors of a reply, and what of a request for them the provider and the ledger are told."""

from __future__ import annotations

import base64
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from seedbed.errors import ProviderError
from seedbed.lm.current_sample import CURRENT_SAMPLE
from seedbed.lm.embeddings import _vectors  # pyright: ignore[reportPrivateUsage]
from seedbed.lm.runtime import LMRuntime
from seedbed.lm.types import Attempt, JsonDict
from seedbed.sweep.model_config import ModelConfig
from tests.support.lm import ledger_url, scope, sums

MODEL = ModelConfig.model_validate({"model": "openai/x", "price": {"input": 1.0, "output": 1.0}})


def _packed(*numbers: float) -> str:
    return base64.b64encode(np.array(numbers, dtype="<f4").tobytes()).decode()


def _row(vector: Any, index: Any = 0) -> dict[str, Any]:
    return {"index": index, "embedding": vector}


@pytest.mark.parametrize(
    "data",
    [
        [_row([1.0]), _row([1.0], 1)],
        [_row([1.0], 1)],
        [_row([])],
        [_row("")],
        [_row([[1.0], [2.0]])],
        [_row(1.0)],
        [_row(_packed(np.inf, 1.0))],
        [_row(_packed(1.0, np.nan))],
    ],
)
def test_what_is_no_list_of_numbers_for_each_text_is_malformed(data: Any) -> None:
    with pytest.raises(ProviderError, match="the embeddings cannot be read") as caught:
        _vectors({"data": data}, 1)
    assert caught.value.kind == "malformed"


def test_one_number_is_a_vector_too() -> None:
    assert _vectors({"data": [_row([2.0])]}, 1).tolist() == [[2.0]]
    assert _vectors({"data": [_row(_packed(3.0), 1), _row(_packed(2.0))]}, 2).tolist() == [[2.0], [3.0]]


class _Provider:
    most = 64
    """Texts of a request that it answers."""

    def __init__(self) -> None:
        self.attempts, self.bodies = list[Attempt](), list[JsonDict]()

    async def embed(self, body: JsonDict, attempt: Attempt) -> JsonDict:
        self.attempts.append(attempt)
        self.bodies.append(body)
        texts = body["input"][: self.most]
        rows = [_row([float(len(text)), 1.0], place) for place, text in enumerate(texts)]
        return {"data": rows, "usage": {"prompt_tokens": 3}}

    async def aclose(self) -> None:
        return None


def test_batches_are_attempts_of_their_own_for_the_sample_of_the_caller(tmp_path: Path) -> None:
    made, provider = LMRuntime(ledger_url(tmp_path), {"m": MODEL}), _Provider()
    made.keep("embed:m", lambda: provider)
    embed = made.embedder(scope(role="embedding"))

    async def work() -> Any:
        token = CURRENT_SAMPLE.set(("q1", 0))
        try:
            return await embed.embed(["a" * number for number in range(1, 130)])
        finally:
            CURRENT_SAMPLE.reset(token)

    try:
        assert made.run(work())[:, 0].tolist() == list(range(1, 130))
        assert embed([]).shape == (0, 0)
        assert made.run(embed.reply(["b"], {"dimensions": 2}, "q2"))["data"] == [_row([1.0, 1.0])]
    finally:
        made.close()
    assert sorted(len(body["input"]) for body in provider.bodies) == [1, 1, 64, 64]
    assert {(attempt.seed, attempt.repeat, attempt.number) for attempt in provider.attempts} == {(None, 0, 1)}
    assert sums(tmp_path, "sample = 'q1'").calls == 3
    found = sums(tmp_path, "sample = 'q2'")
    assert (found.calls, found.tokens_in, found.tokens_out) == (1, 3, 0)


def test_a_reply_that_cannot_be_read_is_none_for_who_asked_for_it_as_it_is(tmp_path: Path) -> None:
    made, provider = LMRuntime(ledger_url(tmp_path), {"m": MODEL}), _Provider()
    provider.most = 1
    made.keep("embed:m", lambda: provider)
    try:
        with pytest.raises(ProviderError, match="the embeddings cannot be read"):
            made.run(made.embedder(scope(role="embedding")).reply(["a", "b"], {}, None))
    finally:
        made.close()
    assert sums(tmp_path).outcomes == {"failed": 1}
