"""The loaders on the shipped samples, on public files where they are at hand, and on broken ones."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from seedbed.errors import UserError
from seedbed.splits import Sizes, split
from seedbed.suite import Case, resolve
from seedbed.suites.prompt_optimization import SUITE
from seedbed.suites.prompt_optimization.benchmarks import aime, hotpot, hover, ifbench, livebench_math, papillon
from seedbed.suites.prompt_optimization.options import (
    AimeOptions,
    HoverOptions,
    IfbenchOptions,
    LiveBenchOptions,
    PapillonOptions,
    SplitOptions,
)
from seedbed.suites.prompt_optimization.retrieval import Corpus
from seedbed.suites.prompt_optimization.verdicts import verdict

SHARED = Path(os.environ.get("SEEDBED_SHARED", Path(__file__).resolve().parents[4].parent / "shared")) / "data"
public = pytest.mark.skipif(not SHARED.exists(), reason="the public files are not here")


def _sizes(benchmark: Any) -> tuple[int, int, int]:
    return len(benchmark.train), len(benchmark.val), len(benchmark.test)


def _cases(count: int, per_cluster: int = 1) -> list[Case]:
    return [Case(f"c{i}", {}, cluster=f"k{i // per_cluster}") for i in range(count)]


@pytest.mark.parametrize("name", list(SUITE.benchmarks))
def test_every_benchmark_ships_a_sample_with_all_three_splits(name: str) -> None:
    spec = SUITE.benchmarks[name]
    loaded = resolve(spec.load)(resolve(spec.options)())
    ids = [case.sample_id for case in (*loaded.train, *loaded.val, *loaded.test)]
    assert min(_sizes(loaded)) >= 12
    assert len(set(ids)) == len(ids)


@public
def test_hotpot_of_the_public_file_brings_its_articles() -> None:
    loaded = hotpot(SplitOptions(path=SHARED / "hotpot_dev_distractor_subset.json"))
    assert _sizes(loaded) == (20, 40, 40)
    first = loaded.test[0]
    assert first.inputs["question"].startswith("Were Scott Derrickson")
    assert first.meta["titles"] == ["Scott Derrickson", "Ed Wood"]
    found = [title for title, _ in loaded.resources["corpus"].search("Scott Derrickson director", 3)]
    assert "Scott Derrickson" in found


@public
def test_hover_of_the_public_file_keeps_claims_of_three_articles() -> None:
    loaded = hover(HoverOptions(path=SHARED / "hover_dev_release_v1.1.json"))
    assert _sizes(loaded) == (150, 300, 300)
    assert all(len(case.gold["titles"]) == 3 for case in loaded.test)
    assert loaded.excluded["not 3 articles to find"] == 1126 + 1039


@public
def test_ifbench_of_the_public_file_names_the_types_it_cannot_check() -> None:
    loaded = ifbench(IfbenchOptions(path=SHARED / "IFBench_test.jsonl"))
    unchecked = {reason: count for reason, count in loaded.excluded.items() if reason.startswith("no checker")}
    assert set(unchecked) == {"no checker for words:odd_even_syllables", "no checker for words:start_verb"}
    rows = sum(1 for line in (SHARED / "IFBench_test.jsonl").read_text().splitlines() if line.strip())
    assert sum(_sizes(loaded)) + sum(unchecked.values()) == rows


@public
def test_aime_asks_thirty_problems_five_times() -> None:
    loaded = aime(AimeOptions(path=SHARED / "aime24_test.jsonl"))
    assert _sizes(loaded) == (0, 0, 150)
    assert {case.repeat for case in loaded.test} == set(range(5))
    assert len({case.cluster for case in loaded.test}) == 30
    assert loaded.test[0].gold == "204"


def test_the_default_split_is_forty_forty_twenty_sampled_down() -> None:
    cases = _cases(1000)
    parts = split(cases)
    assert (len(parts.train), len(parts.val), len(parts.test)) == (150, 300, 300)
    assert {case.sample_id for case in parts.test} <= {case.sample_id for case in cases[:400]}
    assert {case.sample_id for case in parts.val} <= {case.sample_id for case in cases[400:800]}
    assert split(cases) == parts


def test_a_cluster_is_never_parted() -> None:
    parts = split(_cases(60, per_cluster=6), Sizes(100, 100, 100))
    clusters = [{case.cluster for case in part} for part in (parts.train, parts.val, parts.test)]
    assert not clusters[0] & clusters[1]
    assert not clusters[1] & clusters[2]


def test_a_missing_column_is_named_with_its_line(tmp_path: Path) -> None:
    file = tmp_path / "hotpot.json"
    good = {"question": "q", "answer": "a", "supporting_facts": [["T", 0]], "context": [["T", ["t"]]]}
    file.write_text(json.dumps([good, {"question": "q", "anser": "a", "supporting_facts": []}]))
    with pytest.raises(UserError, match=r"hotpot\.json:2: column 'answer' is missing; did you mean 'anser'\?"):
        hotpot(SplitOptions(path=file, split=False))


def test_hotpot_reads_the_released_shape_too(tmp_path: Path) -> None:
    file = tmp_path / "hotpot.json"
    row = {
        "_id": "x",
        "question": "q",
        "answer": "a",
        "supporting_facts": [["T", 0]],
        "context": [["T", ["One. ", "Two."]]],
    }
    file.write_text(json.dumps([row]))
    loaded = hotpot(SplitOptions(path=file, split=False))
    assert loaded.test[0].sample_id == "x"
    assert loaded.resources["corpus"].search("two", 1) == [("T", "One. Two.")]


def test_a_folder_with_ready_splits_is_taken_as_it_is(tmp_path: Path) -> None:
    for name, answer in (("train", 1), ("val", 2), ("test", 3)):
        row = {"id": name, "problem": "p", "answer": answer}
        (tmp_path / f"{name}.jsonl").write_text(json.dumps(row) + "\n")
    loaded = aime(AimeOptions(path=tmp_path, repeats=2))
    assert (loaded.train[0].gold, loaded.val[0].gold, loaded.test[0].gold) == ("1", "2", "3")
    assert [case.sample_id for case in loaded.test] == ["test#0", "test#1"]


def test_an_answer_that_is_no_aime_answer_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "aime.jsonl"
    file.write_text('{"id": 1, "problem": "p", "answer": "1204"}\n')
    with pytest.raises(UserError, match=r"aime\.jsonl:1: column 'answer': '1204' is no integer from 0 to 999"):
        aime(AimeOptions(path=file))


def test_pupa_rows_without_private_facts_are_left_out_and_counted(tmp_path: Path) -> None:
    file = tmp_path / "pupa.jsonl"
    rows = [
        {"id": "a", "user_query": "q", "target_response": "r", "pii_units": "Ana||12 Elm Street"},
        {"id": "b", "user_query": "q", "target_response": "r", "pii_units": ""},
    ]
    file.write_text("".join(json.dumps(row) + "\n" for row in rows))
    loaded = papillon(PapillonOptions(path=file, split=False))
    assert loaded.test[0].gold["pii_units"] == ["Ana", "12 Elm Street"]
    assert loaded.excluded == {"no private fact to keep": 1}


PUPA_HEADER = "conversation_hash,predicted_category,user_query,target_response,pii_units,redacted_query,\n"


def test_pupa_reads_the_csv_as_it_is_published(tmp_path: Path) -> None:
    """Six columns and a nameless one, quoted texts with breaks, facts with blanks around them, rows without any."""
    file = tmp_path / "PUPA.csv"
    file.write_text(
        PUPA_HEADER
        + 'c1,jobs,"A letter for ""Ana""\n12 Elm Street","Dear Sir, it is Ana.",12 elm street  ||ana  ,For [R],\n'
        + "c2,jobs,q,r,,q,\n"
        + "c1,jobs,another query of Ana,r,ana,another query of [R],\n"
    )
    loaded = papillon(PapillonOptions(path=file, split=False))
    first, second = loaded.test
    assert first.inputs == {"user_query": 'A letter for "Ana"\n12 Elm Street'}
    assert first.gold == {"target_response": "Dear Sir, it is Ana.", "pii_units": ["12 elm street", "ana"]}
    assert first.sample_id != second.sample_id
    assert first.cluster == second.cluster == "c1", "queries of one conversation are not independent"
    assert loaded.excluded == {"no private fact to keep": 1}


def test_a_csv_column_that_is_missing_is_named_with_its_line(tmp_path: Path) -> None:
    file = tmp_path / "PUPA.csv"
    file.write_text(PUPA_HEADER.replace("target_response", "response") + "c1,jobs,q,r,ana,q,\n")
    with pytest.raises(UserError, match=r"PUPA\.csv:2: column 'target_response' is missing; did you mean 'response'\?"):
        papillon(PapillonOptions(path=file, split=False))


LIVEBENCH = {
    "question_id": "0d3a",
    "category": "math",
    "task": "math_comp",
    "subtask": "amc_12a_2023",
    "turns": ["How many? (A) 1 (B) 2. Repeat the letter five times."],
    "ground_truth": "B",
    "livebench_release_date": "2024-06-24",
    "livebench_removal_date": "",
}
"""The columns that LiveBench's own tools read; the words are ours."""


