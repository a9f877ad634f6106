"""The trivial rows are in every table of the suite, whether the config names them or not, and cost nothing."""

from __future__ import annotations

import csv
import json
from collections import Counter
from pathlib import Path

import pytest

from seedbed.analysis.families import judged
from seedbed.analysis.measured import Measured
from seedbed.analysis.results import Comparison
from seedbed.lm.prices import token_cost
from seedbed.phases.aggregate import read_console
from seedbed.phases.context import SweepRun, open_run
from seedbed.phases.summary import make_summary
from seedbed.phases.verify import verify
from seedbed.report.report_inputs import parts, start
from seedbed.suite import Table
from seedbed.suites.contract_risk import SUITE
from seedbed.sweep.config import load_config
from seedbed.sweep.estimate import estimate
from seedbed.sweep.plan import Plan, make_plan
from tests.support.cells import prepared

pytestmark = pytest.mark.slow

TRIVIAL = SUITE.reference_systems
CONFIGS = Path(__file__).resolve().parents[4] / "configs"
SWEEP = """\
name: few
seeds: [0, 1]
models:
  m: {{model: offline/m}}
experiments:
{experiments}
"""
EXPERIMENT = """\
  - suite: contract_risk
    models: [m]
    benchmarks: [{{name: clauses, limit: 12}}]
    systems: [{systems}]
"""


def _config(folder: Path, *systems: str) -> Path:
    path = folder / "few.yaml"
    experiments = "".join(EXPERIMENT.format(systems=own) for own in systems)
    path.write_text(SWEEP.format(experiments=experiments), encoding="utf-8")
    return path


def _plan(folder: Path, *systems: str) -> Plan:
    return make_plan(*load_config(_config(folder, *systems)))


def _labels(plan: Plan, seed: int = 0) -> list[str]:
    return [cell.label for cell in plan.cells if cell.seed == seed and cell.suite == "contract_risk"]


def test_a_sweep_that_names_none_has_all_of_them_behind_its_own_systems(tmp_path: Path) -> None:
    plan = _plan(tmp_path, "llm_only, rules_only")
    assert _labels(plan) == _labels(plan, 1) == ["llm_only", "rules_only", *TRIVIAL]


def test_what_the_config_names_stands_once_and_where_it_was_named(tmp_path: Path) -> None:
    plan = _plan(tmp_path, "always_medium, full, {name: always_high, label: high}")
    assert _labels(plan) == ["always_medium", "full", "high", "prior_random"]


def test_two_experiments_on_the_same_clauses_share_them(tmp_path: Path) -> None:
    plan = _plan(tmp_path, "full", "llm_only, prior_random")
    assert Counter(_labels(plan)) == Counter(["full", "llm_only", *TRIVIAL])


def test_they_are_planned_without_a_call(tmp_path: Path) -> None:
    plan = _plan(tmp_path, "full")
    assert [estimate(plan, cell, token_cost).calls for cell in plan.cells if cell.label in TRIVIAL] == [0] * 6


def test_the_demo_has_them_for_every_seed() -> None:
    plan = make_plan(*load_config(CONFIGS / "demo.yaml"))
    assert all(set(TRIVIAL) < set(_labels(plan, seed)) for seed in plan.config.seeds)


def test_they_make_no_other_test_harder() -> None:
    def compared(label: str, p: float) -> Measured:
        names = ("contract_risk", "clauses", "m", label, "full", "accuracy")
        return Measured(Comparison(*names, reference=label in TRIVIAL, p=p))

    alone = judged([compared("no_rag", 0.02), compared("no_rules", 0.03)])
    beside = judged([compared("no_rag", 0.02), compared("no_rules", 0.03), *(compared(name, 0.9) for name in TRIVIAL)])
    assert [c.p_holm for c in beside[:2]] == [c.p_holm for c in alone] == pytest.approx([0.04, 0.04])


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> SweepRun:
    """A finished sweep whose config names a single system."""
    folder = tmp_path_factory.mktemp("few")
    ready = prepared(_config(folder, "llm_only"), folder / "out")
    return open_run(str(ready.finish()))


def test_every_format_of_the_summary_shows_them(run: SweepRun) -> None:
    with (run.folder / "summary.csv").open(encoding="utf-8") as handle:
        listed = {row["system"] for row in csv.DictReader(handle)}
    rows = json.loads((run.folder / "summary.json").read_text(encoding="utf-8"))["rows"]
    assert listed == {row["system"] for row in rows} == {"llm_only", *TRIVIAL}
    markdown = (run.folder / "summary.md").read_text(encoding="utf-8")
    latex = (run.folder / "summary.tex").read_text(encoding="utf-8")
    for name in TRIVIAL:
        assert f"| {name} |" in markdown
        assert name.replace("_", r"\_") in latex


def test_the_console_and_every_table_of_systems_in_the_report_show_them(run: SweepRun) -> None:
    shown = read_console(run)
    assert all(shown.count(f"\n{name}") == 2 for name in TRIVIAL)
    inputs = start(run.store, run.plan)
    summary = make_summary(run.store, run.plan, [], {}, "completed", watch=inputs.watch)
    made = parts(inputs, summary)["contract_risk"]
    tables = [part for part in made if isinstance(part, Table) and "llm_only" in str(part.rows)]
    assert tables
    for table in tables:
        assert all(name in str(table.rows) for name in TRIVIAL), table.title


def test_a_figure_has_the_same_interval_in_the_suites_own_table(run: SweepRun) -> None:
    inputs = start(run.store, run.plan)
    summary = make_summary(run.store, run.plan, [], {}, "completed", watch=inputs.watch)
    made = parts(inputs, summary)["contract_risk"]
    table = next(part for part in made if isinstance(part, Table) and part.title.startswith("Ablations"))
    own = {str(row[0]): dict(zip(table.columns, row, strict=True)) for row in table.rows}
    for row in summary.rows:
        for column, name in (("Acc", "accuracy"), ("LWK", "kappa_linear"), ("Parse", "parse_rate")):
            mean, samples = row.metrics[name].mean, row.samples[name]
            # So few groups give a composed figure no interval.
            ends = "" if samples.ci_low is None else f" [{samples.ci_low:.3f}, {samples.ci_high:.3f}]"
            assert own[row.label][column] == (None if mean is None else f"{mean:.3f}{ends}")
        assert row.samples["accuracy"].ci_low is not None


def test_they_are_in_no_row_of_the_ledger_and_all_figures_verify(run: SweepRun) -> None:
    for cell in run.plan.cells:
        metrics = json.loads((run.store.cell_dir(cell) / "metrics.json").read_text(encoding="utf-8"))
        calls = sum(usage["calls"] for usage in metrics["usage"].values())
        assert (calls == 0) is (cell.label in TRIVIAL)
    assert verify(run).differences == []
