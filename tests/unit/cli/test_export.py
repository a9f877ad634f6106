"""`seedbed export`."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest

from seedbed.cli.main import main
from seedbed.storage.store import read_json


@pytest.mark.parametrize("form", ["csv", "parquet"])
def test_export_holds_every_sample_with_its_scores(toy_run: Path, tmp_path: Path, form: str) -> None:
    if form == "parquet":
        pytest.importorskip("pyarrow")
    target = tmp_path / f"samples.{form}"
    assert main(["export", str(toy_run), "--format", form, "--to", str(target)]) == 0
    table = pd.read_csv(target) if form == "csv" else pd.read_parquet(target)
    assert len(table) == 8 * 24
    strong = table[table.system == "strong"].groupby("seed").score_digits.mean().mean()
    row = next(r for r in read_json(toy_run / "summary.json")["rows"] if r["label"] == "strong")
    assert strong == pytest.approx(row["metrics"]["digits"]["mean"])
    assert table[table.status == "error"].score_digits.isna().all()
