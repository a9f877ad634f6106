"""`budget_sweep: [...]` in a config."""

from __future__ import annotations

import pytest

from seedbed.errors import UserError
from tests.unit.suites.crosslingual.conftest import MakeSweep


def test_a_swept_option_gives_a_labelled_variant_a_value(sweep: MakeSweep) -> None:
    tried = sweep(
        systems=["multi", {"name": "lbrag", "level": "sentence", "budget_sweep": [0, 0.15, 35, float("inf")]}]
    )
    labels = [cell.label for cell in tried.plan.cells]
    assert labels == ["multi", "lbrag-b0", "lbrag-b0.15", "lbrag-b35", "lbrag-binf"]
    options = [tried.plan.resolve(cell).system_options.model_dump() for cell in tried.plan.cells[1:]]
    assert [own["budget"] for own in options] == [0, 0.15, 35, "inf"]
    assert {own["level"] for own in options} == {"sentence"}


def test_a_variant_is_the_same_cell_as_the_system_written_out(sweep: MakeSweep) -> None:
    swept = sweep(systems=[{"name": "lbrag", "budget_sweep": [10, 70]}])
    written = sweep(systems=[{"name": "lbrag", "label": "lbrag-b70", "budget": 70}])
    assert swept.cell("lbrag-b70").id == written.cell("lbrag-b70").id


def test_a_sweep_that_is_no_list_is_refused(sweep: MakeSweep) -> None:
    with pytest.raises(UserError, match="budget_sweep must be a list"):
        sweep(systems=[{"name": "lbrag", "budget_sweep": 35}])
