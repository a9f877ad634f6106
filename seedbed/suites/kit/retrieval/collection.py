"""Things with a text each, searched by their words."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Generic, TypeVar

from seedbed.errors import UserError
from seedbed.storage.hashing import hash_file, hash_json
from seedbed.storage.paths import home
from seedbed.storage.store import read_json
from seedbed.suites.kit.retrieval import mapped
from seedbed.suites.kit.retrieval.blocks import Counting
from seedbed.suites.kit.retrieval.building import META, Building
from seedbed.suites.kit.retrieval.kept import build_once
from seedbed.suites.kit.retrieval.merge import Merge
from seedbed.suites.kit.retrieval.postings import Arrays, Postings, Ranking
from seedbed.suites.kit.retrieval.recipe import Recipe
from seedbed.suites.kit.retrieval.records import Records
from seedbed.suites.kit.retrieval.search_threads import in_search_thread
from seedbed.suites.kit.retrieval.terms import Terms
from seedbed.suites.kit.rows import UniqueIds, read_rows

T = TypeVar("T")

FORMAT = 1
"""Of a kept corpus; change it with what lies in its folder."""
IN_MEMORY = 32_000_000
"""Bytes of a file up to which a corpus is simply read: a second or two, and a few times its size in memory."""


@dataclass
class Collection(Generic[T]):
    """Reading and searching are safe from any thread. An index that was not kept is made at the first search."""

    things: Sequence[T]
    text: Callable[[T], str]
    tokens: Callable[[str], Sequence[str]]
    excluded: Mapping[str, int] = field(default_factory=dict[str, int])
    name: str = ""
    """The hash of what a kept one was made from; empty for one in memory."""
    _postings: Postings | None = None
    _making: threading.Lock = field(default_factory=threading.Lock, repr=False)

    def __len__(self) -> int:
        return len(self.things)

    def best(self, query: str, k: int) -> Ranking:
        """Places and scores of the best k, best first, ties in order; none that shares no word with the query."""
        return self._index().best(self.tokens(query), k)

    def scores(self, query: str) -> list[float]:
        """How well each thing fits; 0 where it shares no word with the query."""
        return self._index().scores(self.tokens(query)).tolist()

    async def search(self, query: str, k: int) -> list[tuple[T, float]]:
        """The best k with their scores, found in a thread: calls in flight go on meanwhile."""
        return await in_search_thread(self._found, query, k)

    def _found(self, query: str, k: int) -> list[tuple[T, float]]:
        return [(self.things[place], score) for place, score in self.best(query, k)]

    def _index(self) -> Postings:
        with self._making:
            if self._postings is None:
                self._postings = in_memory(self.tokens(self.text(thing)) for thing in self.things)
            return self._postings


def in_memory(texts: Iterable[Sequence[str]]) -> Postings:
    """An index of token lists that is kept nowhere."""
    counting = Counting()
    for tokens in texts:
        counting.add(tokens)
    return Postings(_arrays(Merge([counting.block()])))


def read_collection(file: Path, recipe: Recipe[T]) -> Collection[T]:
    """The things of a file of rows. Those of a large one are kept on this machine under the hash of the file, and read
    from there by every process that names it."""
    if file.is_file() and file.stat().st_size > IN_MEMORY:
        return _kept(file, recipe)
    things: list[T] = []
    excluded: Counter[str] = Counter()
    ids = UniqueIds(recipe.unique[0] if recipe.unique else "")
    for row in read_rows(file, shape=recipe.shape):
        made = recipe.make(row)
        if isinstance(made, str):
            excluded[made] += 1
            continue
        for thing in made:
            if recipe.unique is not None:
                ids.add(row, recipe.unique[1](thing))
            things.append(thing)
    return Collection(things, recipe.text, recipe.tokens, excluded)


def _kept(file: Path, recipe: Recipe[T]) -> Collection[T]:
    name = hash_json([FORMAT, hash_file(file), recipe.version])[:32]
    folder = home() / "cache" / "corpora" / f"{file.stem}-{name}"
    build_once(folder, lambda staging: Building(file, recipe, staging).run(), resume=True)
    told = read_json(folder / META)
    for part, size in told["sizes"].items():
        if not (folder / part).is_file() or (folder / part).stat().st_size != size:
            raise UserError(f"{folder}: {part} is not as it was written; delete the folder, it is made again.")
    return Collection(
        Records(folder, recipe.load), recipe.text, recipe.tokens, told["excluded"], name, open_postings(folder)
    )


def open_postings(folder: Path) -> Postings:
    """The index of a kept corpus."""
    import numpy as np

    files = {name: mapped.Mapping(folder / f"{name}.bin") for name in _NAMES}
    arrays = Arrays(
        Terms(files["letters"].array(np.uint8), files["ends"].array(np.int64)),
        files["starts"].array(np.int64),
        files["places"].array(np.int32),
        files["weights"].array(np.float32),
        files["peaks"].array(np.float32),
        int(read_json(folder / META)["texts"]),
    )
    return Postings(arrays, list(files.values()))


_NAMES = ("letters", "ends", "starts", "places", "weights", "peaks")


def _arrays(merge: Merge) -> Arrays:
    import numpy as np

    parts = list(merge.ranges())
    if not parts:
        return Arrays(
            merge.terms,
            merge.starts,
            np.zeros(0, np.int32),
            np.zeros(0, np.float32),
            np.zeros(0, np.float32),
            merge.n_texts,
        )
    return Arrays(
        merge.terms,
        merge.starts,
        np.concatenate([part.places for part in parts]),
        np.concatenate([part.weights for part in parts]),
        np.concatenate([part.peaks for part in parts]),
        merge.n_texts,
    )
