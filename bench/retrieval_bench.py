"""A corpus of millions: how long its index takes, in how much memory, and how long a search does.

    python -m bench retrieval                     # one million abstracts
    python -m bench retrieval --texts 5000000     # as many as Wikipedia's, in half an hour or so

Synthetic abstracts: lengths as Wikipedia's first paragraphs have them (log-normal, median 45 words, mean 63, from 3 to
600), words by Zipf's law with exponent 1.05, and a word that no other text has. Every contender builds and searches in
a process of its own. bm25s holds its index in memory or maps it; it is compared on fewer texts (`--beside`), for it
holds all of them while it builds. Queries are of 3 to 8 words: half of them drawn as the texts are, half from one text,
so that there is something to be found.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import multiprocessing
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

QUERIES = 200
K = 10
PROCESSES = 4
VOCABULARY = 2_000_000
_ASKED = "queries.json"


def words() -> list[str]:
    """Made-up words, the frequent ones short."""
    syllables = [a + b for a in "bcdfghklmnprstvz" for b in "aeiou"]

    def word(number: int) -> str:
        parts: list[str] = []
        number += 1
        while number:
            number, rest = divmod(number, len(syllables))
            parts.append(syllables[rest])
        return "".join(parts)

    return [word(number) for number in range(VOCABULARY)]


def abstracts(count: int, seed: int = 1) -> Iterator[str]:
    vocabulary = words()
    draw = np.random.default_rng(seed)
    shares = 1 / np.arange(1, VOCABULARY + 1) ** 1.05
    bounds = np.cumsum(shares / shares.sum())
    for start in range(0, count, 10_000):
        lengths = np.clip(draw.lognormal(np.log(45), 0.82, min(10_000, count - start)), 3, 600).astype(int)
        chosen = np.searchsorted(bounds, draw.random(lengths.sum())).clip(max=VOCABULARY - 1).tolist()
        at = 0
        for length in lengths:
            yield " ".join([vocabulary[number] for number in chosen[at : at + length]]).capitalize() + "."
            at += length


def write_queries(folder: Path) -> None:
    """Half of them words of one text. Made once: the words of a process that draws them would count as its memory."""
    draw = np.random.default_rng(7)
    texts = [text.rstrip(".").lower().split() for text in abstracts(QUERIES // 2)]
    drawn = [text.rstrip(".").lower().split()[: int(draw.integers(3, 9))] for text in abstracts(QUERIES // 2, seed=2)]
    told = [draw.permutation(text)[: int(draw.integers(3, 9))].tolist() for text in texts]
    (folder / _ASKED).write_text(json.dumps([" ".join(query) for query in (*drawn, *told)]))


def queries(file: Path) -> list[str]:
    return json.loads((file.parent / _ASKED).read_text())


def write(file: Path, count: int) -> None:
    if not file.exists():
        partial = file.with_suffix(".tmp")
        with partial.open("w") as handle:
            for number, text in enumerate(abstracts(count)):
                handle.write(f'{{"title": "{number}", "text": "{text}"}}\n')
        partial.rename(file)


def texts_of(file: Path) -> Iterator[str]:
    with file.open() as handle:
        for line in handle:
            row = json.loads(line)
            yield f"{row['title']} {row['text']}"


def peak_mb() -> float:
    """Not ru_maxrss, which begins with what the parent held."""
    told = dict(line.split(":", 1) for line in Path("/proc/self/status").read_text().splitlines())
    return int(told["VmHWM"].split()[0]) / 1024


def held_mb() -> dict[str, float]:
    """What this process holds now: shared pages by its share of them, and what is its own."""
    told = dict(line.split(":") for line in Path("/proc/self/smaps_rollup").read_text().splitlines()[1:])
    return {name: int(told[name].split()[0]) / 1024 for name in ("Pss", "Pss_Anon", "Rss")}


def timed(search: Callable[[str], list[int]], asked: list[str]) -> dict[str, Any]:
    for query in asked[:20]:
        search(query)
    times: list[float] = []
    found: list[list[int]] = []
    for query in asked:
        start = time.perf_counter()
        found.append(search(query))
        times.append(time.perf_counter() - start)
    low, high = np.percentile(times, [50, 95])
    return {"median_ms": 1e3 * float(low), "p95_ms": 1e3 * float(high), "found": found}


def own(file: Path, folder: Path) -> dict[str, Any]:
    os.environ["SEEDBED_HOME"] = str(folder)
    from seedbed.suites.prompt_optimization.retrieval import read_articles

    start, before = time.perf_counter(), peak_mb()
    corpus = read_articles(file)
    built, peak = time.perf_counter() - start, peak_mb()
    return {
        "build_s": built,
        "before_mb": before,
        "peak_mb": peak,
        "disk_mb": _size(folder),
        **timed(lambda query: [place for place, _ in corpus.best(query, K)], queries(file)),
        "peak_search_mb": peak_mb(),
    }


def in_memory(file: Path, folder: Path) -> dict[str, Any]:
    return _bm25s(file, folder, mapped=False)


def mapped(file: Path, folder: Path) -> dict[str, Any]:
    return _bm25s(file, folder, mapped=True)


def _bm25s(file: Path, folder: Path, *, mapped: bool) -> dict[str, Any]:
    import bm25s

    from seedbed.suites.prompt_optimization.retrieval import _tokens

    start, before = time.perf_counter(), peak_mb()
    index: Any = bm25s.BM25(method="lucene")
    index.index([_tokens(text) for text in texts_of(file)], show_progress=False)
    built, peak = time.perf_counter() - start, peak_mb()
    if mapped:
        index.save(folder, show_progress=False)
        index = bm25s.BM25.load(folder, mmap=True, show_progress=False)

    def search(query: str) -> list[int]:
        """Its scores, and our way to the best of them: its own leaves the order of equals open."""
        scores = index.get_scores(_tokens(query))
        top = np.argpartition(scores, -K)[-K:]
        near = np.flatnonzero(scores >= max(scores[top].min(), np.float32(1e-9)))
        return near[np.argsort(-scores[near], kind="stable")][:K].tolist()

    told = timed(search, queries(file))
    return {"build_s": built, "before_mb": before, "peak_mb": peak, "disk_mb": _size(folder), **told}


def tantivy(file: Path, folder: Path) -> dict[str, Any]:
    import tantivy as package

    schema = package.SchemaBuilder().add_text_field("text").add_unsigned_field("place", stored=True).build()
    start, before = time.perf_counter(), peak_mb()
    index = package.Index(schema, path=str(folder))
    writer = index.writer(heap_size=500_000_000, num_threads=1)
    for place, text in enumerate(texts_of(file)):
        writer.add_document(package.Document(text=[text], place=[place]))
    writer.commit()
    writer.wait_merging_threads()
    index.reload()
    searcher = index.searcher()
    built, peak = time.perf_counter() - start, peak_mb()

    def search(query: str) -> list[int]:
        hits = searcher.search(index.parse_query(query, ["text"]), K).hits
        return [searcher.doc(address)["place"][0] for _, address in hits]

    told = timed(search, queries(file))
    return {"build_s": built, "before_mb": before, "peak_mb": peak, "disk_mb": _size(folder), **told}


CONTENDERS = {"seedbed": own, "bm25s in memory": in_memory, "bm25s mapped": mapped, "tantivy": tantivy}


def is_there(contender: str) -> bool:
    """Tantivy is no package that Seedbed or its tests need."""
    there = contender != "tantivy" or importlib.util.find_spec("tantivy") is not None
    if not there:
        print("left out: tantivy is not installed (pip install tantivy)", file=sys.stderr)
    return there


def together(file: Path, folder: Path) -> list[dict[str, Any]]:
    """Processes that search one kept corpus at the same time, each with what it held before and while it was at it."""
    start = multiprocessing.get_context("spawn")
    told: Any = start.Queue()
    gate = start.Barrier(PROCESSES)
    workers = [start.Process(target=_searcher, args=(file, folder, gate, told)) for _ in range(PROCESSES)]
    for worker in workers:
        worker.start()
    found = [told.get() for _ in workers]
    for worker in workers:
        worker.join()
    return found


def _searcher(file: Path, folder: Path, gate: Any, told: Any) -> None:
    os.environ["SEEDBED_HOME"] = str(folder)
    import pyarrow  # noqa: F401  # imports are their own

    from seedbed.suites.prompt_optimization.retrieval import read_articles

    gate.wait()
    before = held_mb()
    corpus = read_articles(file)
    result = timed(lambda query: [place for place, _ in corpus.best(query, K)], queries(file))
    gate.wait()  # all are at their highest
    after = held_mb()
    gate.wait()
    told.put({"before": before, "after": after, "median_ms": result["median_ms"], "p95_ms": result["p95_ms"]})


def _size(folder: Path) -> float:
    return sum(file.stat().st_size for file in folder.rglob("*") if file.is_file()) / 1e6


def measure(contender: str, file: Path, keep: Path | None = None) -> dict[str, Any]:
    folder = keep or Path(tempfile.mkdtemp(dir=file.parent))
    command = [sys.executable, "-m", "bench.retrieval_bench", "--measure", contender, str(file), str(folder)]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)  # noqa: S603
    if keep is None:
        shutil.rmtree(folder)
    return json.loads(done.stdout.splitlines()[-1])


def equal(one: list[list[int]], other: list[list[int]]) -> str:
    same = sum(a == b for a, b in zip(one, other, strict=True))
    return f"{same / len(one):.1%}"


def line(name: str, found: dict[str, Any], reference: list[list[int]] | None) -> None:
    memory = found["peak_mb"] - found["before_mb"]
    times = f"{found['median_ms']:.2f} | {found['p95_ms']:.2f}"
    same = equal(found["found"], reference) if reference else "-"
    print(f"| {name} | {found['build_s']:.0f} | {memory:.0f} | {found['disk_mb']:.0f} | {times} | {same} |", flush=True)


def compare(folder: Path, texts: int) -> None:
    """All contenders on the same texts."""
    file = folder / f"corpus-{texts}.jsonl"
    write(file, texts)
    columns = ["", "build, s", "peak above its own, MB", "on disk, MB", "median, ms", "p95, ms", "same top 10 as bm25s"]
    print(f"\n{texts:,} abstracts\n\n| {' | '.join(columns)} |\n{'|---' * len(columns)}|", flush=True)
    reference = measure("bm25s in memory", file)
    line("bm25s in memory", reference, None)
    for name in CONTENDERS:
        if name != "bm25s in memory" and is_there(name):
            line(name, measure(name, file), reference["found"])


def large(folder: Path, texts: int) -> None:
    """Ours and tantivy on a corpus that bm25s cannot build in the memory of this machine, and four processes on it."""
    file = folder / f"corpus-{texts}.jsonl"
    write(file, texts)
    print(f"\n{texts:,} abstracts, {file.stat().st_size / 1e9:.1f} GB\n", flush=True)
    columns = ["", "build, s", "peak above its own, MB", "on disk, MB", "median, ms", "p95, ms", "same top 10 as bm25s"]
    print(f"| {' | '.join(columns)} |\n{'|---' * len(columns)}|", flush=True)
    keep = folder / f"home-{texts}"
    line("seedbed", measure("seedbed", file, keep), None)
    if is_there("tantivy"):
        line("tantivy", measure("tantivy", file), None)
    found = together(file, keep)
    for name in ("Pss", "Pss_Anon"):
        more = sum(told["after"][name] - told["before"][name] for told in found)
        print(f"\n{PROCESSES} processes at once, {name} above their own: {more:.0f} MB together", flush=True)
    print(f"median {max(told['median_ms'] for told in found):.2f} ms with all of them at work", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--measure", nargs=3, help=argparse.SUPPRESS)
    parser.add_argument("--texts", type=int, default=1_000_000)
    parser.add_argument("--beside", type=int, default=200_000)
    parser.add_argument("--folder", type=Path, help="keeps what was made for another run")
    arguments, _ = parser.parse_known_args()
    if arguments.measure:
        contender, file, folder = arguments.measure
        print(json.dumps(CONTENDERS[contender](Path(file), Path(folder))))
        return
    with tempfile.TemporaryDirectory() as temporary:
        folder = arguments.folder or Path(temporary)
        folder.mkdir(parents=True, exist_ok=True)
        write_queries(folder)
        compare(folder, arguments.beside)
        large(folder, arguments.texts)


if __name__ == "__main__":
    main()
