"""The systems side by side on the sample data: candidates, evidence and cost."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from seedbed.errors import SeedbedError
from tests.unit.suites.crosslingual.conftest import MakeSweep, Sweep, evidence

pytestmark = pytest.mark.slow

XQUAD = (
    Path(os.environ.get("SEEDBED_SHARED") or Path(__file__).resolve().parents[4].parent / "shared") / "data" / "xquad"
)
ALL = [
    "direct",
    "multi",
    "cross",
    {"name": "lbrag", "pivot": "en", "budget_sweep": [0, 10, 35, 70, "inf"]},
    {"name": "lbrag", "label": "lbrag-share", "budget": 0.15},
]
RAG = ["multi", "cross", "lbrag-b0", "lbrag-b10", "lbrag-b35", "lbrag-b70", "lbrag-binf", "lbrag-share"]


@pytest.fixture(scope="module")
def outputs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[str, dict[str, Any]]]:
    tried = Sweep(tmp_path_factory.mktemp("all"), systems=ALL, benchmarks=[{"name": "tiny", "limit": 24}])
    return {label: tried.outputs(label) for label in ["direct", *RAG]}


def test_the_invariants_of_the_systems_hold_on_the_sample_data(outputs: dict[str, dict[str, dict[str, Any]]]) -> None:
    ladder = ["lbrag-b0", "lbrag-b10", "lbrag-b35", "lbrag-b70", "lbrag-binf"]
    for sample in outputs["direct"]:
        own = {label: found[sample] for label, found in outputs.items()}
        cost = {label: output["translation_tokens"] for label, output in own.items()}
        candidates = [[c["doc_id"] for c in own[label]["candidates"]] for label in RAG]
        assert all(ids == candidates[0] for ids in candidates), "all RAG systems see the same candidates"
        assert evidence(own["lbrag-b0"]) == evidence(own["multi"])
        assert evidence(own["lbrag-binf"]) == evidence(own["cross"])
        assert cost["lbrag-binf"] == cost["cross"]
        assert cost["direct"] == cost["multi"] == cost["lbrag-b0"] == 0
        assert (cost["lbrag-b10"] <= 10, cost["lbrag-b35"] <= 35, cost["lbrag-b70"] <= 70) == (True,) * 3
        assert [cost[label] for label in ladder] == sorted(cost[label] for label in ladder)
        for label in RAG:
            touched = [b for b in own[label]["evidence"] if b["translated"] != "no"]
            assert all(block["lang"] != "en" for block in touched) or label == "lbrag-share"
            assert (cost[label] > 0) == bool(touched)
    assert sum(output["translation_tokens"] for output in outputs["lbrag-b70"].values()) > 0
    assert any(b["translated"] == "part" for output in outputs["lbrag-b35"].values() for b in output["evidence"])


def test_direct_sees_no_documents(outputs: dict[str, dict[str, dict[str, Any]]]) -> None:
    assert all(output["candidates"] == output["evidence"] == [] for output in outputs["direct"].values())


def test_candidates_come_in_several_languages(outputs: dict[str, dict[str, dict[str, Any]]]) -> None:
    """Titles in other languages are what lets BM25 find a German page for a Chinese question."""
    found = {(s.rpartition("-")[2], c["lang"]) for s, o in outputs["multi"].items() for c in o["candidates"]}
    assert all(any(a == asked and a != b for a, b in found) for asked, _ in found)


def test_cross_leaves_nothing_in_another_language_than_the_pivot(sweep: MakeSweep) -> None:
    tried = sweep(systems=[{"name": "cross", "pivot": "de"}])
    blocks = [block for output in tried.outputs("cross").values() for block in output["evidence"]]
    assert {block["translated"] for block in blocks if block["lang"] != "de"} == {"whole"}
    assert {block["translated"] for block in blocks if block["lang"] == "de"} == {"no"}


def test_cost_is_the_same_whether_translations_are_paid_or_reused(sweep: MakeSweep) -> None:
    tried = sweep(systems=["cross", {"name": "cross", "label": "again", "pivot": "en-GB"}])
    first, second = tried.outputs("cross"), tried.outputs("again")
    calls = tried.attempts("role = 'translator'")
    paid = {c.outcome for c in calls if c.cell == tried.cell("cross").id}
    reused = {c.outcome for c in calls if c.cell == tried.cell("again").id}
    assert ("paid" in paid, reused) == (True, {"reused"})
    assert {s: o["translation_tokens"] for s, o in first.items()} == {
        s: o["translation_tokens"] for s, o in second.items()
    }


def test_an_interrupted_cell_resumes_without_paying_twice_and_at_the_same_cost(sweep: MakeSweep) -> None:
    price = {"input": 1000.0, "output": 1000.0}
    models = {
        "reader": {"model": "offline/reader", "price": price, "limits": {"concurrency": 2}},
        "translator": {"model": "offline/translator", "price": price, "max_tokens": 200},
    }
    capped = sweep(systems=["cross"], models=models, budget={"max_usd": 12.0})
    with pytest.raises(SeedbedError):
        capped.outputs("cross")
    before = len(capped.attempts("outcome = 'paid'"))
    resumed = sweep(systems=["cross"], models=models)
    outputs = resumed.outputs("cross")
    undisturbed = sweep("other", systems=["cross"], models=models)
    assert outputs == undisturbed.outputs("cross")
    assert 0 < before < len(resumed.attempts("outcome = 'paid'")) == len(undisturbed.attempts("outcome = 'paid'"))
    assert sum(output["translation_tokens"] for output in outputs.values()) > 0


def test_a_translator_that_fails_is_an_error_of_the_sample_and_not_a_score(sweep: MakeSweep) -> None:
    broken = {"model": "offline/translator", "retries": 0, "options": {"errors": {"server": 1.0}}}
    tried = sweep(
        systems=["cross"],
        models={"reader": {"model": "offline/reader"}, "translator": broken},
        max_error_share=1.0,
    )
    metrics = tried.metrics("cross")
    rows = tried.scores("cross").values()
    assert metrics["n_errors"] == sum(row["status"] == "error" for row in rows) > 0
    assert all(row["scores"] == {} for row in rows if row["status"] == "error")
    assert metrics["n"] + metrics["n_errors"] == 12


@pytest.mark.skipif(not XQUAD.exists(), reason="no XQuAD files")
def test_all_four_systems_answer_xquad(sweep: MakeSweep) -> None:
    """Ten questions in each of the five languages; the whole hundred is a matter of a minute, not of a test."""
    systems = ["direct", "multi", "cross", "lbrag"]
    tried = sweep(systems=systems, benchmarks=[{"name": "xquad", "path": str(XQUAD), "limit": 50}])
    metrics = {label: tried.metrics(label) for label in systems}
    assert {(own["n"], own["n_errors"]) for own in metrics.values()} == {(50, 0)}
    assert metrics["direct"]["cost"] == metrics["multi"]["cost"] == 0
    assert metrics["lbrag"]["cost"] <= 35 < metrics["cross"]["cost"]
    assert metrics["multi"]["answer_in_context"] > 0.8, "BM25 finds the paragraph in five languages"
