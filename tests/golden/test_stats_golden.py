"""Intervals and tests against vectors with expected values."""

import json
import os
from pathlib import Path
from typing import Any

import pytest

from seedbed.intervals import cluster_ratio, mcnemar_exact, wilson

_SHARED = Path(os.environ.get("SEEDBED_SHARED", Path(__file__).resolve().parents[2].parent / "shared"))
_FILE = _SHARED / "golden" / "stats.jsonl"
_ROWS = [json.loads(line) for line in _FILE.read_text(encoding="utf-8").splitlines()] if _FILE.is_file() else []
_TOLERANCE = 1e-9

pytestmark = pytest.mark.skipif(not _FILE.is_file(), reason=f"no golden vectors at {_FILE}")


def _of(kind: str) -> list[dict[str, Any]]:
    return [row for row in _ROWS if row["kind"] == kind]


def test_every_vector_is_compared() -> None:
    assert len(_of("wilson95")) + len(_of("mcnemar_exact")) + len(_of("cluster_ratio_se")) == len(_ROWS) > 10


@pytest.mark.parametrize("row", _of("wilson95"), ids=lambda row: f"{row['k']}of{row['n']}")
def test_wilson(row: dict[str, Any]) -> None:
    interval = wilson(row["k"], row["n"])
    assert interval is not None
    assert (interval.low, interval.high) == pytest.approx((row["lo"], row["hi"]), abs=_TOLERANCE)


@pytest.mark.parametrize("row", _of("mcnemar_exact"), ids=lambda row: f"{row['only_a_right']}-{row['only_b_right']}")
def test_mcnemar(row: dict[str, Any]) -> None:
    p = mcnemar_exact(row["only_a_right"], row["only_b_right"])
    assert p == pytest.approx(row["p_two_sided"], abs=_TOLERANCE)


@pytest.mark.parametrize("row", _of("cluster_ratio_se"), ids=lambda row: row["name"])
def test_cluster_ratio(row: dict[str, Any]) -> None:
    ratio = cluster_ratio([(k, n) for k, n in row["clusters"]])
    assert (ratio.micro, ratio.macro, ratio.se) == pytest.approx(
        (row["micro"], row["macro"], row["se"]), abs=_TOLERANCE
    )
