"""How documents are found, and how indexes are kept."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from seedbed.suites.crosslingual.cases import case_of
from seedbed.suites.crosslingual.documents import Document, read_corpus, searchable
from seedbed.suites.crosslingual.leaks import Leaks
from seedbed.suites.kit.retrieval import collection
from seedbed.suites.kit.retrieval.collection import Collection
from tests.support.loopback import Loopback
from tests.unit.suites.crosslingual.conftest import MakeSweep

TEXTS = [
    "富士山位于本州岛。",
    "ทะเลสาบไบคาลเป็นทะเลสาบที่ลึกที่สุด",
    "Der Nil fließt ins Mittelmeer.",
    "東京タワーの高さは333メートルです。",
]


def of(texts: list[str]) -> Collection[Document]:
    return searchable(Document(str(i), "de", "", text) for i, text in enumerate(texts))


@pytest.mark.parametrize(
    ("question", "best"),
    [("本州岛在哪里", 0), ("ทะเลสาบไบคาลลึกเท่าไร", 1), ("Wohin fließt der Nil?", 2), ("東京タワーの高さ", 3)],
)
def test_bm25_finds_texts_in_scripts_without_spaces(question: str, best: int) -> None:
    assert of(TEXTS).best(question, 2)[0][0] == best


def test_a_text_that_shares_nothing_is_no_candidate() -> None:
    assert of(TEXTS).best("quokka", 4) == []
    assert of(TEXTS).best("?!", 4) == []
    assert of(["...", "!"]).best("anything", 4) == []


def test_a_large_corpus_is_kept_with_its_leaks_left_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file above the bound is searched from disk, with the documents and counts that it has in memory."""
    monkeypatch.setenv("SEEDBED_HOME", str(tmp_path / "home"))
    rows = [{"doc_id": str(i), "lang": "de", "text": text, "titles": {"en": "x"}} for i, text in enumerate(TEXTS)]
    rows.append({"doc_id": "leak", "lang": "de", "text": "Der Nil", "built_from": ["q1"]})
    (tmp_path / "corpus.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    leaks = Leaks([case_of("q1:de", "q1", "de", "Wohin?", ["Meer"])])
    in_memory = read_corpus(tmp_path / "corpus.jsonl", leaks)
    monkeypatch.setattr(collection, "IN_MEMORY", 0)
    kept = read_corpus(tmp_path / "corpus.jsonl", leaks)
    assert kept.name
    assert list(kept.things) == list(in_memory.things)
    assert kept.excluded == in_memory.excluded == {"document built from an answer": 1}
    assert kept.best("Nil", 4) == in_memory.best("Nil", 4)


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
    from seedbed.suites.crosslingual.retrieval import Corpus

    class Context:
        cache_dir = tmp_path

    corpus = Corpus([Document(str(i), "de", "", text) for i, text in enumerate(TEXTS)])
    first = asyncio.run(corpus.candidates("Nil", Context()))  # type: ignore[arg-type]
    assert asyncio.run(corpus.candidates("Nil", Context())) is first  # type: ignore[arg-type]
    assert first[0].relative == 1.0
