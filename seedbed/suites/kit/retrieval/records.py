"""Things of a corpus as records in one file: read when they are asked for, so that millions need no memory."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Generic, TypeVar, overload

from seedbed.suites.kit.retrieval.mapped import Mapping

T = TypeVar("T")

DATA, ENDS = "records.bin", "record_ends.bin"
_KEPT_MAPPED = 64_000_000


class Records(Sequence[T], Generic[T]):
    def __init__(self, folder: Path, load: Callable[[bytes], T]) -> None:
        import numpy as np

        self._data = Mapping(folder / DATA)
        self._ends = Mapping(folder / ENDS).array(np.int64)
        self._load = load

    def __len__(self) -> int:
        return len(self._ends)

    @overload
    def __getitem__(self, index: int) -> T: ...
    @overload
    def __getitem__(self, index: slice) -> list[T]: ...
    def __getitem__(self, index: int | slice) -> T | list[T]:
        if isinstance(index, slice):
            return [self[place] for place in range(*index.indices(len(self)))]
        place = index + len(self) if index < 0 else index
        if not 0 <= place < len(self):
            raise IndexError(index)
        start = int(self._ends[place - 1]) if place else 0
        return self._load(self._data.bytes(start, int(self._ends[place])))

    def __iter__(self) -> Iterator[T]:
        let_go_at = _KEPT_MAPPED
        for place in range(len(self)):
            yield self[place]
            if int(self._ends[place]) > let_go_at:
                self._data.let_go()
                let_go_at += _KEPT_MAPPED
