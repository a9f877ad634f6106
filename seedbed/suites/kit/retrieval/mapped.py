"""Arrays in files, mapped into memory: all processes share one copy of what they read."""

from __future__ import annotations

import mmap
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    N = TypeVar("N", bound=np.generic)


class Mapping:
    """A file in memory. Its pages belong to the system, which takes them back when it needs them."""

    def __init__(self, file: Path) -> None:
        self.size = file.stat().st_size
        self._map: mmap.mmap | None = None
        if self.size:  # nothing cannot be mapped
            with file.open("rb") as handle:
                self._map = mmap.mmap(handle.fileno(), 0, access=mmap.ACCESS_READ)

    def bytes(self, start: int, end: int) -> bytes:
        return b"" if self._map is None else self._map[start:end]

    def array(self, kind: type[N]) -> NDArray[N]:
        """The whole file as numbers of a kind."""
        import numpy as np

        source: Any = b"" if self._map is None else self._map
        return np.frombuffer(source, dtype=kind)

    def let_go(self) -> None:
        """What was read no longer counts as this process's memory; it is mapped again when it is read again."""
        if self._map is not None and hasattr(mmap, "MADV_DONTNEED"):
            self._map.madvise(mmap.MADV_DONTNEED)
