# ruff: noqa: E501 - a table of mistakes reads best a row a line
"""A config of one's own: what it may say short, and what is said of a mistake."""

from __future__ import annotations

from pathlib import Path
from textwrap import indent

import pytest

from seedbed.errors import UserError
from seedbed.sweep.config import load_config
from seedbed.sweep.plan import Plan, make_plan

HEAD = """\
name: mine
seeds: [0]
models: {m: {model: offline/reader}}
experiments:
  - suite: custom
    models: [m]
"""
BENCHMARK = "benchmarks: [{name: capitals, path: capitals.csv, inputs: [country], answer: capital}]\n"
SYSTEMS = 'systems: [{name: plain, prompt: "The capital of {country}?"}]\n'
SCORERS = "scorers: [exact]\n"


def plan(folder: Path, *parts: str, benchmark: str = BENCHMARK, systems: str = SYSTEMS, scorers: str = SCORERS) -> Plan:
    (folder / "capitals.csv").write_text("country,capital\nPeru,Lima\nKenya,Nairobi\n", encoding="utf-8")
    (folder / "checks.py").write_text("def short(answer):\n    return len(answer) < 9\n", encoding="utf-8")
    (folder / "long.md").write_text("[system]\nBe brief.\n\n[user]\nThe capital of {country}?\n", encoding="utf-8")
    path = folder / "mine.yaml"
    path.write_text(HEAD + indent("".join((benchmark, systems, scorers, *parts)), "    "), encoding="utf-8")
    return make_plan(*load_config(path))


def test_a_list_under_an_option_makes_a_variant_a_value(tmp_path: Path) -> None:
    made = plan(
        tmp_path,
        systems="""\
systems:
  - {name: ask, prompt: ["A {country}?", "B {country}?"], choices: [x, y]}
  - {name: sign, signature: "country -> capital", module: [predict, cot], instructions: [Go there., Think of the region.]}
  - {name: long, file: [long.md]}
""",
    )
    assert [cell.system for cell in made.cells] == [
        *("ask-prompt1", "ask-prompt2"),
        *("sign-predict-instructions1", "sign-predict-instructions2", "sign-cot-instructions1", "sign-cot-instructions2"),
        "long-long",
    ]  # fmt: skip
    last = made.config.experiments[0].systems[-1]
    assert last.options == {"prompt": "The capital of {country}?", "system": "Be brief."}


def test_lists_make_variants_of_other_suites_too(tmp_path: Path) -> None:
    path = tmp_path / "sweep.yaml"
    path.write_text(
        "name: other\nseeds: [0]\nmodels: {m: {model: offline/reader}}\nexperiments:\n  - suite: crosslingual\n"
        "    models: [m]\n    benchmarks: [{name: tiny, limit: 3}]\n    systems: [{name: lbrag, budget: [35, 70]}]\n",
        encoding="utf-8",
    )
    assert [cell.system for cell in make_plan(*load_config(path)).cells] == ["lbrag-budget35", "lbrag-budget70"]


def test_a_scorer_may_have_a_name_of_its_own(tmp_path: Path) -> None:
    scorers = (
        "scorers: [exact, {name: helpful, judge: 'Is it right?', scale: [1, 7]}, {name: brief, code: checks.py:short, "
        "kind: rate}, {name: year, regex: '[0-9]{4}'}]\n"
    )
    metrics = plan(tmp_path, scorers=scorers).metrics("custom")
    assert [(m.name, m.kind, m.range) for m in metrics] == [
        ("exact", "rate", (0.0, 1.0)),
        ("helpful", "mean", (1.0, 7.0)),
        ("brief", "rate", (0.0, 1.0)),
        ("year", "rate", (0.0, 1.0)),
    ]


def ids(made: Plan) -> tuple[set[str], set[str]]:
    return {cell.key("generate") for cell in made.cells}, {cell.key("score") for cell in made.cells}


def test_an_edited_prompt_file_is_another_cell_and_an_edited_scorer_only_other_scores(tmp_path: Path) -> None:
    systems, scorers = "systems: [{name: long, file: long.md}]\n", "scorers: [{name: brief, code: checks.py:short}]\n"
    before = ids(plan(tmp_path, systems=systems, scorers=scorers))
    path = tmp_path / "mine.yaml"
    (tmp_path / "checks.py").write_text("def short(answer):\n    return len(answer) < 5\n", encoding="utf-8")
    rescored = ids(make_plan(*load_config(path)))
    assert (rescored[0] == before[0], rescored[1] == before[1]) == (True, False)
    (tmp_path / "long.md").write_text("{country}?", encoding="utf-8")
    assert ids(make_plan(*load_config(path)))[0] != before[0]


