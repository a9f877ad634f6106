"""Score: the answers of a cell are compared with gold."""

from __future__ import annotations

from typing import Any

from seedbed.phases.run import run_phase
from tasks.policy import phase_task


@phase_task("score")
def score(folder: str, cell_id: str) -> dict[str, Any]:
    return run_phase(folder, cell_id, "score")
