"""Average precision against vectors with expected values."""

import json
import os
from pathlib import Path
from typing import Any

import pytest

from seedbed.suites.rag_quality.metrics import average_precision

_SHARED = Path(os.environ.get("SEEDBED_SHARED", Path(__file__).resolve().parents[2].parent / "shared"))
_FILE = _SHARED / "golden" / "average_precision.jsonl"

pytestmark = pytest.mark.skipif(not _FILE.is_file(), reason=f"no golden vectors at {_FILE}")

_ROWS: list[dict[str, Any]] = (
    [json.loads(line) for line in _FILE.read_text(encoding="utf-8").splitlines()] if _FILE.is_file() else []
)


def test_there_are_vectors_to_compare_with() -> None:
    assert len(_ROWS) >= 9


@pytest.mark.parametrize("row", _ROWS, ids=lambda row: str(row["verdicts"]))
def test_average_precision(row: dict[str, Any]) -> None:
    assert average_precision(row["verdicts"]) == pytest.approx(row["ap"], abs=1e-6)
