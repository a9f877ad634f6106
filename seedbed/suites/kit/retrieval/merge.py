"""Blocks into one index with the scores of BM25, a range of words after the other: what is in memory at one time does
not grow with the corpus."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from seedbed.suites.kit.retrieval.blocks import Block
from seedbed.suites.kit.retrieval.terms import Terms

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

K1, B = 1.5, 0.75
"""Lucene's variant of BM25 with the constants of the package bm25s, whose scores these are to the bit."""
_AT_ONCE = 4_000_000
"""Postings of a range."""
BLOCKS_AT_ONCE = 8
"""Blocks whose words are joined at one time."""


@dataclass(frozen=True, slots=True)
class Range:
    """The postings of some words that follow each other."""

    places: NDArray[np.int32]
    weights: NDArray[np.float32]
    peaks: NDArray[np.float32]
    """The highest weight of each word."""


class Merge:
    """The words of all blocks in order, and what each adds to the score of a text."""

    def __init__(self, blocks: Sequence[Block]) -> None:
        import numpy as np

        self._blocks = blocks
        self.terms, self._numbers = _joined(blocks)
        self.n_texts = sum(len(block.lengths) for block in blocks)
        found = np.zeros(len(self.terms), dtype=np.int64)
        for numbers, block in zip(self._numbers, blocks, strict=True):
            found[numbers] += np.diff(block.starts)
            block.let_go()
        self.starts = np.concatenate([np.zeros(1, dtype=np.int64), np.cumsum(found)])
        self._rarity = _rarity(found, self.n_texts)
        lengths = np.concatenate([block.lengths for block in blocks]).astype(np.float64)
        # Of texts without a token there is no average, and no posting that would need it.
        self._norms = K1 * ((1 - B) + B * lengths / lengths.mean()) if lengths.any() else lengths

    def ranges(self) -> Iterator[Range]:
        import numpy as np

        low = 0
        while low < len(self.terms):
            end = int(np.searchsorted(self.starts, self.starts[low] + _AT_ONCE, side="right")) - 1
            high = min(max(low + 1, end), len(self.terms))
            yield self._range(low, high)
            low = high

    def _range(self, low: int, high: int) -> Range:
        import numpy as np

        begin = self.starts[low:high] - self.starts[low]
        size = int(self.starts[high] - self.starts[low])
        places, counts = np.empty(size, dtype=np.int32), np.empty(size, dtype=np.float32)
        free = begin.copy()
        # Blocks are in the order of the texts, so the texts of a word are too.
        for numbers, block in zip(self._numbers, self._blocks, strict=True):
            first, last = np.searchsorted(numbers, [low, high])
            start, end = int(block.starts[first]), int(block.starts[last])
            own = numbers[first:last] - low
            each = np.diff(block.starts[first : last + 1])
            target = np.repeat(free[own] - (block.starts[first:last] - start), each) + np.arange(end - start)
            places[target] = block.places[start:end]
            counts[target] = block.counts[start:end]
            free[own] += each
            block.let_go()
        rarity = np.repeat(self._rarity[low:high], np.diff(self.starts[low : high + 1]))
        weights = (rarity * (counts / (self._norms[places] + counts))).astype(np.float32)
        return Range(places, weights, np.maximum.reduceat(weights, begin))


def _joined(blocks: Sequence[Block]) -> tuple[Terms, list[NDArray[np.int32]]]:
    """All words once, sorted, and for each block the numbers of its words among them. A few blocks at a time: the words
    of all of them, each as often as blocks have it, would be more than everything else."""
    import numpy as np
    from pyarrow import compute

    groups = [blocks[at : at + BLOCKS_AT_ONCE] for at in range(0, len(blocks), BLOCKS_AT_ONCE)]
    known: Any = None
    for group in groups:
        known = compute.call_function("unique", [_words(group, known)])
    order: Any = compute.call_function("array_sort_indices", [known])
    words = known.take(order)
    numbers: list[NDArray[np.int32]] = []
    for group in groups:
        options = compute.SetLookupOptions(value_set=words)
        found = _numbers(compute.call_function("index_in", [_words(group)], options), np.int32)
        numbers += np.split(found, np.cumsum([len(block.terms) for block in group])[:-1])
    _, ends, letters = words.buffers()
    joined = Terms(
        np.frombuffer(letters or b"", dtype=np.uint8), np.frombuffer(ends, dtype=np.int64)[1 : len(words) + 1]
    )
    return joined, numbers


def _words(blocks: Sequence[Block], before: Any = None) -> Any:
    """The words of blocks, one after the other, and before them others."""
    import numpy as np
    import pyarrow as arrow

    arrays = [] if before is None else [before]
    for block in blocks:
        letters, ends = block.terms.letters, np.concatenate([np.zeros(1, dtype=np.int64), block.terms.ends])
        buffers = [None, arrow.py_buffer(ends), arrow.py_buffer(letters if len(letters) else b"")]
        arrays.append(arrow.Array.from_buffers(arrow.large_binary(), len(block.terms), buffers))
    joined = arrow.concat_arrays(arrays)
    for block in blocks:
        block.let_go()
    return joined


def _numbers(array: Any, kind: type[np.generic]) -> NDArray[Any]:
    """The values of an array without a gap. Its own way to numpy imports pandas."""
    import numpy as np

    return np.frombuffer(array.buffers()[1], dtype=kind)[array.offset : array.offset + len(array)]


def _rarity(found: NDArray[np.int64], n_texts: int) -> NDArray[np.float32]:
    """By the logarithm of the standard library, a time for each number of texts: numpy's may differ in the last bit."""
    import numpy as np

    different, which = np.unique(found, return_inverse=True)
    values = [math.log(1 + (n_texts - n + 0.5) / (n + 0.5)) for n in different.tolist()]
    return np.array(values, dtype=np.float32)[which]
