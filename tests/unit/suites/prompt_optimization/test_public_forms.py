"""The loaders on every public form: rows of our own in the shape of each, and the public files where they are here."""

from __future__ import annotations

import asyncio
import json
import os
from pathlib import Path
from typing import Any

import pytest

from seedbed.errors import UserError
from seedbed.suites.prompt_optimization.benchmarks import (
    aime,
    hotpot,
    hover_claims,
    ifbench,
    livebench_math,
    papillon,
)
from seedbed.suites.prompt_optimization.constraints import CHECKERS
from seedbed.suites.prompt_optimization.options import (
    AimeOptions,
    HoverOptions,
    IfbenchOptions,
    LiveBenchOptions,
    PapillonOptions,
    SplitOptions,
)
from seedbed.suites.prompt_optimization.retrieval import Corpus

SHARED = Path(os.environ.get("SEEDBED_SHARED", Path(__file__).resolve().parents[4].parent / "shared")) / "data"
public = pytest.mark.skipif(not SHARED.exists(), reason="the public files are not here")

PUPA_HEADER = "conversation_hash,predicted_category,user_query,target_response,pii_units,redacted_query,\n"
PUPA_ROW = {"user_query": "q", "target_response": "r", "pii_units": "a"}
LIVEBENCH = {
    "question_id": "0d3a",
    "category": "math",
    "task": "math_comp",
    "subtask": "amc_12a_2023",
    "year": "",
    "turns": ["How many? (A) 1 (B) 2. Repeat the letter five times."],
    "ground_truth": "B",
    "hardness": None,
    "expressions": "",
    "livebench_release_date": "2024-06-24",
    "livebench_removal_date": "",
    "release_date": None,
}
"""The columns of LiveBench's task files; the words are ours."""
HOVER_RELEASE = {
    "uid": "u1",
    "claim": "A claim.",
    "supporting_facts": [["A", 0], ["B", 2], ["C", 1], ["A", 3]],
    "label": "SUPPORTED",
    "num_hops": 3,
    "hpqa_id": "h1",
}
HOVER_HUB = {
    **HOVER_RELEASE,
    "id": 7,
    "label": 1,
    "supporting_facts": [{"key": title, "value": at} for title, at in (("A", 0), ("B", 2), ("C", 1), ("A", 3))],
}
IFBENCH_TEST = {
    "key": "4",
    "prompt": "Say it. Include exactly 2 numbers in the response.",
    "instruction_id_list": ["count:numbers"],
    "kwargs": [{"N": 2.0, "keyword": None, "relation": None}],
}
IFBENCH_TRAIN = {
    "prompt": "Say it. Answer with less than 9 words.",
    "instruction_id": ["length_constraints:number_words", "punctuation:no_comma"],
    "kwargs": [{"num_words": 9, "relation": "less than"}, {}],
    "instruction_id_list": ["length_constraints:number_words", "punctuation:no_comma"],
    "key": 4,
}


def _lines(path: Path, *rows: dict[str, Any]) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def test_hotpot_as_released(tmp_path: Path) -> None:
    file = tmp_path / "hotpot.json"
    facts, context = [["T", 0], ["U", 1], ["T", 2]], [["T", ["One. ", "Two."]], ["U", ["Three."]]]
    file.write_text(
        json.dumps([{"_id": "x", "question": "q", "answer": "a", "supporting_facts": facts, "context": context}])
    )
    loaded = hotpot(SplitOptions(path=file, split=False))
    assert (loaded.test[0].sample_id, loaded.test[0].meta["titles"]) == ("x", ["T", "U"])
    assert asyncio.run(loaded.resources["corpus"].search("two", 1)) == [("T", "One. Two.")]


def test_hotpot_as_on_the_hub(tmp_path: Path) -> None:
    row = {
        "id": "x",
        "question": "q",
        "answer": "a",
        "supporting_facts": {"title": ["T", "U", "T"], "sent_id": [0, 1, 2]},
        "context": {"title": ["T", "U"], "sentences": [["One. ", "Two."], ["Three."]]},
    }
    loaded = hotpot(SplitOptions(path=_lines(tmp_path / "hotpot.jsonl", row), split=False))
    assert (loaded.test[0].sample_id, loaded.test[0].meta["titles"]) == ("x", ["T", "U"])
    assert asyncio.run(loaded.resources["corpus"].search("two", 1)) == [("T", "One. Two.")]


