"""Cases asked more than once: pass@k and pass^k, a figure a case, in rows, tables and comparisons."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from seedbed.errors import UserError
from seedbed.lm.runtime import close_runtimes
from seedbed.phases.aggregate import publish_again
from seedbed.phases.compare import Side, compare
from seedbed.phases.context import open_run
from seedbed.phases.passes import with_passes
from seedbed.phases.publish import Choices
from seedbed.phases.verify import verify
from seedbed.suite import Case, Metric, ScoreRow
from seedbed.suites.kit.repeats import asked_case, repeated
from seedbed.sweep.config import load_config
from seedbed.sweep.plan import Plan, make_plan
from seedbed.sweep.repeats import Repeats, pass_figures
from tests.support.cells import prepared

CONFIG = """\
name: again
seeds: [0]
models: {m: {model: offline/reader, temperature: 0.9}}
experiments:
  - suite: custom
    models: [m]
    benchmarks: [{name: capitals, path: capitals.csv, inputs: [country], answer: capital, repeats: REPEATS}]
    systems:
      - {name: plain, prompt: "What is the capital of {country}?"}
      - {name: terse, prompt: "What is the capital of {country}? Answer with the name only."}
    scorers: SCORERS
"""
COUNTRIES = "country,capital\nFrance,Paris\nJapan,Tokyo\nPeru,Lima\nNorway,Oslo\nEgypt,Cairo\nCanada,Ottawa\n"


def write(folder: Path, repeats: str, scorers: str = "[exact, f1]") -> Path:
    (folder / "capitals.csv").write_text(COUNTRIES, encoding="utf-8")
    path = folder / "again.yaml"
    path.write_text(CONFIG.replace("REPEATS", repeats).replace("SCORERS", scorers), encoding="utf-8")
    return path


def plan(folder: Path, repeats: str, scorers: str = "[exact, f1]") -> Plan:
    return make_plan(*load_config(write(folder, repeats, scorers)))


@pytest.mark.slow
def test_a_case_counts_once_and_the_table_says_k_and_n(tmp_path: Path) -> None:
    ready = prepared(write(tmp_path, "{n: 4, k: [1, 3]}"), tmp_path / "out")
    try:
        found = {cell.system: ready.all_phases(cell)["metrics"] for cell in ready.plan.cells}
    finally:
        close_runtimes()
    terse = found["terse"]
    assert (terse["n"], terse["n_exact"], terse["n_exact_pass@3_of_4"]) == (24, 24, 6)
    assert 0 < terse["exact"] < 1
    assert terse["exact_pass@1_of_4"] == pytest.approx(terse["exact"])
    assert terse["exact_pass^3_of_4"] <= terse["exact"] <= terse["exact_pass@3_of_4"]
    rows = ready.rows(ready.plan.cells[1], "scores.jsonl")
    assert sum("exact_pass@3_of_4" in row["scores"] for row in rows) == 6
    assert {row["cluster"] for row in rows} == {"1", "2", "3", "4", "5", "6"}
    assert not [name for name in terse if name.startswith("f1_pass")]
    run = open_run(ready.run)
    assert publish_again(run, Choices())
    assert "Exact pass@3 of 4" in (run.folder / "summary.md").read_text(encoding="utf-8")
    assert r"pass\textasciicircum{}3 of 4" in (run.folder / "summary.tex").read_text(encoding="utf-8")
    assert verify(run).differences == []
    tested = {c.metric: c for c in compare(Side(run, "plain"), Side(run, "terse"))}
    assert (tested["exact_pass^3_of_4"].n_pairs, tested["exact_pass^3_of_4"].n_clusters) == (6, 6)
    assert tested["exact"].n_clusters == 6


def test_every_repeat_is_asked_anew(tmp_path: Path) -> None:
    ready = prepared(write(tmp_path, "3"), tmp_path / "out")
    try:
        ready.phase(ready.plan.cells[0], "generate")
        engine = ready.runtime().ledger.engine
        with engine.connect() as connection:
            outcomes = connection.exec_driver_sql("select outcome from attempts").scalars().all()
    finally:
        close_runtimes()
    assert list(outcomes) == ["paid"] * 18


def test_another_k_scores_again_and_another_n_asks_again(tmp_path: Path) -> None:
    first, k, n = (plan(tmp_path, repeats).cells[0] for repeats in ("3", "{n: 3, k: [2]}", "4"))
    assert (k.id == first.id, k.key("score") == first.key("score")) == (True, False)
    assert n.id != first.id
    assert plan(tmp_path, "null").cells[0].scoring.keys() == first.scoring.keys() - {"repeats"}


def _figures(cases: int, marks: list[Any], **repeats: Any) -> list[dict[str, float | None]]:
    figures = list(pass_figures(Repeats(**repeats), [Metric("exact", "Exact", kind="rate")]))
    asked = repeated([Case(str(i), {"q": "?"}) for i in range(cases)], repeats["n"])
    failed = {"status": "error", "reason": "timeout: none"}
    rows = [
        ScoreRow(case.sample_id, **(failed if mark is None else {"status": "ok", "scores": {"exact": mark}}))
        for case, mark in zip(asked, marks, strict=True)
    ]
    made = with_passes(figures, asked, rows)
    return [{name: value for name, value in row.scores.items() if name != "exact"} for row in made]


def test_an_answer_that_is_missing_is_no_wrong_one() -> None:
    # Repeats of case 0 stand at even places, of case 1 at odd ones.
    made = _figures(2, [None, 1.0, 1.0, 0.0, 0.0, None], n=3, k=[2])
    assert made[0] == {}
    assert made[2] == {"exact_pass@2_of_3": 1.0, "exact_pass^2_of_3": 0.0}
    assert made[1] == {"exact_pass@2_of_3": 1.0, "exact_pass^2_of_3": 0.0}
    assert _figures(1, [None, None, 1.0], n=3, k=[2])[2] == {"exact_pass@2_of_3": None, "exact_pass^2_of_3": None}


def test_clusters_of_the_users_own_stay() -> None:
    asked = repeated([Case("a#0", {}, cluster="doc"), Case("a", {})], 2)
    assert [(case.sample_id, asked_case(case), case.cluster) for case in asked] == [
        ("a#0#0", "a#0", "doc"),
        ("a#0", "a", "a"),
        ("a#0#1", "a#0", "doc"),
        ("a#1", "a", "a"),
    ]


@pytest.mark.parametrize(
    ("repeats", "scorers", "said"),
    [
        ("1", "[exact]", r"benchmarks\.0\.repeats.*greater than or equal to 2"),
        ("{n: 3, k: [4]}", "[exact]", r"benchmarks\.0\.repeats.*k is 4; of 3 answers it can be 1 to 3"),
        ("{n: 3, k: [2, 2]}", "[exact]", r"the same k stands twice"),
        ("{n: 3, k: [2]}", "[f1]", r"scorers: no metric of theirs says right or wrong of an answer"),
        ("often", "[exact]", r"benchmarks\.0\.repeats"),
    ],
)  # fmt: skip
def test_a_mistake_is_one_sentence(repeats: str, scorers: str, said: str, tmp_path: Path) -> None:
    with pytest.raises(UserError, match=said) as refused:
        plan(tmp_path, repeats, scorers)
    assert "\n" not in str(refused.value)
