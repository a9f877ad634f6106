"""Publish: the summary as artifacts in the Prefect UI."""

from __future__ import annotations

import re
from pathlib import Path

from prefect import task
from prefect.artifacts import create_link_artifact, create_markdown_artifact, create_table_artifact
from prefect.cache_policies import NO_CACHE

from seedbed.local.links import report_link
from seedbed.phases.aggregate import finished_cells
from seedbed.phases.context import open_run
from seedbed.report.cells import cell_table, cost_records


@task(name="publish", task_run_name="artifacts for the UI", cache_policy=NO_CACHE)
def publish(folder: str) -> None:
    run = open_run(folder)
    sweep = run.plan.config.name
    report = run.folder / "report.html"
    text = (run.folder / "summary.md").read_text(encoding="utf-8")
    if report.exists():
        _show_report(sweep, run.store.root, report)
    create_markdown_artifact(
        text, key=artifact_key("summary", sweep), description=f"Summary of {sweep}, files in {folder}"
    )
    create_table_artifact(
        cell_table(run.plan, finished_cells(run)),
        key=artifact_key("cells", sweep),
        description=f"Cells of {sweep}",
    )
    create_table_artifact(
        cost_records(run.folder), key=artifact_key("costs", sweep), description=f"Calls and costs of {sweep} by phase"
    )


def _show_report(sweep: str, root: Path, report: Path) -> None:
    """A link where something serves the report; else the words that open it."""
    described = f"Report of {sweep}: tables, plots and every sample"
    link = report_link(root, report)
    if link is not None:
        create_link_artifact(link, link_text="report.html", key=artifact_key("report", sweep), description=described)
        return
    text = f"It lies at `{report}`; `seedbed report {sweep} --open` shows it where that folder is."
    create_markdown_artifact(text, key=artifact_key("report", sweep), description=described)


def artifact_key(kind: str, sweep: str) -> str:
    """Artifact keys may hold lower-case letters, digits and dashes only."""
    return f"{kind}-{re.sub(r'[^a-z0-9]+', '-', sweep.lower()).strip('-')}"
