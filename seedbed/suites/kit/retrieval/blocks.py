"""A part of a corpus, counted: which words its texts hold and how often, sorted by word."""

from __future__ import annotations

from array import array
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from seedbed.suites.kit.retrieval.mapped import Mapping
from seedbed.suites.kit.retrieval.terms import Terms, encoded

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Ints = NDArray[np.int32]


@dataclass(frozen=True, slots=True)
class Block:
    terms: Terms
    starts: NDArray[np.int64]
    """Where each word's postings begin; one more for the end."""
    places: Ints
    """The texts that hold the word, in their order, counted over the whole corpus."""
    counts: Ints
    """How often each of them does."""
    lengths: Ints
    """How many tokens each text of the block has."""
    mapped: tuple[Mapping, ...] = ()
    """The files of one that was loaded."""

    def save(self, folder: Path) -> None:
        for name, numbers in self._arrays().items():
            numbers.tofile(folder / f"{name}.bin")

    @classmethod
    def load(cls, folder: Path) -> Block:
        import numpy as np

        def read(name: str) -> Mapping:
            return Mapping(folder / f"{name}.bin")

        letters, ends, starts, places, counts, lengths = mapped = tuple(
            read(name) for name in ("letters", "ends", "starts", "places", "counts", "lengths")
        )
        return cls(
            Terms(letters.array(np.uint8), ends.array(np.int64)),
            starts.array(np.int64),
            places.array(np.int32),
            counts.array(np.int32),
            lengths.array(np.int32),
            mapped,
        )

    def let_go(self) -> None:
        """Of the pages that were read: each part of a block is needed once, and they would all count as memory."""
        for mapping in self.mapped:
            mapping.let_go()

    def _arrays(self) -> dict[str, NDArray[np.uint8] | NDArray[np.int64] | Ints]:
        return {
            "letters": self.terms.letters,
            "ends": self.terms.ends,
            "starts": self.starts,
            "places": self.places,
            "counts": self.counts,
            "lengths": self.lengths,
        }


class Counting:
    """Texts on their way into a block. It holds numbers, not texts."""

    def __init__(self, first_place: int = 0) -> None:
        self.first_place = first_place
        self._numbers: defaultdict[str, int] = defaultdict()
        self._numbers.default_factory = self._numbers.__len__
        self._tokens = array("i")
        self._lengths = array("i")

    def add(self, tokens: Iterable[str]) -> None:
        before = len(self._tokens)
        self._tokens.extend(map(self._numbers.__getitem__, tokens))
        self._lengths.append(len(self._tokens) - before)

    @property
    def n_texts(self) -> int:
        return len(self._lengths)

    @property
    def n_tokens(self) -> int:
        return len(self._tokens)

    def block(self) -> Block:
        """What was counted; nothing is counted after it."""
        import numpy as np

        # It holds itself by this, and a dict of a million words is not let go of before all garbage is looked for.
        self._numbers.default_factory = None
        words = [encoded(word) for word in self._numbers]
        order = sorted(range(len(words)), key=words.__getitem__)
        rank = np.empty(len(words), dtype=np.int64)
        rank[order] = np.arange(len(words))
        lengths = np.array(self._lengths, dtype=np.int32)
        places = np.repeat(np.arange(len(lengths), dtype=np.int64), lengths)
        # Word and text in one number: sorted, equal ones lie together.
        pairs = (rank[np.array(self._tokens, dtype=np.int32)] << 32) | places
        pairs.sort()
        first = np.flatnonzero(np.diff(pairs, prepend=-1))
        counts = np.diff(first, append=len(pairs)).astype(np.int32)
        found = pairs[first]
        starts = np.searchsorted(found >> 32, np.arange(len(words) + 1))
        return Block(
            Terms.of([words[place] for place in order]),
            starts.astype(np.int64),
            ((found & 0xFFFFFFFF) + self.first_place).astype(np.int32),
            counts,
            lengths,
        )
