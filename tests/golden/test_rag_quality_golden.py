"""Average precision against vectors with expected values."""

from typing import Any

import pytest

from seedbed.suites.rag_quality.metrics import average_precision
from tests.support.golden import lines

_ROWS = lines("average_precision.jsonl")


def test_there_are_vectors_to_compare_with() -> None:
    assert len(_ROWS) >= 9


@pytest.mark.parametrize("row", _ROWS, ids=lambda row: str(row["verdicts"]))
def test_average_precision(row: dict[str, Any]) -> None:
    assert average_precision(row["verdicts"]) == pytest.approx(row["ap"], abs=1e-6)
