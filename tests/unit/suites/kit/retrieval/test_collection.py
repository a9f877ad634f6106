"""A corpus on disk is the corpus in memory: what it finds, what it refuses, and what is left of a killed attempt."""

from __future__ import annotations

import asyncio
import json
import multiprocessing
import random
import threading
from pathlib import Path
from typing import Any

import pytest

from seedbed.errors import UserError
from seedbed.suites.kit.retrieval import building, collection, merge
from seedbed.suites.kit.retrieval.collection import Collection, read_collection
from seedbed.suites.kit.retrieval.recipe import Recipe
from seedbed.suites.kit.rows import Row

Thing = tuple[str, str]


def make(row: Row) -> list[Thing] | str:
    return "too short" if row.data["text"] == "-" else [(row.identity("id"), row.text("text"))]


RECIPE: Recipe[Thing] = Recipe(
    shape="{id, text}",
    make=make,
    text=lambda thing: thing[1],
    tokens=str.split,
    dump=lambda thing: json.dumps(thing).encode(),
    load=lambda data: tuple(json.loads(data)),
    version="test",
    unique=("id", lambda thing: thing[0]),
)


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("SEEDBED_HOME", str(tmp_path / "home"))
    draw = random.Random(5)
    common = [" ".join(draw.choices("abcdefgh", k=draw.randint(1, 9))) for n in range(300)]
    texts = [f"{text} only{n // 2}" if n % 7 else "-" for n, text in enumerate(common)]
    path = tmp_path / "corpus.jsonl"
    path.write_text("".join(json.dumps({"id": n, "text": text}) + "\n" for n, text in enumerate(texts)))
    return path


@pytest.fixture
def on_disk(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(collection, "IN_MEMORY", 0)
    monkeypatch.setattr(building, "BLOCK_TOKENS", 200)
    monkeypatch.setattr(merge, "BLOCKS_AT_ONCE", 3)


def folders(tmp_path: Path) -> list[Path]:
    return [path for path in (tmp_path / "home" / "cache" / "corpora").iterdir() if path.suffix != ".lock"]


def test_many_blocks_on_disk_find_what_one_in_memory_does(
    file: Path, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    in_memory = read_collection(file, RECIPE)
    request.getfixturevalue("on_disk")
    kept = read_collection(file, RECIPE)
    assert list(kept.things) == list(in_memory.things)
    assert kept.things[-1] == in_memory.things[-1]
    assert kept.excluded == in_memory.excluded == {"too short": 43}
    for query in ("a", "a b c", "h h a", "z", "c d e f g", "a only1 only149"):
        assert kept.best(query, 7) == in_memory.best(query, 7)
        assert kept.scores(query) == in_memory.scores(query)
    (folder,) = folders(tmp_path)
    assert folder.name.startswith("corpus-")
    made = {part.name: part.stat().st_mtime_ns for part in folder.iterdir()}
    assert read_collection(file, RECIPE).best("a b", 5) == in_memory.best("a b", 5)
    assert {part.name: part.stat().st_mtime_ns for part in folder.iterdir()} == made


@pytest.mark.usefixtures("on_disk")
def test_a_file_that_changed_is_another_corpus(file: Path, tmp_path: Path) -> None:
    before = read_collection(file, RECIPE)
    file.write_text(file.read_text() + json.dumps({"id": "new", "text": "a"}) + "\n")
    assert len(read_collection(file, RECIPE)) == len(before) + 1
    assert len(folders(tmp_path)) == 2


class Killed(BaseException):
    pass


@pytest.mark.usefixtures("on_disk")
@pytest.mark.parametrize("last", [3, 150, 299])
def test_an_attempt_that_was_killed_is_gone_on_with(
    file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, last: int
) -> None:
    tokenised: list[str] = []

    def tokens(text: str) -> list[str]:
        tokenised.append(text)
        return text.split()

    def until(row: Row) -> list[Thing] | str:
        if row.position == last:
            raise Killed
        return make(row)

    recipe = {name: getattr(RECIPE, name) for name in RECIPE.__slots__} | {"tokens": tokens}
    with pytest.raises(Killed):
        read_collection(file, Recipe(**recipe | {"make": until}))
    (half,) = folders(tmp_path)
    done = len(list(half.glob("block-*")))
    before = len(tokenised)
    kept = read_collection(file, Recipe(**recipe))
    monkeypatch.setattr(collection, "IN_MEMORY", 10**9)
    whole = read_collection(file, RECIPE)
    assert list(kept.things) == list(whole.things)
    assert kept.excluded == whole.excluded
    assert kept.best("a b c", 9) == whole.best("a b c", 9)
    if last > 100:
        assert done
        assert len(tokenised) - before < len(whole.things)
    assert not half.exists()


@pytest.mark.usefixtures("on_disk")
def test_an_id_that_stands_twice_in_different_blocks_is_named_with_both_lines(file: Path) -> None:
    file.write_text(file.read_text() + json.dumps({"id": 5, "text": "again"}) + "\n")
    with pytest.raises(UserError, match=r"corpus\.jsonl:301: id '5' stands twice, first on line 6"):
        read_collection(file, RECIPE)


@pytest.mark.usefixtures("on_disk")
def test_a_file_of_the_index_that_is_cut_off_is_refused_with_the_remedy(file: Path, tmp_path: Path) -> None:
    read_collection(file, RECIPE)
    (folder,) = folders(tmp_path)
    (folder / "weights.bin").write_bytes(b"")
    with pytest.raises(UserError, match=r"weights\.bin is not as it was written; delete the folder"):
        read_collection(file, RECIPE)


def _build(file: Path, gate: Any, made: Any) -> None:
    """In a process of its own: says how many rows it made."""
    collection.IN_MEMORY, building.BLOCK_TOKENS = 0, 200
    rows = 0

    def counting(row: Row) -> list[Thing] | str:
        nonlocal rows
        rows += 1
        return make(row)

    gate.wait()
    own = {name: getattr(RECIPE, name) for name in RECIPE.__slots__} | {"make": counting}
    found = read_collection(file, Recipe(**own))
    made.put((rows, found.best("a b", 3)))


def test_of_two_processes_one_builds_and_the_other_waits(file: Path) -> None:
    start = multiprocessing.get_context("fork")
    gate, made = start.Barrier(2), start.Queue()
    workers = [start.Process(target=_build, args=(file, gate, made)) for _ in range(2)]
    for worker in workers:
        worker.start()
    told = sorted(made.get(timeout=280) for _ in workers)
    for worker in workers:
        worker.join()
    assert [rows for rows, _ in told] == [0, 300]
    assert told[0][1] == told[1][1]


def test_a_search_does_not_run_on_the_loop_that_makes_the_calls() -> None:
    seen: list[threading.Thread] = []

    def tokens(text: str) -> list[str]:
        seen.append(threading.current_thread())
        return text.split()

    found = asyncio.run(Collection(["a b", "c"], str, tokens).search("c", 2))
    assert [thing for thing, _ in found] == ["c"]
    assert len(seen) == 3
    assert threading.current_thread() not in seen