def _rows_file(path: Path, *rows: dict[str, Any]) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


@pytest.mark.parametrize(
    ("truth", "right", "wrong"),
    [
        ("B", "BBBBB", "CCCCC"),
        ("B", "<solution>BBBBB</solution>", "<solution>AAAAA</solution>"),
        ("025", "25", "250"),
        ("2,4,1,3", "2, 4, 1, 3", "2,4,3,1"),
        (r"\frac{3}{4}", r"\boxed{\frac{3}{4}}", r"\frac{4}{3}"),
    ],
    ids=["choice", "choice in tags", "padded integer", "order of a proof", "expression"],
)
def test_livebench_rows_are_judged_in_each_of_their_shapes(tmp_path: Path, truth: str, right: str, wrong: str) -> None:
    file = _rows_file(tmp_path / "question.jsonl", {**LIVEBENCH, "ground_truth": truth})
    (case,) = livebench_math(LiveBenchOptions(path=file, split=False)).test
    assert (case.sample_id, case.inputs["problem"]) == ("0d3a", LIVEBENCH["turns"][0])
    assert [verdict(case, {"answer": answer}).score for answer in (right, wrong)] == [1.0, 0.0]


@pytest.mark.parametrize(
    ("load", "options", "row", "column"),
    [
        (papillon, PapillonOptions, {"user_query": "q", "target_response": "r", "pii_units": "a"}, "user_query"),
        (papillon, PapillonOptions, {"user_query": "q", "target_response": "r", "pii_units": "a"}, "target_response"),
        (papillon, PapillonOptions, {"user_query": "q", "target_response": "r", "pii_units": "a"}, "pii_units"),
        (livebench_math, LiveBenchOptions, LIVEBENCH, "turns"),
        (livebench_math, LiveBenchOptions, LIVEBENCH, "ground_truth"),
    ],
)
def test_every_column_that_pupa_and_livebench_need_is_named_when_it_is_missing(
    tmp_path: Path, load: Any, options: Any, row: dict[str, Any], column: str
) -> None:
    file = _rows_file(tmp_path / "rows.jsonl", row, {name: value for name, value in row.items() if name != column})
    with pytest.raises(UserError, match=rf"rows\.jsonl:2: column '{column}'.* is missing"):
        load(options(path=file, split=False))


def test_a_livebench_question_without_a_turn_is_refused(tmp_path: Path) -> None:
    file = _rows_file(tmp_path / "rows.jsonl", {**LIVEBENCH, "turns": []})
    with pytest.raises(UserError, match=r"rows\.jsonl:1: column 'turns' is empty"):
        livebench_math(LiveBenchOptions(path=file, split=False))


def test_searching_without_a_corpus_says_what_to_do() -> None:
    with pytest.raises(UserError, match=r"corpus\.jsonl"):
        Corpus([]).search("anything", 3)


def test_equal_scores_keep_the_order_of_the_corpus() -> None:
    corpus = Corpus([("A", "red fox"), ("B", "red fox"), ("C", "blue whale")])
    assert [title for title, _ in corpus.search("red fox", 2)] == ["A", "B"]