@pytest.mark.parametrize("row", [HOVER_RELEASE, HOVER_HUB], ids=["release", "hub"])
def test_hover_names_each_article_once(tmp_path: Path, row: dict[str, Any]) -> None:
    (case,) = hover_claims(HoverOptions(path=_lines(tmp_path / "hover.jsonl", row), split=False)).test
    assert (case.sample_id, case.gold) == ("u1", {"titles": ["A", "B", "C"]})


def test_parquet_is_read_as_the_hub_has_it(tmp_path: Path) -> None:
    parquet = pytest.importorskip("pyarrow.parquet")
    pyarrow = pytest.importorskip("pyarrow")
    parquet.write_table(pyarrow.Table.from_pylist([HOVER_HUB]), tmp_path / "test-00000-of-00002.parquet")
    other = {**HOVER_HUB, "uid": "u2"}
    parquet.write_table(pyarrow.Table.from_pylist([other]), tmp_path / "test-00001-of-00002.parquet")
    loaded = hover_claims(HoverOptions(path=tmp_path))
    assert [case.sample_id for case in loaded.test] == ["u1", "u2"]
    assert loaded.test[1].gold == {"titles": ["A", "B", "C"]}


def test_a_broken_parquet_file_is_named(tmp_path: Path) -> None:
    pytest.importorskip("pyarrow.parquet")
    (tmp_path / "x.parquet").write_bytes(b"nothing")
    with pytest.raises(UserError, match=r"x\.parquet: cannot be read as Parquet"):
        hover_claims(HoverOptions(path=tmp_path / "x.parquet"))


