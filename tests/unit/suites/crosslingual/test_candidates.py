"""How documents are found, and how indexes are kept."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from seedbed.suites.crosslingual.bm25 import Bm25Index
from seedbed.suites.crosslingual.dense import DenseIndex
from seedbed.suites.crosslingual.diskcache import build_once, folder_for
from seedbed.suites.kit.tokenise import tokenise
from tests.support.loopback import Loopback
from tests.unit.suites.crosslingual.conftest import MakeSweep

TEXTS = [
    "富士山位于本州岛。",
    "ทะเลสาบไบคาลเป็นทะเลสาบที่ลึกที่สุด",
    "Der Nil fließt ins Mittelmeer.",
    "東京タワーの高さは333メートルです。",
]


@pytest.mark.parametrize(
    ("question", "best"),
    [("本州岛在哪里", 0), ("ทะเลสาบไบคาลลึกเท่าไร", 1), ("Wohin fließt der Nil?", 2), ("東京タワーの高さ", 3)],
)
def test_bm25_finds_texts_in_scripts_without_spaces(tmp_path: Path, question: str, best: int) -> None:
    assert Bm25Index(TEXTS, tmp_path).search(question, 2)[0][0] == best


def test_a_text_that_shares_nothing_is_no_candidate(tmp_path: Path) -> None:
    assert Bm25Index(TEXTS, tmp_path).search("quokka", 4) == []
    assert Bm25Index(TEXTS, tmp_path).search("?!", 4) == []
    assert Bm25Index(["...", "!"], tmp_path).search("anything", 4) == []


def test_chinese_is_indexed_by_words_and_by_pairs_of_characters() -> None:
    assert {"富士", "士山"} <= set(tokenise("富士山"))


def test_an_index_is_built_once_and_then_mapped_from_disk(tmp_path: Path) -> None:
    first = Bm25Index(TEXTS, tmp_path).search("Nil", 4)
    (folder,) = (tmp_path / "crosslingual").iterdir()
    made = {file.name: file.stat().st_mtime_ns for file in folder.iterdir()}
    again = Bm25Index(TEXTS, tmp_path)
    assert again.search("Nil", 4) == first
    assert isinstance(again._index._built().scores["data"], np.memmap)
    assert {file.name: file.stat().st_mtime_ns for file in folder.iterdir()} == made
    Bm25Index([*TEXTS, "more"], tmp_path)
    assert len(list((tmp_path / "crosslingual").iterdir())) == 2


def test_an_index_that_could_not_be_built_leaves_nothing_behind(tmp_path: Path) -> None:
    def fail(folder: Path) -> None:
        (folder / "half").write_text("x")
        raise RuntimeError("disk full")

    folder = folder_for(tmp_path, "bm25", ["x"])
    with pytest.raises(RuntimeError, match="disk full"):
        build_once(folder, fail)
    assert list(folder.parent.iterdir()) == []


def test_vectors_are_compared_by_their_cosine_and_mapped(tmp_path: Path) -> None:
    DenseIndex.save(tmp_path, np.array([[1, 0], [10, 10], [-1, 0]], dtype=np.float32))
    index = DenseIndex(tmp_path)
    found = index.search(np.array([[2, 0]], dtype=np.float32), 3)
    assert [(place, round(score, 4)) for place, score in found] == [(0, 1.0), (1, 0.7071)]
    assert isinstance(index._vectors, np.memmap)


def test_an_endpoint_s_embeddings_find_documents_and_are_on_the_ledger(sweep: MakeSweep) -> None:
    with Loopback() as server:
        embed = {"model": "openai/embed", "api_base": server.url, "price": {"input": 1.0, "output": 0.0}}
        tried = sweep(
            systems=["multi", "cross"],
            benchmarks=[{"name": "tiny", "limit": 3, "retriever": "endpoint", "top_k": 3}],
            models={"reader": {"model": "offline/reader"}, "embed": embed},
            roles={"embedding": "embed"},
        )
        multi, cross = tried.outputs("multi"), tried.outputs("cross")
    assert all(len(output["candidates"]) == 3 for output in multi.values())
    assert [o["candidates"] for o in multi.values()] == [o["candidates"] for o in cross.values()]
    roles = {(call.role, call.outcome) for call in tried.attempts() if call.cell == tried.cell("cross").id}
    assert {("embedding", "reused")} == {pair for pair in roles if pair[0] == "embedding"}


def test_an_endpoint_without_a_model_for_embeddings_is_an_error_with_the_remedy(sweep: MakeSweep) -> None:
    tried = sweep(systems=["multi"], benchmarks=[{"name": "tiny", "limit": 2, "retriever": "endpoint"}])
    with pytest.raises(Exception, match=r"roles: \{embedding: NAME\}"):
        tried.outputs("multi")


def test_a_folder_without_weights_is_an_error_with_the_remedy(sweep: MakeSweep, tmp_path: Path) -> None:
    for options, said in (
        ({"retriever": "bge_m3"}, "embedder is not given; set it to a local folder"),
        ({"retriever": "bge_m3", "embedder": str(tmp_path)}, "holds no config.json"),
        ({"reranker": str(tmp_path)}, "holds no config.json"),
    ):
        tried = sweep(systems=["multi"], benchmarks=[{"name": "tiny", "limit": 2, **options}])
        with pytest.raises(Exception, match=said):
            tried.outputs("multi")


@pytest.mark.slow
def test_bge_m3_and_a_reranker_from_local_folders_give_the_same_candidates_to_all(
    sweep: MakeSweep, tiny_bge: tuple[Path, Path]
) -> None:
    embedder, reranker = tiny_bge
    options: dict[str, Any] = {"retriever": "bge_m3", "embedder": str(embedder), "reranker": str(reranker), "pool": 6}
    tried = sweep(systems=["multi", "lbrag"], benchmarks=[{"name": "tiny", "limit": 3, "top_k": 3, **options}])
    multi, lbrag = tried.outputs("multi"), tried.outputs("lbrag")
    assert [o["candidates"] for o in multi.values()] == [o["candidates"] for o in lbrag.values()]
    for output in multi.values():
        scores = [candidate["score"] for candidate in output["candidates"]]
        assert len(scores) == 3
        assert scores == sorted(scores, reverse=True)
        assert all(0 < score < 1 for score in scores), "the reranker's scale"
    assert list((tried.root / "cache" / "crosslingual").glob("dense-*/vectors.npy"))


def test_equal_questions_are_searched_for_once(tmp_path: Path) -> None:
    from seedbed.suites.crosslingual.retrieval import Corpus, Document

    class Context:
        cache_dir = tmp_path

    corpus = Corpus([Document(str(i), "de", "", text) for i, text in enumerate(TEXTS)])
    first = asyncio.run(corpus.candidates("Nil", Context()))  # type: ignore[arg-type]
    assert asyncio.run(corpus.candidates("Nil", Context())) is first  # type: ignore[arg-type]
    assert first[0].relative == 1.0
