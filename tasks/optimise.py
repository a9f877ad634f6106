"""Optimise: an optimizer searches better prompts for the system of a cell."""

from __future__ import annotations

from typing import Any

from tasks.policy import phase_task
from tasks.progress import run_with_progress


@phase_task("optimise")
def optimise(folder: str, cell_id: str) -> dict[str, Any]:
    return run_with_progress(folder, cell_id, "optimise")