MISTAKES = {
    "a column": ({"systems": 'systems: [{name: plain, prompt: "Of {contry}?"}]\n'}, r"mine\.yaml:8: field experiments\.0\.systems\.0\.prompt: there is no input 'contry'; did you mean 'country'\?"),
    "no column": ({"systems": 'systems: [{name: plain, prompt: "Hello {{country}}"}]\n'}, r"systems\.0\.prompt: names no column; write \{country\} where"),
    "a signature's input": ({"systems": 'systems: [{name: s, signature: "land -> capital"}]\n'}, r"systems\.0\.signature: there is no input 'land'"),
    "no signature": ({"systems": 'systems: [{name: s, signature: "country"}]\n'}, r"systems\.0\.signature: is no signature"),
    "two ways": ({"systems": 'systems: [{name: s, signature: "country -> capital", prompt: "{country}"}]\n'}, r"systems\.0: give one of prompt"),
    "no way": ({"systems": "systems: [plain]\n"}, r"mine\.yaml:8: field experiments\.0\.systems\.0: give one of prompt"),
    "an option": ({"systems": 'systems: [{name: s, promt: "{country}"}]\n'}, r"systems\.0\.promt: unknown option of system 's'; did you mean 'prompt'\?"),
    "of a variant": ({"systems": 'systems:\n  - {name: a, prompt: ["{country}", "{land}"]}\n  - {name: b, prompt: "{country}"}\n'}, r"mine\.yaml:9: field experiments\.0\.systems\.0\.prompt: there is no input 'land'"),
    "behind variants": ({"systems": 'systems:\n  - {name: a, prompt: ["{country}?", "{country}!"]}\n  - {name: b, prompt: "{land}"}\n'}, r"mine\.yaml:10: field experiments\.0\.systems\.1\.prompt: there is no input 'land'"),
    "a file": ({"systems": "systems: [{name: s, file: none.md}]\n"}, r"systems\.0: file: 'none\.md' cannot be read"),
    "a name": ({"systems": 'systems: [{name: "a/b", prompt: "{country}"}]\n'}, r"systems\.0\.name: 'a/b' goes into file names"),
    "examples without a train split": ({"systems": 'systems: [{name: s, prompt: "{country}", examples: 2}]\n'}, r"systems\.0\.examples: wants 2, and the train split has 0; set `split: true`"),
    "no scorer": ({"scorers": ""}, r"field experiments\.0\.scorers: suite 'custom' has no metric of its own; name a scorer"),
    "a scorer": ({"scorers": "scorers: [exakt]\n"}, r"mine\.yaml:9: field experiments\.0\.scorers\.0: unknown scorer 'exakt'; did you mean 'exact'\?"),
    "a scorer's option": ({"scorers": "scorers: [{name: numeric, tolerence: 1}]\n"}, r"scorers\.0\.tolerence: unknown option of scorer 'numeric'; did you mean 'tolerance'\?"),
    "a scale": ({"scorers": "scorers: [{name: good, judge: Good., scale: [5, 1]}]\n"}, r"scorers\.0\.scale: .*the scale must rise"),
    "a file of code": ({"scorers": "scorers: [{name: good, code: none.py:f}]\n"}, r"scorers\.0: none\.py does not exist"),
    "no path": ({"benchmark": "benchmarks: [capitals]\n"}, r"benchmarks\.0\.path: benchmark 'capitals' ships no data; give the path of a file"),
    "another path": ({"benchmark": "benchmarks: [{name: c, path: none.csv}]\n"}, r"benchmarks\.0\.path: .*none\.csv does not exist"),
    "a benchmark's option": ({"benchmark": "benchmarks: [{name: c, path: capitals.csv, anser: capital}]\n"}, r"benchmarks\.0\.anser: unknown option of benchmark 'c'; did you mean 'answer'\?"),
    "shares": ({"benchmark": "benchmarks: [{name: c, path: capitals.csv, answer: capital, split: {train: 0.6, val: 0.5}}]\n"}, r"benchmarks\.0\.split.*leave a share for the test"),
}  # fmt: skip


@pytest.mark.parametrize("name", MISTAKES)
def test_a_mistake_is_said_with_line_field_and_remedy(name: str, tmp_path: Path) -> None:
    parts, said = MISTAKES[name]
    with pytest.raises(UserError, match=said) as refused:
        plan(tmp_path, **parts)
    assert "\n" not in str(refused.value)


def test_an_optimizer_needs_a_metric_that_it_can_learn_from(tmp_path: Path) -> None:
    optimizers = "optimizers: [Baseline, GEPA-3]\n"
    with pytest.raises(UserError, match=r"needs train and val cases.*set `split: true`"):
        plan(tmp_path, optimizers)
    endless = "scorers: [{name: words, code: checks.py:short, range: null}]\n"
    with pytest.raises(UserError, match=r"no metric of theirs has a range and a direction for GEPA-3 to learn from"):
        plan(tmp_path, optimizers, scorers=endless)
