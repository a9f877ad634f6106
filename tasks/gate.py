"""Gate: a night is held against the accepted baseline."""

from __future__ import annotations

import base64
from typing import Any

from prefect import task
from prefect.artifacts import create_markdown_artifact, create_table_artifact
from prefect.cache_policies import NO_CACHE

from seedbed.nightly.night import history, judge_night
from seedbed.phases.context import open_run
from tasks.artifacts import artifact_key


@task(name="gate", task_run_name="verdict", cache_policy=NO_CACHE)
def gate(folder: str, status: str) -> dict[str, Any]:
    """Judge the night and show verdict and history in the UI; returns what a message needs."""
    result, rows = judge_night(folder, status)
    run = open_run(folder)
    sweep = run.plan.config.name
    text = (run.folder / "gate.md").read_text(encoding="utf-8")
    plot = base64.b64encode((history.folder(run.store, sweep) / "history.png").read_bytes()).decode()
    picture = f"## How the figures moved\n\n![nightly figures](data:image/png;base64,{plot})\n"
    create_markdown_artifact(f"{text}\n{picture}", key=artifact_key("gate", sweep), description=result.headline)
    create_table_artifact(
        history.table(rows), key=artifact_key("nightly", sweep), description=f"Nightly runs of {sweep}, newest first"
    )
    return {
        "sweep": sweep,
        "run": run.folder.name,
        "verdict": result.verdict,
        "headline": result.headline,
        "reasons": [reason.text for reason in result.reasons if reason.level != "note"],
        "explanation": None if result.explanation is None else result.explanation.headline,
    }
