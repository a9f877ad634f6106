"""A corpus from a file of rows to a folder with records and an index: in a stream, in blocks, so that what is in memory
does not grow with it. Blocks that were finished before a kill are not made again."""

from __future__ import annotations

import hashlib
import shutil
from array import array
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, Generic, TypeVar

from seedbed.storage.store import read_json, write_json
from seedbed.suites.kit.retrieval import records
from seedbed.suites.kit.retrieval.blocks import Block, Counting
from seedbed.suites.kit.retrieval.mapped import Mapping
from seedbed.suites.kit.retrieval.merge import Merge
from seedbed.suites.kit.retrieval.progress import Progress, count_lines
from seedbed.suites.kit.retrieval.recipe import Recipe
from seedbed.suites.kit.rows import Row, UniqueIds, read_rows

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

T = TypeVar("T")

BLOCK_TOKENS = 6_000_000
META = "corpus.json"


@dataclass(frozen=True, slots=True)
class _State:
    """What the finished blocks hold together."""

    rows: int = 0
    texts: int = 0
    data_size: int = 0
    excluded: Counter[str] | None = None


class Building(Generic[T]):
    """Rows into `folder`, which may hold blocks of an attempt that was killed."""

    def __init__(self, file: Path, recipe: Recipe[T], folder: Path) -> None:
        self._file, self._recipe, self._folder = file, recipe, folder

    def run(self) -> None:
        self._folder.mkdir(parents=True, exist_ok=True)
        state = self._finished()
        progress = Progress(f"preparing {self._file.name}", count_lines(self._file), state.rows)
        state = self._read(state, progress)
        self._refuse_doubles()
        progress.say("sorting its index")
        self._merge(state)
        progress.end()

    def _blocks(self) -> Iterator[Path]:
        """Folders of finished blocks, in order."""
        number = 0
        while (folder := self._folder / f"block-{number:05d}").is_dir():
            yield folder
            number += 1

    def _finished(self) -> _State:
        last = list(self._blocks())[-1:]
        if not last:
            return _State(excluded=Counter())
        told = read_json(last[0] / "block.json")
        return _State(told["rows"], told["texts"], told["data_size"], Counter(told["excluded"]))

    def _read(self, state: _State, progress: Progress) -> _State:
        data = self._folder / records.DATA
        data.touch()
        with data.open("r+b") as file:
            file.truncate(state.data_size)
            file.seek(state.data_size)
            part = _Part(self._recipe, state, file)
            for row in islice(read_rows(self._file, shape=self._recipe.shape), state.rows, None):
                part.add(row)
                progress.at(part.rows)
                if part.counting.n_tokens >= BLOCK_TOKENS:
                    state = self._save(part)
                    part = _Part(self._recipe, state, file)
            return self._save(part)

    def _save(self, part: _Part[T]) -> _State:
        folder = self._folder / f"block-{len(list(self._blocks())):05d}"
        staging = self._folder / "block.tmp"
        shutil.rmtree(staging, ignore_errors=True)
        staging.mkdir()
        part.file.flush()
        part.counting.block().save(staging)
        for name, numbers in (("record_ends", part.ends), ("ids", part.ids)):
            (staging / f"{name}.bin").write_bytes(numbers.tobytes())
        state = _State(part.rows, part.first + part.counting.n_texts, part.file.tell(), part.excluded)
        kept = {"rows": state.rows, "texts": state.texts, "data_size": state.data_size}
        write_json(staging / "block.json", {**kept, "excluded": dict(part.excluded)})
        staging.rename(folder)
        return state

    def _refuse_doubles(self) -> None:
        """Ids are compared by their hashes; where two are equal the file is read again to say which and where."""
        import numpy as np

        if self._recipe.unique is None:
            return
        name, identity = self._recipe.unique
        found = np.sort(np.concatenate([Mapping(b / "ids.bin").array(np.uint64) for b in self._blocks()]))
        suspects = set(found[1:][found[1:] == found[:-1]].tolist())
        if not suspects:
            return
        ids = UniqueIds(name)
        for row in read_rows(self._file, shape=self._recipe.shape):
            made = self._recipe.make(row)
            for thing in () if isinstance(made, str) else made:
                if _hash(identity(thing)) in suspects:
                    ids.add(row, identity(thing))

    def _merge(self, state: _State) -> None:
        import numpy as np

        folders = list(self._blocks())
        merge = Merge([Block.load(folder) for folder in folders])
        _save_all(self._folder / records.ENDS, (Mapping(b / "record_ends.bin").array(np.int64) for b in folders))
        arrays: dict[str, NDArray[Any]] = {
            "letters": merge.terms.letters, "ends": merge.terms.ends, "starts": merge.starts
        }  # fmt: skip
        for name, numbers in arrays.items():
            numbers.tofile(self._folder / f"{name}.bin")
        names = ("places", "weights", "peaks")
        files = [(self._folder / f"{name}.bin").open("wb") for name in names]
        try:
            for part in merge.ranges():
                for name, file in zip(names, files, strict=True):
                    file.write(memoryview(getattr(part, name)))
        finally:
            for file in files:
                file.close()
        sizes = {file.name: file.stat().st_size for file in sorted(self._folder.glob("*.bin"))}
        # The last step: what has this file is whole.
        write_json(self._folder / META, {"texts": state.texts, "excluded": dict(state.excluded or {}), "sizes": sizes})
        for folder in folders:
            shutil.rmtree(folder)


class _Part(Generic[T]):
    """Rows that are in no block yet."""

    def __init__(self, recipe: Recipe[T], before: _State, file: IO[bytes]) -> None:
        self._recipe = recipe
        self.file, self.rows, self.first = file, before.rows, before.texts
        self.excluded: Counter[str] = Counter(before.excluded)
        self.counting = Counting(before.texts)
        self.ends, self.ids = array("q"), array("Q")
        self._end = before.data_size

    def add(self, row: Row) -> None:
        self.rows += 1
        made = self._recipe.make(row)
        if isinstance(made, str):
            self.excluded[made] += 1
            return
        for thing in made:
            data = self._recipe.dump(thing)
            self.file.write(data)
            self._end += len(data)
            self.ends.append(self._end)
            if self._recipe.unique is not None:
                self.ids.append(_hash(self._recipe.unique[1](thing)))
            self.counting.add(self._recipe.tokens(self._recipe.text(thing)))


def _hash(name: str) -> int:
    return int.from_bytes(hashlib.blake2b(name.encode("utf-8", "surrogatepass"), digest_size=8).digest(), "little")


def _save_all(file: Path, parts: Iterator[NDArray[np.int64]] | Sequence[NDArray[np.int64]]) -> None:
    with file.open("wb") as handle:
        for part in parts:
            handle.write(part.tobytes())
