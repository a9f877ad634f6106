"""`flows` and `tasks` are common names: the ones imported must be ours."""

from __future__ import annotations

import importlib
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.parametrize("name", ["seedbed", "flows", "tasks"])
def test_the_package_resolves_under_the_root(name: str) -> None:
    assert Path(importlib.import_module(name).__file__ or "").resolve().parent == ROOT / name


@pytest.mark.slow
def test_a_package_that_shadows_ours_is_named(tmp_path: Path) -> None:
    (tmp_path / "tasks").mkdir()
    (tmp_path / "tasks/__init__.py").touch()
    code = (
        "import seedbed.local.launch as l; from seedbed.errors import UserError\n"
        "try: l.import_flows('sweep')\nexcept UserError as e: print(e)"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert f"the package 'tasks' at {tmp_path} shadows Seedbed's" in done.stdout


def test_importing_seedbed_is_light() -> None:
    heavy = ("dspy", "litellm", "prefect", "pandas", "numpy")
    code = f"import sys, seedbed; print(*[m for m in {heavy} if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == ""
