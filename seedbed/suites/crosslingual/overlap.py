"""Token F1 of many pairs of normalised texts, counted by sorting numbers instead of comparing strings."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Ids = NDArray[np.int64]


class Tokens(NamedTuple):
    """The tokens of some texts, one text after the other, as numbers below `size`."""

    flat: Ids
    lengths: Ids
    size: int


def numbered(texts: Sequence[str]) -> tuple[list[str], Ids]:
    """The distinct texts in order of appearance, and for each text its place among them."""
    # fromkeys, zip and map keep the loop in C: this is the one step whose cost grows with every word.
    distinct = list(dict.fromkeys(texts))
    places = dict(zip(distinct, range(len(distinct)), strict=True))
    return distinct, np.fromiter(map(places.__getitem__, texts), dtype=np.int64, count=len(texts))


def _characters(texts: Sequence[str]) -> Tokens:
    bare = [text.replace(" ", "") for text in texts]
    flat = np.frombuffer("".join(bare).encode("utf-32-le"), dtype="<u4").astype(np.int64)
    return Tokens(flat, np.array([len(text) for text in bare], dtype=np.int64), 0x110000)


def _words(texts: Sequence[str]) -> Tokens:
    # Normalised texts have single spaces, so their words can be counted without taking each apart.
    vocabulary, flat = numbered(" ".join(texts).split())
    lengths = [text.count(" ") + 1 if text else 0 for text in texts]
    return Tokens(flat, np.array(lengths, dtype=np.int64), len(vocabulary) + 1)


def _counts(tokens: Tokens, texts: Ids) -> tuple[Ids, Ids]:
    """Distinct (place in `texts`, token) keys in order, and how often each occurs."""
    lengths = tokens.lengths[texts]
    starts = (np.cumsum(tokens.lengths) - tokens.lengths)[texts]
    shift = starts - (np.cumsum(lengths) - lengths)
    positions = np.arange(int(lengths.sum())) + np.repeat(shift, lengths)
    places = np.repeat(np.arange(len(texts)), lengths)
    return np.unique(places * tokens.size + tokens.flat[positions], return_counts=True)


def f1_of_pairs(texts: Sequence[str], left: Ids, right: Ids, by_character: bool) -> NDArray[np.float64]:
    """F1 of texts[left[i]] and texts[right[i]] for each i; the two must differ, so that not both are empty."""
    used, places = np.unique(np.concatenate([left, right]), return_inverse=True)
    chosen = [texts[i] for i in used.tolist()]
    tokens = _characters(chosen) if by_character else _words(chosen)
    left, right = places[: len(left)], places[len(left) :]
    left_keys, left_counts = _counts(tokens, left)
    right_keys, right_counts = _counts(tokens, right)
    common, in_left, in_right = np.intersect1d(left_keys, right_keys, assume_unique=True, return_indices=True)
    shared = np.minimum(left_counts[in_left], right_counts[in_right])
    overlap = np.bincount(common // tokens.size, weights=shared, minlength=len(left))
    return 2.0 * overlap / (tokens.lengths[left] + tokens.lengths[right])
