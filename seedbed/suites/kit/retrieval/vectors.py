"""Search by vectors: unit rows in a file, mapped into memory and gone through block by block."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from math import inf
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from seedbed.storage.hashing import hash_json
from seedbed.suites.kit.retrieval.kept import build_once
from seedbed.suites.kit.retrieval.mapped import Mapping
from seedbed.suites.kit.retrieval.postings import Ranking
from seedbed.suites.kit.retrieval.progress import Progress

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Rows = NDArray[np.float32]

_FILE = "vectors.npy"
_AT_ONCE = 100_000
"""Rows that are compared at one time: 400 MB of BGE-M3's."""
_BATCH = 9_600
"""Texts that are embedded between two writes: whole requests to an endpoint."""


class Texts(Protocol):
    """Texts that can be gone through, and counted before."""

    def __len__(self) -> int: ...
    def __iter__(self) -> Iterator[str]: ...


class VectorIndex:
    """Texts by the cosine of their vectors with a question's."""

    def __init__(self, rows: Rows, mapping: Mapping | None = None) -> None:
        self._rows, self._mapping = rows, mapping

    @classmethod
    def open(cls, folder: Path) -> VectorIndex:
        import numpy as np

        with (folder / _FILE).open("rb") as handle:
            shape, start = _header(handle)
        mapping = Mapping(folder / _FILE)
        return cls(mapping.array(np.uint8)[start:].view(np.float32).reshape(shape), mapping)

    def best(self, question: Rows, k: int, *, above: float = -inf) -> Ranking:
        """Places and cosines of the best k, best first, ties in order; none whose cosine is not above the bound."""
        import numpy as np

        if k <= 0:
            return []
        wanted = unit(question)[0]
        places, scores = np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.float32)
        for start in range(0, len(self._rows), _AT_ONCE):
            part = self._rows[start : start + _AT_ONCE] @ wanted
            here = np.flatnonzero(part > above)
            places, scores = _foremost(np.concatenate([places, here + start]), np.concatenate([scores, part[here]]), k)
            if self._mapping is not None and len(self._rows) > _AT_ONCE:
                self._mapping.let_go()
        order = np.argsort(-scores, kind="stable")[:k]
        return list(zip(places[order].tolist(), scores[order].tolist(), strict=True))


def _foremost(places: NDArray[np.int64], scores: Rows, k: int) -> tuple[NDArray[np.int64], Rows]:
    """Those that reach the k-th best score, in their order."""
    import numpy as np

    if len(scores) <= k:
        return places, scores
    kept = scores >= np.partition(scores, len(scores) - k)[len(scores) - k]
    return places[kept], scores[kept]


def kept_vectors(
    folder: Path, made_from: Any, texts: Texts, embed: Callable[[Sequence[str]], Rows], title: str
) -> VectorIndex:
    """The vectors of the texts, embedded once and kept under the hash of what they are made from. An embedding that was
    interrupted goes on where it was."""
    target = folder / f"dense-{hash_json(made_from)[:32]}"
    build_once(target, lambda staging: _embed_all(staging / _FILE, texts, embed, title), resume=True)
    return VectorIndex.open(target)


def _embed_all(file: Path, texts: Texts, embed: Callable[[Sequence[str]], Rows], title: str) -> None:
    import numpy as np

    done, size = _rows_done(file)
    progress = Progress(f"embedding {title}", len(texts), done)
    remaining = islice(texts, done, None)
    with file.open("r+b" if done else "wb") as handle:
        handle.truncate(size)
        handle.seek(size)
        while batch := list(islice(remaining, _BATCH)):
            rows = unit(embed(batch))
            if not done:
                header = {"descr": "<f4", "fortran_order": False, "shape": (len(texts), rows.shape[1])}
                np.lib.format.write_array_header_1_0(handle, header)
            handle.write(rows.astype("<f4").tobytes())
            handle.flush()
            done += len(batch)
            progress.at(done)
    progress.end()


def _rows_done(file: Path) -> tuple[int, int]:
    """Whole rows of an attempt before this one, and the bytes they take with the header."""
    if not file.exists():
        return 0, 0
    with file.open("rb") as handle:
        try:
            (_, width), start = _header(handle)
        except ValueError:  # killed within the header
            return 0, 0
    done = (file.stat().st_size - start) // (4 * width)
    return done, start + done * 4 * width if done else 0


def _header(handle: Any) -> tuple[tuple[int, int], int]:
    import numpy as np

    np.lib.format.read_magic(handle)
    shape, _, _ = np.lib.format.read_array_header_1_0(handle)
    return (int(shape[0]), int(shape[1])), handle.tell()


def unit(vectors: Rows) -> Rows:
    import numpy as np

    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    return np.asarray(vectors / np.where(lengths == 0, 1, lengths), dtype=np.float32)
