"""FlagEmbedding for real, on a pair of tiny models with random weights that the test builds itself."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest

from seedbed.suites.contract_risk.cases import load
from seedbed.suites.contract_risk.options import ClauseOptions
from seedbed.suites.contract_risk.verify import make_verifier
from seedbed.suites.kit.embedding import Embedder, Reranker

_INSTALLED = importlib.util.find_spec("FlagEmbedding") is not None
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not _INSTALLED, reason="FlagEmbedding is not installed (seedbed[embeddings])"),
]

CLAUSE = "押金一概不予退还。乙方不得提出异议。逾期30日的，甲方有权解除合同。"


@pytest.fixture(scope="module")
def pair(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """Folders of an embedder and a reranker: one BERT layer each, a vocabulary of single characters."""
    import torch
    from transformers import BertConfig, BertForSequenceClassification, BertModel, BertTokenizer

    torch.manual_seed(0)
    root = tmp_path_factory.mktemp("models")
    signs = sorted({*CLAUSE, *"付款押金合同"})
    vocabulary = root / "vocab.txt"
    vocabulary.write_text("\n".join(["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *signs]), encoding="utf-8")
    shape = {
        "vocab_size": len(signs) + 5,
        "hidden_size": 32,
        "num_hidden_layers": 1,
        "num_attention_heads": 2,
        "intermediate_size": 64,
        "max_position_embeddings": 512,
    }
    for name, made in (
        ("embedder", BertModel(BertConfig(**shape))),
        ("reranker", BertForSequenceClassification(BertConfig(**shape, num_labels=1))),
    ):
        made.save_pretrained(root / name)
        BertTokenizer(str(vocabulary)).save_pretrained(root / name)
    return root / "embedder", root / "reranker"


def test_the_embedder_finds_a_text_most_similar_to_itself(pair: tuple[Path, Path]) -> None:
    texts = ["押金一概不予退还", "甲方有权解除合同", "乙方不得提出异议"]
    scores = Embedder(pair[0]).similarity(texts[2], texts)
    assert scores[2] == pytest.approx(1.0, abs=1e-4)
    assert max(scores) == scores[2]


def test_the_reranker_scores_between_0_and_1_and_takes_no_texts_at_all(pair: tuple[Path, Path]) -> None:
    relevance = Reranker(pair[1])
    assert relevance("押金", []) == []
    assert all(0.0 < score < 1.0 for score in relevance("押金", ["押金不退", "合同"]))
    assert len(relevance("押金", ["押金不退"])) == 1


def test_the_threshold_decides_over_what_is_not_exact(pair: tuple[Path, Path]) -> None:
    embedder, reranker = pair
    near = "押金不予退还"
    kind = {"embedder": embedder, "reranker": reranker}
    lenient = make_verifier("flag", threshold=0.0, **kind).check(CLAUSE, [near])
    strict = make_verifier("flag", threshold=1.0, **kind).check(CLAUSE, [near])
    assert lenient is not None
    assert strict is not None
    assert (strict[0].valid, strict[0].finding) == (False, "no_match")
    assert lenient[0].score == strict[0].score


def test_altered_numbers_and_negations_are_refused_whatever_the_models_say(pair: tuple[Path, Path]) -> None:
    verifier = make_verifier("flag", embedder=pair[0], reranker=pair[1], threshold=0.0)
    checks = verifier.check(CLAUSE, ["乙方得提出异议", "逾期60日的，甲方有权解除合同", "乙方不得提出异议"])
    assert checks is not None
    assert [check.valid for check in checks] == [False, False, True]


def test_auto_takes_the_weights_that_are_there(pair: tuple[Path, Path]) -> None:
    options = ClauseOptions(embedder=pair[0], reranker=pair[1])
    assert options.verifier == "flag"
    library = load(options).resources["library"]
    found = library.rules.search("押金一概不予退还", 3, rerank=True, min_relevance=0.0)
    assert len(found) == 3
    assert [f.score for f in found] == sorted((f.score for f in found), reverse=True)
