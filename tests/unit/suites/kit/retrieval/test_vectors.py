"""Search by vectors that are kept in a file."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from seedbed.suites.kit.retrieval import vectors
from seedbed.suites.kit.retrieval.vectors import VectorIndex, kept_vectors


def by_letters(texts: Sequence[str]) -> Any:
    return np.array([[text.count(letter) for letter in "abc"] for text in texts], dtype=np.float32)


def test_rows_are_compared_by_their_cosine_best_first_ties_in_order() -> None:
    index = VectorIndex(vectors.unit(np.array([[1, 0], [10, 10], [-1, 0], [3, 0]], dtype=np.float32)))
    asked = np.array([[2, 0]], dtype=np.float32)
    found = [(place, round(score, 4)) for place, score in index.best(asked, 4)]
    assert found == [(0, 1.0), (3, 1.0), (1, 0.7071), (2, -1.0)]
    assert [place for place, _ in index.best(asked, 4, above=0.0)] == [0, 3, 1]
    assert index.best(asked, 0) == []


def test_blocks_find_what_one_pass_does(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = vectors.unit(np.random.default_rng(1).integers(-2, 3, (1000, 4)).astype(np.float32))
    asked = np.array([[1, 2, 0, -1]], dtype=np.float32)
    whole = VectorIndex(rows).best(asked, 25)
    monkeypatch.setattr(vectors, "_AT_ONCE", 64)
    parts = VectorIndex(rows).best(asked, 25)
    assert [place for place, _ in parts] == [place for place, _ in whole]


def test_an_embedding_that_was_interrupted_goes_on_where_it_was(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(vectors, "_BATCH", 2)
    texts = ["a", "b", "ab", "c", "ccc", "bc", "aac"]
    asked: list[str] = []

    def embed(batch: Sequence[str]) -> Any:
        if len(asked) == 4:
            asked.append("")
            raise KeyboardInterrupt
        asked.extend(batch)
        return by_letters(batch)

    with pytest.raises(KeyboardInterrupt):
        kept_vectors(tmp_path, ["letters", texts], texts, embed, "texts")
    found = kept_vectors(tmp_path, ["letters", texts], texts, embed, "texts")
    assert [text for text in asked if text] == texts, "each is embedded once"
    direct = VectorIndex(vectors.unit(by_letters(texts)))
    assert found.best(by_letters(["ab"]), 7) == direct.best(by_letters(["ab"]), 7)

    def never(_: Sequence[str]) -> Any:
        raise AssertionError("they are kept")

    again = kept_vectors(tmp_path, ["letters", texts], texts, never, "texts")
    assert again.best(by_letters(["c"]), 2) == direct.best(by_letters(["c"]), 2)
