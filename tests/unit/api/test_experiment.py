"""An experiment made of Python objects, phase by phase without Prefect, and its result as tables."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import dspy
import pandas as pd
import pytest

import seedbed
from seedbed.api.run import _loaded
from seedbed.errors import UserError
from seedbed.lm.runtime import close_runtimes
from seedbed.phases.aggregate import publish_again
from seedbed.phases.context import open_run
from seedbed.phases.prepare import prepare
from seedbed.phases.publish import Choices
from seedbed.phases.run import run_phase
from seedbed.storage.yamlfile import YamlFile
from seedbed.sweep.config import check_config
from seedbed.sweep.plan import Plan, make_plan

CAPITALS = {"France": "Paris", "Peru": "Lima", "Kenya": "Nairobi", "Japan": "Tokyo"}
CASES = pd.DataFrame({"country": list(CAPITALS), "answer": list(CAPITALS.values()), "size": [1, 2, 3, 4]})


def lookup(country: str) -> str:
    return {"France": "Paris", "Peru": "Lima"}.get(country, "?")


async def shout(**inputs: Any) -> dict[str, Any]:
    return {"answer": inputs["country"].upper(), "note": 1}


def same(answer: str, gold: str) -> bool:
    return answer == gold


class Ask(dspy.Module):
    def __init__(self) -> None:
        super().__init__()
        self.ask = dspy.Predict("question -> answer")

    def forward(self, country: str) -> Any:
        return self.ask(question=f"What is the capital of {country}?")


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def planned(experiment: seedbed.Experiment) -> Plan:
    source = YamlFile(Path("the config"), experiment.config(), {})
    return make_plan(check_config(source), source)


def finished(experiment: seedbed.Experiment) -> seedbed.Result:
    plan = planned(experiment)
    folder = prepare(plan, Path("experiment_runs_data").resolve())
    try:
        for cell in plan.cells:
            for phase in cell.phases:
                run_phase(str(folder), cell.id, phase)
    finally:
        close_runtimes()
    assert publish_again(open_run(str(folder)), Choices())
    return seedbed.Result(folder)


@pytest.mark.slow
def test_functions_modules_and_prompts_become_tables() -> None:
    scorers = ["exact", {"name": "same", "code": same, "kind": "rate"}]
    systems = [lookup, shout, Ask(), "The capital of {country}? Name only."]
    result = finished(seedbed.Experiment(CASES, systems, scorers))
    assert result.status == "completed"
    assert list(result.summary["label"]) == ["lookup", "shout", "Ask", "prompt4"]
    assert list(result.summary["exact"][:2]) == [0.5, 0.0]
    samples = result.samples
    assert len(samples) == 16
    first = samples.iloc[0]
    assert (first["input_country"], first["input_size"], first["gold"]) == ("France", "1", "Paris")
    assert (first["output_answer"], first["exact"], first["same"], first["tokens_in"]) == ("Paris", 1.0, 1.0, 0)
    asked = samples[samples["system"] == "Ask"].iloc[0]
    assert asked["tokens_in"] > 0
    assert asked["list_usd"] > 0
    assert set(result.calls["system"]) == {"Ask", "prompt4"}
    row = result.compare("lookup", "shout", "exact").iloc[0]
    assert (row["difference"], row["n_pairs"]) == (-0.5, 4)
    with pytest.raises(UserError, match="not among those of both: exact, same"):
        result.compare("lookup", "shout", "f1")
    assert result.report().exists()
    assert "Simulated" in result._repr_html_()
    assert seedbed.load("notebook").folder == result.folder


SOURCE = """
LIMIT = 3
def helper(text): return text[:LIMIT]
def one(country): return helper(country)
def two(country): return 'x'
"""


def test_an_edited_function_is_another_cell_and_the_others_stay() -> None:
    def keys(source: str) -> dict[str, str]:
        space: dict[str, Any] = {"__name__": "__main__"}
        exec(source, space)
        experiment = seedbed.Experiment(CASES, {"one": space["one"], "two": space["two"]})
        return {cell.system: cell.key("generate") for cell in planned(experiment).cells}

    before, edited = keys(SOURCE), keys(SOURCE.replace("'x'", "'y'"))
    assert keys(SOURCE) == before
    assert (edited["one"] == before["one"], edited["two"] == before["two"]) == (True, False)
    narrower = keys(SOURCE.replace("LIMIT = 3", "LIMIT = 2"))
    assert (narrower["one"] == before["one"], narrower["two"] == before["two"]) == (False, True)


def test_a_module_counts_by_its_prompts() -> None:
    def key(instructions: str) -> str:
        module = dspy.Predict(dspy.Signature("country -> answer", instructions))
        return planned(seedbed.Experiment(CASES, {"ask": module})).cells[0].key("generate")

    assert key("Go.") == key("Go.")
    assert key("Go.") != key("Stay.")


def test_the_same_rows_in_a_frame_a_list_and_a_file_are_the_same_cells() -> None:
    CASES.to_csv("capitals.csv", index=False)
    rows = CASES.to_dict("records")
    made = [
        planned(seedbed.Experiment(benchmark, ["{country}?"], answer="answer", name="n", options={"name": "cases"}))
        for benchmark in (CASES, rows, "capitals.csv")
    ]
    assert len({plan.cells[0].id for plan in made}) == 1


def test_mistakes_are_said_in_one_sentence() -> None:
    def land(land: str) -> str:
        return land

    for experiment, said in (
        (lambda: seedbed.Experiment(CASES, [land]), "there is no input 'land'"),
        (lambda: seedbed.Experiment([], ["{country}"]), "benchmark: holds no row"),
        (lambda: seedbed.Experiment(CASES, [lambda country: country]), "a function without a name"),
        (lambda: seedbed.Experiment(CASES, [lookup, lookup]), "two are called 'lookup'"),
        (lambda: seedbed.Experiment(CASES, ["{country}"], ["exakt"]), "unknown scorer 'exakt'"),
        (lambda: seedbed.Experiment(CASES, ["{country}"], seeds=[]), "field seeds"),
    ):
        with pytest.raises(UserError, match=said):
            planned(experiment())


def test_overrides_reach_fields_within_fields(tmp_path: Path) -> None:
    path = tmp_path / "mine.yaml"
    path.write_text(
        "name: mine\nseeds: [0, 1]\nmodels: {m: {model: offline/reader}}\nexperiments:\n"
        "  - {suite: crosslingual, models: [m], benchmarks: [tiny], systems: [direct]}\n",
        encoding="utf-8",
    )
    config, _ = _loaded(path, {"seeds": [3], "budget__max_usd": 2.0, "models__m__temperature": 0.5})
    assert (config.seeds, config.budget.max_usd, config.models["m"].temperature) == ([3], 2.0, 0.5)
    with pytest.raises(UserError, match=r"field budget\.max_eur: unknown key"):
        _loaded(path, {"budget__max_eur": 2.0})


def test_a_budget_that_cannot_hold_is_refused_before_anything_runs(tmp_path: Path) -> None:
    config = {
        "name": "mine",
        "seeds": [0],
        "models": {"m": {"model": "offline/reader"}},
        "budget": {"max_usd": 1e-9},
        "experiments": [
            {
                "suite": "crosslingual",
                "models": ["m"],
                "benchmarks": [{"name": "tiny", "limit": 4}],
                "systems": ["direct"],
            }
        ],
        "out": str(tmp_path / "out"),
    }
    with pytest.raises(UserError, match=r"field budget\.max_usd: \$1e-09 cannot hold"):
        seedbed.run(config)
    assert not (tmp_path / "out").exists()
