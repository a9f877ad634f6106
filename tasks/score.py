"""Score: the answers of a cell are compared with gold."""

from __future__ import annotations

from typing import Any

from tasks.policy import phase_task
from tasks.progress import run_with_progress


@phase_task("score")
def score(folder: str, cell_id: str) -> dict[str, Any]:
    return run_with_progress(folder, cell_id, "score")
