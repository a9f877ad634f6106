"""Results on object storage are copied before a report is made of them: what it reads, and no more."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import cast

import pytest
from upath import UPath

from seedbed.lm.runtime import close_runtimes
from seedbed.phases.aggregate import finished_cells, publish_again
from seedbed.phases.context import SweepRun, open_run, read_run
from seedbed.phases.fetched import fetch_results, fetched
from seedbed.phases.labels import labels_path
from seedbed.phases.publish import Choices
from seedbed.storage.objects import put, send
from seedbed.storage.store import Store, read_json

CELL = "experiment_runs/seed_0/sums_weak_Baseline_reader"
READ = ("scores.jsonl", "metrics.json", "predictions.jsonl", "done/optimise.json", "evaluation_results.json")
UNREAD = (
    "cell.json", "manifest.json", "done/generate.json", "done/score.json", "evaluation_results/a.txt",
    "metric_logs/val.jsonl", "logs/deep/a.log",
)  # fmt: skip
BESIDE = ("experiment_runs/seed_1/groups/toy_sums_reader/metrics.json", "experiment_runs/looks/toys/look.json")
OTHERS = (
    "experiment_runs/seed_0/sums_other_Baseline_reader/scores.jsonl",
    "experiment_runs/seed_0/groups/toy_more_reader/metrics.json",
    "experiment_runs/looks/other/look.json",
    "experiment_runs/notes.txt",
)


@pytest.fixture
def remote(toy_run: Path, request: pytest.FixtureRequest) -> SweepRun:
    """The run with its results on storage of its own, where nothing lies yet."""
    run = open_run(str(toy_run))
    store = Store(cast("Path", UPath(f"memory://{abs(hash(request.node.nodeid))}/lab")), run.store.cache_dir)
    return replace(run, store=store, ledger=run.ledger_url)


def fill(run: SweepRun, *names: str) -> None:
    for name in names:
        put(run.store.root / name, name.encode())


def names_in(root: Path) -> set[str]:
    return {path.relative_to(root).as_posix() for path in root.rglob("*") if path.is_file()}


@pytest.fixture(autouse=True)
def _runtimes() -> Iterator[None]:
    yield
    close_runtimes()


def test_results_on_a_disk_are_read_where_they_lie(toy_run: Path) -> None:
    run = open_run(str(toy_run))
    with fetched(run) as near:
        assert near is run.store


def test_what_a_report_reads_of_a_sweeps_cells_groups_and_looks_is_copied(remote: SweepRun) -> None:
    cell = [f"{CELL}/{name}" for name in READ]
    fill(remote, *cell, *(f"{CELL}/{name}" for name in UNREAD), *BESIDE, *OTHERS)
    with fetched(remote) as near:
        assert names_in(near.root) == {*cell, *BESIDE}
        assert (near.root / cell[0]).read_text() == cell[0]
        assert near.cache_dir == remote.store.cache_dir
        root = near.root
    assert not root.exists()


def test_labels_come_along(remote: SweepRun) -> None:
    labels = labels_path(remote.store, "toys").relative_to(remote.store.root).as_posix()
    fill(remote, labels)
    with fetched(remote) as near:
        assert labels_path(near, "toys").read_text() == labels


def test_of_contests_that_grow_all_files_are_copied_if_one_of_the_cells_does(remote: SweepRun) -> None:
    first, *others = remote.plan.cells
    growing = replace(remote.plan, cells=[replace(first, in_looks=True), *others])
    everything = [f"{CELL}/{name}" for name in (*READ, *UNREAD)]
    fill(remote, *everything, *OTHERS)
    with fetched(replace(remote, plan=growing)) as near:
        assert names_in(near.root) == set(everything)


def test_all_files_are_copied_unless_a_report_alone_is_wanted(remote: SweepRun, tmp_path: Path) -> None:
    everything = [f"{CELL}/{name}" for name in (*READ, *UNREAD)]
    fill(remote, *everything)
    fetch_results(remote.store, remote.plan, Store(tmp_path / "all"))
    assert names_in(tmp_path / "all") == set(everything)
    fetch_results(remote.store, remote.plan, Store(tmp_path / "few"), whole=False)
    assert names_in(tmp_path / "few") == {f"{CELL}/{name}" for name in READ}


def test_a_run_is_published_again_from_storage_and_its_groups_are_put_back(
    remote: SweepRun, toy_run: Path, tmp_path: Path
) -> None:
    root = toy_run.parents[2]
    send(root, [f"experiment_runs/{name}" for name in names_in(root / "experiment_runs")], remote.store.root)
    group, cells = next(iter(remote.plan.groups().items()))
    metrics = remote.store.group_dir(group) / "metrics.json"
    put(metrics, b"{}")
    again = replace(remote, folder=tmp_path / "again")
    assert publish_again(again, Choices())
    assert set(read_json(metrics)["metrics"]) == {cell.label for cell in cells}
    assert read_json(again.folder / "summary.json")["status"] == "completed"


def test_nothing_is_published_of_a_sweep_without_a_finished_cell(remote: SweepRun, tmp_path: Path) -> None:
    again = replace(remote, folder=tmp_path / "again")
    assert finished_cells(again) == {}
    assert publish_again(again, Choices()) is False
    assert not again.folder.exists()


def test_a_cell_without_scores_is_named_as_not_finished_and_the_sweep_is_partial(
    remote: SweepRun, toy_run: Path, tmp_path: Path
) -> None:
    root = toy_run.parents[2]
    gone = remote.plan.cells[0]
    left = [name for name in names_in(root / "experiment_runs") if not name.startswith(gone.folder.partition("/")[2])]
    send(root, [f"experiment_runs/{name}" for name in left], remote.store.root)
    again = replace(remote, folder=tmp_path / "again")
    assert publish_again(again, Choices())
    summary = read_json(again.folder / "summary.json")
    assert summary["status"] == "partial"
    assert [(entry["cell"], entry["reason"]) for entry in summary["missing"]] == [(gone.title, "not finished")]
    assert len(summary["rows"]) == 4
    # What was said of it before stays.
    text = (again.folder / "summary.json").read_text(encoding="utf-8")
    text = text.replace("not finished", "every call failed").replace('"partial"', '"budget_reached"', 1)
    (again.folder / "summary.json").write_text(text, encoding="utf-8")
    assert publish_again(again, Choices())
    summary = read_json(again.folder / "summary.json")
    assert [entry["reason"] for entry in summary["missing"]] == ["every call failed"]
    assert summary["status"] == "budget_reached"


def test_a_run_is_read_from_where_its_folder_lies_now(toy_run: Path) -> None:
    run = read_run(toy_run)
    assert (run.store.root, run.plan.config.name) == (toy_run.parents[2], "toys")
    assert run.samples(run.plan.cells[0]) == 24
    assert (run.replay, run.rescore) == (False, False)
