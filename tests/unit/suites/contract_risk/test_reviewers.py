"""The systems on the shipped clauses, through the real phases, with the offline model."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from seedbed.errors import UserError
from seedbed.storage.store import read_json
from seedbed.suite import CellResult, Figure, Table
from seedbed.suites.contract_risk import SUITE
from seedbed.suites.contract_risk.report import report
from tests.unit.suites.contract_risk.conftest import predictions_of, scores_of

pytestmark = pytest.mark.slow

Run = Callable[..., list[CellResult]]


@pytest.fixture(scope="module")
def cells(run_cells: Run) -> dict[str, CellResult]:
    return {cell.label: cell for cell in run_cells(list(SUITE.systems))}


@pytest.fixture(scope="module")
def parts(cells: dict[str, CellResult]) -> list[Table | Figure]:
    return list(report(list(cells.values())))


def test_the_eleven_systems_answer_every_case(cells: dict[str, CellResult]) -> None:
    assert len(cells) == 11
    assert {(cell.metrics["n"], cell.metrics["n_errors"]) for cell in cells.values()} == {(66, 0)}


def test_always_high_scores_what_makes_weighted_accuracy_suspect(cells: dict[str, CellResult]) -> None:
    metrics = cells["always_high"].metrics
    assert metrics["weighted_accuracy"] == pytest.approx(0.7666666667)
    assert metrics["kappa_linear"] == 0.0
    assert metrics["avg_latency"] is None


@pytest.mark.parametrize("label", ["no_rules", "prompt_only", "llm_only", "always_high"])
def test_systems_without_a_rule_engine_have_null_rule_figures(cells: dict[str, CellResult], label: str) -> None:
    assert cells[label].metrics["rule_recall"] is None


@pytest.mark.parametrize("label", ["full", "no_rag", "rules_only"])
def test_systems_with_a_rule_engine_have_rule_figures(cells: dict[str, CellResult], label: str) -> None:
    assert cells[label].metrics["rule_recall"] > 0.8


@pytest.mark.parametrize("label", ["no_rules", "no_rag"])
def test_taking_rules_or_laws_away_changes_what_the_model_answers(cells: dict[str, CellResult], label: str) -> None:
    full, without = predictions_of(cells["full"]), predictions_of(cells[label])
    assert sum(full[case]["review"] != without[case]["review"] for case in full) >= 3


def test_rules_are_worth_more_than_nothing(cells: dict[str, CellResult]) -> None:
    assert cells["full"].metrics["accuracy"] > cells["no_rules"].metrics["accuracy"] + 0.1
    assert cells["full"].metrics["accuracy"] > cells["rules_only"].metrics["accuracy"] + 0.1


def test_guessed_citations_are_hallucinated_more_often_than_given_ones(cells: dict[str, CellResult]) -> None:
    assert cells["full"].metrics["law_hallucination_rate"] == 0.0
    assert cells["prompt_only"].metrics["law_hallucination_rate"] > 0.0


def test_the_second_pass_mends_slips(run_cells: Run) -> None:
    full, without = run_cells(["full", "no_reflection"], ability=0.7)
    assert full.metrics["accuracy"] > without.metrics["accuracy"]
    assert full.metrics["hallucination_rate"] < without.metrics["hallucination_rate"]


def test_a_simulated_model_has_no_latency(cells: dict[str, CellResult]) -> None:
    assert cells["llm_only"].metrics["n_avg_latency"] == 0
    assert cells["llm_only"].metrics["avg_latency"] is None


def test_every_row_and_the_manifest_name_the_verifier(cells: dict[str, CellResult]) -> None:
    assert {row.details["verifier"] for row in scores_of(cells["full"])} == {"lexical>=0.8"}
    options = read_json(cells["full"].folder / "manifest.json")["benchmark_options"]
    assert (options["verifier"], options["threshold"]) == ("lexical", 0.5)


def test_the_report_has_the_ablation_table_and_a_heat_map_a_system(parts: list[Table | Figure]) -> None:
    table, *figures = parts
    assert isinstance(table, Table)
    assert [line[0] for line in table.rows] == list(SUITE.systems)
    assert "lexical>=0.8" in table.note
    accuracy = {line[0]: str(line[1]) for line in table.rows}
    assert accuracy["always_high"] == "0.333 [0.232, 0.453]"
    assert len(figures) == 11
    assert all(isinstance(figure, Figure) and figure.svg.startswith("<svg") for figure in figures)


def test_trivial_rows_that_were_not_run_are_added_as_they_would_have_been(
    cells: dict[str, CellResult], parts: list[Table | Figure]
) -> None:
    run, (added, *_) = parts[0], report([cells["full"]])
    assert isinstance(run, Table)
    assert isinstance(added, Table)
    lines = {line[0]: line for line in run.rows}
    assert [line[0] for line in added.rows] == ["full", "always_high", "always_medium", "prior_random"]
    assert all(line == lines[line[0]] for line in added.rows)


def test_the_table_refuses_to_mix_verifiers(cells: dict[str, CellResult], run_cells: Run) -> None:
    (other,) = run_cells(["rules_only"], extra=", verifier: 'off'")
    with pytest.raises(UserError, match="different verifiers"):
        report([cells["full"], other])