def test_pupa_as_published(tmp_path: Path) -> None:
    """Six columns and a nameless one, quoted texts with breaks, facts with blanks around them, twice or not at all."""
    file = tmp_path / "PUPA.csv"
    file.write_text(
        PUPA_HEADER
        + 'c1,jobs,"A letter for ""Ana""\n12 Elm Street","Dear Sir, it is Ana.",12 elm street  ||ana  ||ana,For [R],\n'
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
    with pytest.raises(UserError, match=r"PUPA\.csv:2: field target_response is missing; the row has .* response"):
        papillon(PapillonOptions(path=file, split=False))


def test_ifbench_takes_val_and_train_from_its_train_file(tmp_path: Path) -> None:
    _lines(tmp_path / "IFBench_test.jsonl", IFBENCH_TEST)
    _lines(tmp_path / "IFBench_train.jsonl", *[{**IFBENCH_TRAIN, "key": key} for key in (4, 4, 9)])
    loaded = ifbench(IfbenchOptions(path=tmp_path))
    assert [case.sample_id for case in loaded.test] == ["4"]
    assert [case.sample_id for case in loaded.val] == ["train:1", "train:2"]
    assert [case.sample_id for case in loaded.train] == ["train:3"]
    assert loaded.test[0].meta["arguments"] == [{"N": 2.0}]
    assert loaded.train[0].meta["constraints"] == IFBENCH_TRAIN["instruction_id_list"]


def test_livebench_task_files_are_read_from_their_folders(tmp_path: Path) -> None:
    for task, truth in (("math_comp", "B"), ("olympiad", "2,1"), ("AMPS_Hard", ["x", "\\frac{1}{2}"])):
        (tmp_path / task).mkdir()
        row = {**LIVEBENCH, "question_id": task, "task": task, "subtask": "", "ground_truth": truth}
        _lines(tmp_path / task / "question.jsonl", row)
    loaded = livebench_math(LiveBenchOptions(path=tmp_path, split=False))
    assert [case.sample_id for case in loaded.test] == ["AMPS_Hard", "math_comp", "olympiad"]
    assert [case.gold for case in loaded.test] == ["\\frac{1}{2}", "B", "2,1"]


@pytest.mark.parametrize(
    ("row", "name"),
    [
        ({"id": 60, "problem": "p", "solution": "s", "answer": "204", "url": "u"}, "60#0"),
        ({"ID": "2024-I-1", "Problem": "p", "Solution": "s", "Answer": 204}, "2024-I-1#0"),
        ({"problem_idx": 1, "problem": "p", "answer": 204, "problem_type": ["Algebra"]}, "1#0"),
        ({"id": 0, "problem": "p", "solution": "So \\boxed{204}."}, "0#0"),
    ],
    ids=["validation", "2024", "2025", "boxed"],
)
def test_aime_in_each_of_its_forms(tmp_path: Path, row: dict[str, Any], name: str) -> None:
    (case,) = aime(AimeOptions(path=_lines(tmp_path / "aime.jsonl", row), repeats=1)).test
    assert (case.sample_id, case.gold, case.inputs) == (name, "204", {"problem": "p"})


@pytest.mark.parametrize(
    ("load", "options", "row", "column"),
    [
        (papillon, PapillonOptions, PUPA_ROW, "user_query"),
        (papillon, PapillonOptions, PUPA_ROW, "target_response"),
        (papillon, PapillonOptions, PUPA_ROW, "pii_units"),
        (livebench_math, LiveBenchOptions, LIVEBENCH, "turns"),
        (livebench_math, LiveBenchOptions, LIVEBENCH, "ground_truth"),
    ],
)
def test_every_column_that_pupa_and_livebench_need_is_named_when_it_is_missing(
    tmp_path: Path, load: Any, options: Any, row: dict[str, Any], column: str
) -> None:
    file = _lines(tmp_path / "rows.jsonl", row, {name: value for name, value in row.items() if name != column})
    with pytest.raises(UserError, match=rf"rows\.jsonl:2: field {column}.* is missing"):
        load(options(path=file, split=False))


def test_a_livebench_question_without_a_turn_is_refused(tmp_path: Path) -> None:
    file = _lines(tmp_path / "rows.jsonl", {**LIVEBENCH, "turns": []})
    with pytest.raises(UserError, match=r"rows\.jsonl:1: field turns is empty"):
        livebench_math(LiveBenchOptions(path=file, split=False))


@public
def test_hotpot_of_the_public_file_brings_its_articles() -> None:
    loaded = hotpot(SplitOptions(path=SHARED / "hotpot_dev_distractor_subset.json"))
    assert (len(loaded.train), len(loaded.val), len(loaded.test)) == (20, 40, 40)
    first = loaded.test[0]
    assert first.inputs["question"].startswith("Were Scott Derrickson")
    assert first.meta["titles"] == ["Scott Derrickson", "Ed Wood"]
    corpus: Corpus = loaded.resources["corpus"]
    assert "Scott Derrickson" in [title for title, _ in asyncio.run(corpus.search("Scott Derrickson director", 3))]


@public
def test_hover_of_the_public_file_keeps_claims_of_three_articles() -> None:
    loaded = hover_claims(HoverOptions(path=SHARED / "hover_dev_release_v1.1.json"))
    assert (len(loaded.train), len(loaded.val), len(loaded.test)) == (150, 300, 300)
    assert all(len(case.gold["titles"]) == 3 for case in loaded.test)
    assert loaded.excluded["not 3 articles to find"] == 1126 + 1039


@public
def test_every_prompt_of_the_public_ifbench_file_has_its_checkers() -> None:
    loaded = ifbench(IfbenchOptions(path=SHARED / "IFBench_test.jsonl", whole=True))
    kinds = {kind for case in loaded.test for kind in case.meta["constraints"]}
    assert (len(loaded.test), len(kinds), loaded.excluded) == (300, 58, {})
    assert kinds <= set(CHECKERS)


@public
def test_aime_asks_thirty_problems_five_times() -> None:
    loaded = aime(AimeOptions(path=SHARED / "aime24_test.jsonl"))
    assert (len(loaded.train), len(loaded.val), len(loaded.test)) == (0, 0, 150)
    assert {case.repeat for case in loaded.test} == set(range(5))
    assert len({case.cluster for case in loaded.test}) == 30
    assert loaded.test[0].gold == "204"
