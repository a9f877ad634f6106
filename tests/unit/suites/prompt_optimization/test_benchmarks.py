"""The loaders on the shipped samples and on broken files."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from seedbed.cli.main import main
from seedbed.errors import UserError
from seedbed.suite import Case, resolve
from seedbed.suites.kit.splits import Sizes, split
from seedbed.suites.prompt_optimization import SUITE
from seedbed.suites.prompt_optimization.benchmarks import aime, hotpot, hover, hover_claims, ifbench
from seedbed.suites.prompt_optimization.options import AimeOptions, HoverOptions, IfbenchOptions, SplitOptions
from seedbed.suites.prompt_optimization.retrieval import Corpus


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
    bad = {"question": "q", "anser": "a", "supporting_facts": []}
    file.write_text(f"[{json.dumps(good)},\n{json.dumps(bad)}]")
    with pytest.raises(UserError, match=r"hotpot\.json:2: field answer is missing; the row has question, anser"):
        hotpot(SplitOptions(path=file, split=False))


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
    with pytest.raises(UserError, match=r"aime\.jsonl:1: field answer: '1204' is no integer from 0 to 999"):
        aime(AimeOptions(path=file))


def test_two_files_that_could_be_the_test_split_are_refused(tmp_path: Path) -> None:
    for name in ("aime24_test", "aime25_test"):
        (tmp_path / f"{name}.jsonl").write_text('{"id": 1, "problem": "p", "answer": "7"}\n')
    with pytest.raises(UserError, match=r"which is its test split, aime24_test\.jsonl, aime25_test\.jsonl\?"):
        aime(AimeOptions(path=tmp_path))


def test_a_folder_without_cases_says_what_to_give(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"holds neither test nor cases"):
        aime(AimeOptions(path=tmp_path))


def test_supporting_facts_of_no_known_shape_are_named_with_their_line(tmp_path: Path) -> None:
    file = tmp_path / "hover.json"
    file.write_text(json.dumps([{"uid": "a", "claim": "c", "supporting_facts": [{"page": "T"}]}]))
    with pytest.raises(UserError, match=r"hover\.json:1: field supporting_facts: .* names no titles"):
        hover_claims(HoverOptions(path=file))


def test_hover_without_articles_is_refused_when_it_is_loaded(tmp_path: Path) -> None:
    file = tmp_path / "hover.json"
    file.write_text(json.dumps([{"uid": "a", "claim": "c", "supporting_facts": [["A", 0], ["B", 0], ["C", 1]]}]))
    options = HoverOptions(path=file, split=False)
    with pytest.raises(UserError, match=r"hover\.json: HoVer has no articles .*; put them as corpus\.jsonl"):
        hover(options)
    (tmp_path / "corpus.jsonl").write_text('{"title": "A", "text": "red"}\n')
    assert len(hover(options).resources["corpus"]) == 1


def test_plan_refuses_hover_without_articles(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rows = [{"uid": i, "claim": "c", "supporting_facts": [["A", 0], ["B", 0], ["C", 1]]} for i in range(20)]
    (tmp_path / "hover.json").write_text(json.dumps(rows))
    config = tmp_path / "sweep.yaml"
    config.write_text(
        "name: s\nseeds: [0]\nmodels: {m: {model: offline/m}}\nexperiments:\n"
        "  - {suite: prompt_optimization, models: [m], benchmarks: [{name: hoverBench, path: hover.json}], "
        "systems: [HoverMultiHop]}\n"
    )
    assert main(["plan", str(config)]) == 2
    assert "HoVer has no articles to search in" in capsys.readouterr().err
    (tmp_path / "corpus.jsonl").write_text('{"title": "A", "text": "red"}\n')
    assert main(["plan", str(config)]) == 0


def test_a_prompt_that_cannot_be_checked_is_left_out_and_counted(tmp_path: Path) -> None:
    file = tmp_path / "prompts.jsonl"
    prompts = [("count:numbers", {"N": 1}), ("count:numbers", {"N": None}), ("count:dreams", {})]
    rows = [
        {"key": key, "prompt": "p", "instruction_id_list": [kind], "kwargs": [given]}
        for key, (kind, given) in enumerate(prompts)
    ]
    file.write_text("".join(json.dumps(row) + "\n" for row in rows))
    loaded = ifbench(IfbenchOptions(path=file))
    assert [case.sample_id for case in loaded.test] == ["0"]
    assert loaded.excluded == {"count:numbers lacks its argument N": 1, "no checker for count:dreams": 1}


def test_searching_without_a_corpus_says_what_to_do() -> None:
    with pytest.raises(UserError, match=r"corpus\.jsonl"):
        asyncio.run(Corpus([]).search("anything", 3))


def test_equal_scores_keep_the_order_of_the_corpus() -> None:
    corpus = Corpus([("A", "red fox"), ("B", "red fox"), ("C", "blue whale")])
    assert [title for title, _ in asyncio.run(corpus.search("red fox", 2))] == ["A", "B"]
