"""What a sweep found, as tables: `seedbed.run(...)` and `seedbed.load(...)` give it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from seedbed.errors import UserError
from seedbed.lm.ledger.database import open_database
from seedbed.lm.ledger.sample_usage import sample_usage
from seedbed.local.locate import locate
from seedbed.phases.aggregate import finished_cells
from seedbed.phases.context import SweepRun, open_run
from seedbed.storage.store import read_json, read_jsonl
from seedbed.suite import SampleUsage
from seedbed.sweep.cell import Cell

if TYPE_CHECKING:
    import pandas as pd


class Result:
    """A run of a sweep. Its tables are read from the run's folder when they are first asked for."""

    def __init__(self, folder: str | Path) -> None:
        self.folder = Path(folder)

    @property
    def status(self) -> str:
        """completed | partial | budget_reached | interrupted | failed"""
        return self._summary["status"]

    @property
    def missing(self) -> list[dict[str, str]]:
        """Cells without a result, each with the reason."""
        return self._summary["missing"]

    @cached_property
    def summary(self) -> pd.DataFrame:
        """A row a benchmark, system, optimizer and model: the mean of each metric over the seeds, its interval over the
        samples, counts, tokens and dollars."""
        import pandas as pd

        return pd.DataFrame([_summary_row(row) for row in self._summary["rows"]])

    @cached_property
    def samples(self) -> pd.DataFrame:
        """A row a sample of every cell: inputs, gold, outputs, every score, tokens, dollars, latency, error."""
        import pandas as pd

        return pd.DataFrame(list(self._samples()))

    @cached_property
    def calls(self) -> pd.DataFrame:
        """A row an attempt at a model call, from the ledger, with request and response."""
        import pandas as pd

        rows = [
            {"system": cell.label, "benchmark": cell.benchmark, "seed": cell.seed, **row}
            for cell in self._cells()
            for row in read_jsonl(self._run.store.cell_dir(cell) / "lm_history.jsonl")
        ]
        return pd.DataFrame(rows)

    def compare(self, a: str, b: str, metric: str | None = None) -> pd.DataFrame:
        """Is b better than a? A row a metric: difference, interval, p, verdict; paired by sample."""
        import pandas as pd

        from seedbed.phases.compare import Side, compare

        made = [c for c in compare(Side(self._run, a), Side(self._run, b)) if c.difference is not None]
        known = list(dict.fromkeys(c.metric for c in made))
        if metric is not None and metric not in known:
            raise UserError(f"metric {metric!r}: not among those of both: {', '.join(known)}.")
        names = ("benchmark", "model", "metric", "baseline", "label", "baseline_mean", "mean", "difference")
        shown = (*names, "ci_low", "ci_high", "p", "p_holm", "test", "n_pairs", "n_clusters", "verdict")
        rows = [asdict(c) for c in made if metric in (None, c.metric)]
        return pd.DataFrame([{name: row[name] for name in shown} for row in rows])

    def report(self, *, show: bool = False) -> Path:
        """The path of report.html; `show` opens it in a browser."""
        path = self.folder / "report.html"
        if show:
            import webbrowser

            webbrowser.open(path.resolve().as_uri())
        return path

    def __repr__(self) -> str:
        return f"Result({str(self.folder)!r}, {self.status}, {len(self._summary['rows'])} systems)"

    def _repr_html_(self) -> str:
        """What a notebook shows of it: the summary, and whether a simulated model made it."""
        note = "<p>Simulated: the offline model made these figures.</p>" if self._summary["simulated"] else ""
        return f"<p>{self._summary['sweep']}: {self.status}</p>{note}{self.summary.to_html(index=False)}"

    @cached_property
    def _run(self) -> SweepRun:
        return open_run(str(self.folder))

    @property
    def _summary(self) -> dict[str, Any]:
        path = self.folder / "summary.json"
        if not path.exists():
            raise UserError(f"{self.folder}: the sweep has not ended yet; run it again to go on.")
        return read_json(path)

    def _cells(self) -> list[Cell]:
        finished = finished_cells(self._run)
        return [cell for cell in self._run.plan.cells if cell.id in finished]

    def _samples(self) -> Iterator[dict[str, Any]]:
        engine = open_database(self._run.ledger_url)
        try:
            for cell in self._cells():
                yield from self._of_cell(cell, _usage(self._run, cell, engine))
        finally:
            engine.dispose()

    def _of_cell(self, cell: Cell, used: dict[str, SampleUsage]) -> Iterator[dict[str, Any]]:
        folder = self._run.store.cell_dir(cell)
        cases = {case.sample_id: case for case in self._run.plan.benchmark(cell).test}
        answers = {row["sample_id"]: row for row in read_jsonl(folder / "predictions.jsonl")}
        metrics = [metric.name for metric in self._run.plan.resolve(cell).metrics if metric.kind != "pooled"]
        for row in read_jsonl(folder / "scores.jsonl"):
            case, given, usage = cases[row["sample_id"]], answers[row["sample_id"]], used.get(row["sample_id"])
            yield {
                "benchmark": cell.benchmark,
                "system": cell.label,
                "model": cell.model,
                "seed": cell.seed,
                "sample_id": row["sample_id"],
                "cluster": row["cluster"],
                **{f"input_{name}": value for name, value in case.inputs.items()},
                "gold": case.gold,
                **{f"output_{name}": value for name, value in (given.get("output") or {}).items()},
                **{name: row["scores"].get(name) for name in metrics},
                "status": row["status"],
                "error": row["reason"],
                "calls": usage.calls if usage else 0,
                "tokens_in": usage.tokens_in if usage else 0,
                "tokens_out": usage.tokens_out if usage else 0,
                "list_usd": usage.list_usd if usage else 0.0,
                "latency_s": usage.latency_s if usage else None,
                "details": row["details"],
            }


def load(sweep: str | Path, out: str = "experiment_runs_data") -> Result:
    """A sweep that has run: its newest run by name, or the very run in a folder."""
    return Result(locate(str(sweep), out).folder)


def _usage(run: SweepRun, cell: Cell, engine: Any) -> dict[str, SampleUsage]:
    made = read_json(run.store.cell_dir(cell) / "done" / "generate.json")["result"]
    return sample_usage(engine, cell.id, "generate", made["execution"])


def _summary_row(row: dict[str, Any]) -> dict[str, Any]:
    own: dict[str, Any] = {name: row[name] for name in ("benchmark", "label", "model", "n_seeds", "n", "n_errors")}
    for name, over_seeds in row["metrics"].items():
        over_samples = row["samples"].get(name) or {}
        own |= {
            name: over_seeds["mean"],
            f"{name}_ci_low": over_samples.get("ci_low"),
            f"{name}_ci_high": over_samples.get("ci_high"),
        }
    return {**own, **{name: row[name] for name in ("tokens_in", "tokens_out", "list_usd", "spent_usd")}}
