"""A notebook, executed by Jupyter's own tools: from a table to paired figures; an edit runs only what it touches."""

from __future__ import annotations

from pathlib import Path

import pytest

nbformat = pytest.importorskip("nbformat")
pytest.importorskip("nbconvert")
pytest.importorskip("ipykernel")

SETUP = """\
import pandas as pd, seedbed
cases = pd.DataFrame({"country": ["France", "Peru", "Kenya", "Japan"], "answer": ["Paris", "Lima", "Nairobi", "Tokyo"]})
"""
GUESS = "def guess(country):\n    return {known!r}\n"
OTHER = "def other(country):\n    return country\n"
RUN = """\
result = await seedbed.arun(seedbed.Experiment(benchmark=cases, systems=[guess, other], scorers=["exact"]))
print("seen", result.status, len(result.samples), result.compare("other", "guess")["difference"].iloc[0])
"""


def test_five_lines_in_a_notebook(seedbed_home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from nbconvert.preprocessors import ExecutePreprocessor

    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).resolve().parents[2]))  # the kernel is a process of its own
    cells = [SETUP, GUESS.format(known="Lima"), OTHER, RUN, GUESS.format(known="Oslo"), RUN]
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell) for cell in cells])
    ExecutePreprocessor(timeout=1200, kernel_name="python3").preprocess(notebook, {"metadata": {"path": str(tmp_path)}})
    printed = ["".join(out.get("text", "") for out in cell.outputs) for cell in notebook.cells]
    assert "seen completed 8 0.25" in printed[3]
    assert "seen completed 8 0.0" in printed[5]
    assert "guess" in printed[5]
    assert "other · cases · reader · seed 0 · generate" in printed[3]
    assert "other · cases · reader · seed 0 · generate" not in printed[5]
