"""What goes into an archive and what is left out of it, by name."""

from __future__ import annotations

import hashlib
import json
import zipfile
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import pytest
import yaml
from upath import UPath

from seedbed.errors import UserError
from seedbed.lm.runtime import close_runtimes
from seedbed.phases.archive import Archive, Data, described, moved, read_archive, write_archive
from seedbed.phases.context import SweepRun, read_run
from seedbed.phases.labels import labels_path
from seedbed.storage.store import Store, write_json, write_text
from tests.support.cells import prepared

CONFIG = """\
name: packed
seeds: [0]
plugins: [tests.support.toy, packed_words]
models: {reader: {model: offline/reader}}
experiments:
  - suite: toy
    models: [reader]
    benchmarks: [{name: sums, label: mine, n: 3, path: mine}, {name: sums, label: more, n: 3, path: one.csv}]
    systems: [{name: guess, label: base}]
  - suite: toy
    models: [reader]
    benchmarks: [{name: sums, label: shipped, n: 3}, {name: sums, label: again, n: 4, path: mine}]
    systems: [{name: guess, label: base}, {name: guess, label: other, skill: 0.9}]
"""


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A config with data and code of its own, and its run; one cell of it is finished."""
    folder = tmp_path_factory.mktemp("packed")
    write_text(folder / "mine/deep/b.txt", "b")
    write_text(folder / "mine/a.txt", "a")
    write_text(folder / "one.csv", "one")
    write_text(folder / "packed_words.py", 'WORDS = "own"\n')
    write_text(folder / "packed.yaml", CONFIG)
    ready = prepared(folder / "packed.yaml", folder / "out")
    try:
        ready.all_phases(ready.plan.cells[0])
    finally:
        close_runtimes()
    write_json(Path(ready.run) / "manifest.json", {"packages": {"seedbed": "9.9"}})
    write_text(Path(ready.run) / ".hidden", "of nobody's")
    return folder


@pytest.fixture
def run(lab: Path) -> SweepRun:
    return read_run(next((lab / "out/sweeps/packed").glob("2*")))


def packed(run: SweepRun, target: Path, **options: bool) -> tuple[Any, dict[str, bytes]]:
    made = write_archive(run, target, **options)
    with zipfile.ZipFile(target) as archive:
        return made, {name: archive.read(name) for name in archive.namelist()}


def test_without_its_data_an_archive_has_results_code_config_and_ledger(run: SweepRun, tmp_path: Path) -> None:
    made, files = packed(run, tmp_path / "a.zip")
    outside = {name for name in files if not name.startswith("results/")}
    assert outside == {"README.txt", "archive.json", "config/packed.yaml", *(f"config/{name}" for name in made.code)}
    assert "packed_words.py" in made.code
    cell, stamp = run.plan.cells[0], run.folder.name
    assert {
        "results/ledger.sqlite",
        f"results/{cell.folder}/scores.jsonl",
        f"results/sweeps/packed/{stamp}/plan.json",
    } < (set(files))
    assert not [name for name in files if ".hidden" in name or ".locks" in name or "cache" in name]
    assert made.n_files == len(files)
    assert made.left_out == ["toy · mine", "toy · more", "toy · again"]
    first, *_, left_out = files["README.txt"].decode().splitlines()
    assert first == "Results of the sweep packed, made with Seedbed 9.9."
    assert left_out == (
        "Not in here: the data of toy · mine, toy · more, toy · again. A replay needs it where config/*.yaml says."
    )


def test_with_its_data_each_folder_or_file_is_there_once_and_the_config_leads_to_it(
    run: SweepRun, tmp_path: Path
) -> None:
    made, files = packed(run, tmp_path / "a.zip", with_data=True)
    assert {name: files[name] for name in files if name.startswith("config/data/")} == {
        "config/data/1/mine/a.txt": b"a",
        "config/data/1/mine/deep/b.txt": b"b",
        "config/data/2/one.csv": b"one",
    }
    assert made.left_out == []
    assert "Not in here" not in files["README.txt"].decode()
    config = yaml.safe_load(files["config/packed.yaml"])
    paths = [one.get("path") for experiment in config["experiments"] for one in experiment["benchmarks"]]
    assert paths == ["data/1/mine", "data/2/one.csv", None, "data/1/mine"]


def test_the_index_has_every_file_with_its_hash_and_the_data_that_was_read(run: SweepRun, tmp_path: Path) -> None:
    made, files = packed(run, tmp_path / "a.zip", with_data=True)
    index = json.loads(files.pop("archive.json"))
    assert index["files"] == {name: hashlib.sha256(body).hexdigest() for name, body in sorted(files.items())}
    assert list(index["files"]) == sorted(files)
    assert (index["sweep"], index["config"]) == ("packed", "config/packed.yaml")
    assert index["code"] == [f"config/{name}" for name in made.code]
    assert index["run"] == f"results/sweeps/packed/{run.folder.name}"
    known = [(one["benchmark"], one["ships"], one["path"], one["file"]) for one in index["data"]]
    assert known == [
        ("mine", False, "mine", "config/data/1/mine"),
        ("more", False, "one.csv", "config/data/2/one.csv"),
        ("shipped", True, None, None),
        ("again", False, "mine", "config/data/1/mine"),
    ]
    # Only a cell that was scored tells of the data it was made from.
    assert [one["sha256"] is None for one in index["data"]] == [False, True, True, True]


def test_labels_and_looks_belong_to_the_results(run: SweepRun, tmp_path: Path) -> None:
    labels, look = labels_path(run.store, "packed"), run.store.looks_dir("packed") / "look.json"
    write_text(look, "{}")
    whole, growing = set(packed(run, tmp_path / "a.zip")[1]), replace(run.plan.cells[-1], in_looks=True)
    assert not [name for name in whole if "looks" in name or "labels" in name]
    write_text(labels, "mine")
    try:
        plan = replace(run.plan, cells=[*run.plan.cells[:-1], growing])
        more = set(packed(replace(run, plan=plan), tmp_path / "b.zip")[1]) - whole
    finally:
        labels.unlink()
        look.unlink()
    assert more == {f"results/sweeps/packed/{labels.name}", "results/experiment_runs/looks/packed/look.json"}


def test_code_that_holds_a_secret_is_not_packed(run: SweepRun, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LAB_API_KEY", "WORDS-are-so-long-a-key")
    path = run.plan.config_dir / "packed_words.py"
    before = path.read_text(encoding="utf-8")
    path.write_text('WORDS = "WORDS-are-so-long-a-key"\n', encoding="utf-8")
    try:
        with pytest.raises(UserError, match=r"packed_words\.py: holds a secret and would be part of the archive"):
            write_archive(run, tmp_path / "a.zip")
    finally:
        path.write_text(before, encoding="utf-8")
    assert list(tmp_path.iterdir()) == []


def test_data_that_is_gone_is_missed_only_where_it_is_to_be_packed(run: SweepRun, tmp_path: Path) -> None:
    path = run.plan.config_dir / "one.csv"
    path.rename(path.with_name("moved.csv"))
    try:
        write_archive(run, tmp_path / "a.zip")
        with pytest.raises(UserError, match=r"one\.csv: is not there, so it cannot go into the archive; bring it back"):
            write_archive(run, tmp_path / "b.zip", with_data=True)
    finally:
        path.with_name("moved.csv").rename(path)


def test_a_run_without_a_manifest_and_one_on_storage_are_not_packed(run: SweepRun, tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"has no manifest\.json; write one with `seedbed report` first"):
        write_archive(replace(run, folder=tmp_path), tmp_path / "a.zip")
    away = replace(run, store=Store(cast("Path", UPath("memory://packed/lab"))))
    with pytest.raises(UserError, match=r"archives are made from folders; copy the results to a disk first"):
        write_archive(away, tmp_path / "a.zip")


DATA = Data("toy", "mine", None, False, "mine", "config/data/1/mine")


def test_what_a_config_names_is_found_from_where_its_copy_lies() -> None:
    left_out, shipped = replace(DATA, file=None), replace(DATA, path=None, file=None, ships=True)
    assert moved([DATA, left_out, shipped]) == {"mine": "data/1/mine"}
    assert moved([left_out, shipped]) == {}


def test_what_is_described_follows_from_the_run_and_its_data(run: SweepRun) -> None:
    texts = described(run, Archive(run.folder, {}, [DATA, replace(DATA, file=None, ships=True)]))
    assert list(texts) == ["config/packed.yaml", "README.txt"]
    assert "Not in here" not in texts["README.txt"]
    config = yaml.safe_load(texts["config/packed.yaml"])
    assert list(config) == ["name", "seeds", "models", "experiments", "plugins"], (
        "what was left to its default is not in it"
    )
    assert config["experiments"][0]["benchmarks"][1]["path"] == "one.csv", "what was left out lies where it did"


@pytest.mark.parametrize("index", [{}, {"data": [{"suite": "toy"}]}, {"data": [{**DATA.to_json(), "more": 1}]}])
def test_an_index_of_something_else_is_refused(tmp_path: Path, index: dict[str, Any]) -> None:
    write_json(tmp_path / "archive.json", index)
    with pytest.raises(UserError, match=r"archive\.json: is not what `seedbed export --archive` writes"):
        read_archive(tmp_path)


def test_an_index_is_read_with_its_data(tmp_path: Path) -> None:
    write_json(tmp_path / "archive.json", {"data": [DATA.to_json()], "sweep": "packed"})
    found = read_archive(tmp_path)
    assert (found.folder, found.data, found.index["sweep"]) == (tmp_path, [DATA], "packed")
