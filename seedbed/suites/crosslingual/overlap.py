"""EM and F1 of many pairs of normalised texts, worked out on arrays of code points without making a string.

Words and whole texts are compared by a 64-bit hash, a sum of random weights by position. Two different words of one
pair would have to collide to change a figure: for 200,000 rows the chance is below one in a thousand million.
"""

from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Codes = NDArray[np.uint32]
Hashes = NDArray[np.uint64]
Ids = NDArray[np.int64]
Flags = NDArray[np.bool_]
Scores = NDArray[np.float64]

_SPACE = ord(" ")
_PAIR_STEP = np.uint64(0xD1B54A32D192ED03)


class Segments(NamedTuple):
    """Texts taken apart: a hash of each text, and the hashes of its tokens from place `first` on, `lengths` of them."""

    texts: Hashes
    tokens: Hashes
    first: Ids
    lengths: Ids


def _random(size: int, seed: int) -> Hashes:
    """Odd random numbers, the same at the same place for every size: hashes of different arrays can be compared."""
    return np.random.default_rng(seed).integers(0, 2**64, size, dtype=np.uint64) | np.uint64(1)


_BY_CODE = _random(0x110000, seed=1)


@lru_cache(maxsize=8)
def _weights(size: int, seed: int) -> Hashes:
    return _random(size, seed)


def _span_sums(terms: Hashes, places: NDArray[np.int32], starts: Ids, ends: Ids, seed: int) -> Hashes:
    """Hash of each span of the terms: their sum, weighted by their places in it, wrapping at 64 bits.

    Spans of spans need another seed each time, or "usa" and "u s a" would add up to the same.
    """
    # Sizes are rounded up to a power of two, so that a few arrays serve all batches.
    weights = _weights(1 << int(places.max(initial=0)).bit_length(), seed)
    running = np.zeros(len(terms) + 1, dtype=np.uint64)
    np.cumsum(terms * weights[places], out=running[1:])
    return running[ends] - running[starts]


def _offsets(lengths: Ids) -> Ids:
    return np.cumsum(lengths) - lengths


def segment(codes: Codes, by_character: Flags) -> Segments:
    """Take normalised texts apart, each ended by a zero; tokens are characters where `by_character`, else words."""
    solid = codes > _SPACE
    begins = solid.copy()
    begins[1:] &= ~solid[:-1]
    kept = np.flatnonzero(solid)
    begins = begins[kept]
    owner = np.cumsum(codes == 0, dtype=np.int32)[kept]
    symbols = _BY_CODE[codes[kept]]

    starts = np.flatnonzero(begins)
    word = np.cumsum(begins, dtype=np.int32) - 1
    inner = np.arange(len(kept), dtype=np.int32) - starts.astype(np.int32)[word]
    words = _span_sums(symbols, inner, starts, np.append(starts[1:], len(kept)), seed=2)

    # A text is its words in order, for characters too: a space is all that sets "a b" and "ab" apart.
    counts = np.bincount(owner[starts], minlength=len(by_character))
    first = _offsets(counts)
    inner = (np.arange(len(words)) - np.repeat(first, counts)).astype(np.int32)
    texts = _span_sums(words, inner, first, first + counts, seed=3)

    heads = np.flatnonzero(begins | by_character[owner])
    tokens = np.where(by_character[owner[heads]], symbols[heads], words[word[heads]])
    lengths = np.bincount(owner[heads], minlength=len(by_character))
    return Segments(texts, tokens, _offsets(lengths), lengths)


def _pair_keys(segments: Segments, texts: Ids) -> tuple[Hashes, Ids]:
    """A key for each token of each text that tells the place of the text too, and that place."""
    lengths = segments.lengths[texts]
    positions = np.arange(int(lengths.sum())) + np.repeat(segments.first[texts] - _offsets(lengths), lengths)
    places = np.repeat(np.arange(len(texts)), lengths)
    return segments.tokens[positions] + places.astype(np.uint64) * _PAIR_STEP, places


def em_f1_of_pairs(segments: Segments, left: Ids, right: Ids) -> tuple[Scores, Scores]:
    """EM and token F1 of the texts left[i] and right[i] for each i."""
    em = (segments.texts[left] == segments.texts[right]).astype(np.float64)
    f1 = em.copy()
    # Equal pairs are done, and a pair with an empty side has nothing in common.
    rows = np.flatnonzero((em == 0) & (segments.lengths[left] > 0) & (segments.lengths[right] > 0))
    left, right = left[rows], right[rows]
    left_keys, _ = _pair_keys(segments, left)
    left_keys.sort()
    right_keys, places = _pair_keys(segments, right)
    order = np.argsort(right_keys)
    right_keys = right_keys[order]
    runs = np.flatnonzero(np.diff(right_keys, prepend=~right_keys[:1]))
    right_counts = np.diff(runs, append=len(right_keys))
    wanted = right_keys[runs]
    left_counts = np.searchsorted(left_keys, wanted, side="right") - np.searchsorted(left_keys, wanted)
    shared = np.minimum(left_counts, right_counts)
    overlap = np.bincount(places[order[runs]], weights=shared, minlength=len(rows))
    f1[rows] = 2.0 * overlap / (segments.lengths[left] + segments.lengths[right])
    return em, f1
