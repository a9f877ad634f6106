"""EM and F1 of many pairs of normalised texts, worked out on arrays of code points without making a string.

Words and whole texts are compared by a 64-bit hash, a sum of random weights by position. Two different words of one
pair would have to collide to change a figure: for 200,000 rows the chance is below one in a thousand million.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Codes = NDArray[np.uint32]
Hashes = NDArray[np.uint64]
Ids = NDArray[np.int64]
Flags = NDArray[np.bool_]
Scores = NDArray[np.float64]

_SPACE = ord(" ")
_WORD_START = np.uint64(0x9E3779B97F4A7C15)
_PAIR_STEP = np.uint64(0xD1B54A32D192ED03)


class Segments(NamedTuple):
    """Texts taken apart: a hash of each text, and the hashes of its tokens from place `first` on, `lengths` of them."""

    texts: Hashes
    tokens: Hashes
    first: Ids
    lengths: Ids


def _weights(size: int) -> Hashes:
    """Odd random numbers, the same for the same place in every call: hashes of different arrays can be compared."""
    return np.random.default_rng(20240229).integers(0, 2**64, size, dtype=np.uint64) | np.uint64(1)


_CODE_WEIGHTS = _weights(0x110000)


def _span_sums(terms: Hashes, starts: Ids, ends: Ids) -> Hashes:
    """Sums of terms[start:end], wrapping at 64 bits, which differences of running sums survive."""
    running = np.zeros(len(terms) + 1, dtype=np.uint64)
    np.cumsum(terms, out=running[1:])
    return running[ends] - running[starts]


def _offsets(lengths: Ids) -> Ids:
    return np.cumsum(lengths) - lengths


def segment(codes: Codes, by_character: Flags) -> Segments:
    """Take normalised texts apart, each ended by a zero; tokens are characters where `by_character`, else words."""
    solid = codes > _SPACE
    begins = solid.copy()
    begins[1:] &= ~solid[:-1]
    kept = np.flatnonzero(solid)
    owner = (np.cumsum(codes == 0) - (codes == 0))[kept]
    begins = begins[kept]
    symbols = _CODE_WEIGHTS[codes[kept]]
    places = np.arange(len(kept))

    sizes = np.bincount(owner, minlength=len(by_character))
    starts = _offsets(sizes)
    weights = _weights(int(sizes.max(initial=0)) + 1)
    # That a character begins a word is part of the text's hash, for a space is all that sets "a b" and "ab" apart.
    texts = _span_sums((symbols + begins * _WORD_START) * weights[places - starts[owner]], starts, starts + sizes)

    heads = begins | by_character[owner]
    token_starts = np.flatnonzero(heads)
    inner = places - token_starts[np.cumsum(heads) - 1]
    tokens = _span_sums(symbols * weights[inner], token_starts, np.append(token_starts[1:], len(kept)))
    lengths = np.bincount(owner[token_starts], minlength=len(by_character))
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
