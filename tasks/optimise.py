"""Optimise: an optimizer searches better prompts for the system of a cell."""

from __future__ import annotations

from typing import Any

from seedbed.phases.run import run_phase
from tasks.policy import phase_task


@phase_task("optimise")
def optimise(folder: str, cell_id: str) -> dict[str, Any]:
    return run_phase(folder, cell_id, "optimise")
