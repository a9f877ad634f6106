"""The words of an index, sorted, in two arrays: a dict of millions would be every process's own."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


def encoded(term: str) -> bytes:
    """A word as it is kept and compared; queries come from models, which may write half a character."""
    return term.encode("utf-8", "surrogatepass")


@dataclass(frozen=True, slots=True)
class Terms:
    letters: NDArray[np.uint8]
    ends: NDArray[np.int64]
    """Where each word ends in `letters`; it begins where the one before it ends."""

    @classmethod
    def of(cls, words: Sequence[bytes]) -> Terms:
        import numpy as np

        lengths = np.fromiter(map(len, words), dtype=np.int64, count=len(words))
        return cls(np.frombuffer(b"".join(words), dtype=np.uint8), np.cumsum(lengths))

    def __len__(self) -> int:
        return len(self.ends)

    def __getitem__(self, place: int) -> bytes:
        start = int(self.ends[place - 1]) if place else 0
        return self.letters[start : int(self.ends[place])].tobytes()

    def find(self, term: str) -> int | None:
        """The place of a word; None where no text has it."""
        wanted, low, high = encoded(term), 0, len(self)
        while low < high:
            middle = (low + high) // 2
            if self[middle] < wanted:
                low = middle + 1
            else:
                high = middle
        return low if low < len(self) and self[low] == wanted else None
