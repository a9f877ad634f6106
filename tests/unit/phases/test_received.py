"""Results that somebody sent: which run is meant, what is run of what came with it, and what is refused."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from seedbed.errors import UserError
from seedbed.phases.received import Received, is_archive, received, unpack_to_run
from seedbed.storage.objects import put
from seedbed.storage.paths import as_path
from seedbed.storage.store import json_text, read_json, write_json
from seedbed.storage.zipfiles import pack
from tests.support.stored import Stored, stored

CONFIG = """\
name: toys
seeds: [0]
plugins: [sent_words]
models: {reader: {model: offline/reader}}
experiments:
  - suite: crosslingual
    models: [reader]
    benchmarks: [{name: tiny, limit: 4}]
    systems: [direct]
"""
FIRST, NEXT = "20260101T000000-1", "20260102T000000-1"
UNASKED = "Code that came with results is run only with --trust-plugins: read it first."


def laid(folder: Path, *stamps: str, sweep: str = "toys") -> Stored:
    """Results of a sweep with code of its own, which imports leave a mark of."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "sent_words.py").write_text("WORDS = 'own'\n", encoding="utf-8")
    made = stored(folder, CONFIG.replace("name: toys", f"name: {sweep}"))
    for stamp in stamps:
        run_files(made, made.store.sweep_dir(sweep, stamp))
    forget_plugins()
    return made


def forget_plugins() -> None:
    """As in a process that has planned nothing."""
    sys.path[:] = [folder for folder in sys.path if not Path(folder, "sent_words.py").exists()]
    sys.modules.pop("sent_words", None)


def run_files(made: Stored, run: Path, config_dir: str = "..") -> None:
    write_json(run / "run.json", {"config_dir": config_dir, "generation": 0, "replay": False, "rescore": False})
    write_json(run / "plan.json", made.plan.to_json())


def opened(path: Path | str, out: Path | str = "nowhere", **more: Any) -> Received:
    with received(str(path), str(out), **more) as found:
        return found


@pytest.fixture(autouse=True)
def _without_plugins_of_others() -> Iterator[None]:
    forget_plugins()
    yield
    forget_plugins()


# -- which run is meant ------------------------------------------------------------------------------------------------


def test_a_name_is_that_of_a_sweep_of_ones_own_whose_code_is_trusted(tmp_path: Path) -> None:
    made = laid(tmp_path, FIRST, NEXT)
    found = opened("toys", made.store.root)
    assert (found.run.folder, found.archive) == (made.store.sweep_dir("toys", NEXT), None)
    assert found.run.plan.config_dir == tmp_path


@pytest.mark.parametrize("place", ["out", "out/sweeps/toys", f"out/sweeps/toys/{NEXT}"])
def test_a_folder_is_that_of_all_results_of_a_sweep_or_of_a_run(tmp_path: Path, place: str) -> None:
    made = laid(tmp_path, FIRST, NEXT)
    with pytest.raises(UserError, match=r"^plugins: ") as told:
        opened(tmp_path / place)
    assert str(told.value).endswith(UNASKED)
    found = opened(tmp_path / place, trust_plugins=True)
    assert found.run.folder == made.store.sweep_dir("toys", NEXT)


@pytest.mark.parametrize("place", ["out", f"out/sweeps/toys/{NEXT}"])
def test_a_folder_with_the_form_of_a_name_is_meant_if_it_holds_results(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, place: str
) -> None:
    made = laid(tmp_path, NEXT)
    monkeypatch.chdir((tmp_path / place).parent)
    found = opened((tmp_path / place).name, trust_plugins=True)
    assert found.run.folder == made.store.sweep_dir("toys", NEXT)


def test_a_folder_without_results_does_not_hide_the_sweep_of_its_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = laid(tmp_path, NEXT)
    (tmp_path / "toys").mkdir()
    monkeypatch.chdir(tmp_path)
    assert opened("toys", made.store.root).run.folder == made.store.sweep_dir("toys", NEXT)


def test_results_of_several_sweeps_are_told_apart_by_their_folders(tmp_path: Path) -> None:
    made = laid(tmp_path, FIRST)
    laid(tmp_path, FIRST, sweep="others")
    with pytest.raises(UserError, match=r"out: holds the sweeps others, toys; give one of .*out/sweeps/NAME\."):
        opened(made.store.root)


def test_what_holds_no_run_is_refused(tmp_path: Path) -> None:
    (tmp_path / "empty" / "20260101T000000-1").mkdir(parents=True)
    with pytest.raises(UserError, match=r"no run of a sweep \(plan.json is missing\)"):
        opened(tmp_path / "empty")
    with pytest.raises(UserError, match="there is no such file or folder"):
        opened(tmp_path / "gone")


@pytest.mark.parametrize("trusted", [True, False])
def test_a_run_that_cannot_be_read_is_told_in_a_sentence_of_bearable_length(tmp_path: Path, trusted: bool) -> None:
    made = laid(tmp_path, FIRST)
    run = made.store.sweep_dir("toys", FIRST)
    data = {name: value for name, value in read_json(run / "run.json").items() if name != "schema_version"}
    data.pop("generation")
    write_json(run / "run.json", data)
    with pytest.raises(UserError) as told:
        opened(run, trust_plugins=trusted)
    assert str(told.value) == f"{run}: is no whole run of a sweep (KeyError: 'generation'); ask for it again."
    write_json(run / "plan.json", {**made.plan.to_json(), "config": {f"field{i}": 1 for i in range(99)}})
    run_json = {**data, "generation": 0}
    write_json(run / "run.json", run_json)
    with pytest.raises(UserError) as told:
        opened(run, trust_plugins=trusted)
    reason = str(told.value).partition("(")[2].rpartition("); ask")[0]
    assert len(reason) == 300
    assert "\n" not in reason


def test_a_users_mistake_keeps_its_words(tmp_path: Path) -> None:
    made = laid(tmp_path, FIRST)
    run = made.store.sweep_dir("toys", FIRST)
    write_json(run / "plan.json", {**made.plan.to_json(), "schema_version": 99})
    for trusted in (True, False):
        with pytest.raises(UserError, match=r"schema_version is 99, this Seedbed reads \d+\.$"):
            opened(run, trust_plugins=trusted)
    (tmp_path / "sent_words.py").write_text("import nothing_of_that_name\n", encoding="utf-8")
    run_files(made, run)
    forget_plugins()
    with pytest.raises(UserError, match="plugins: cannot import") as told:
        opened(run, trust_plugins=True)
    assert not str(told.value).endswith(UNASKED), "it was trusted, and is broken"


def test_a_run_under_a_prefix_is_fetched_with_its_cells_and_its_ledger(tmp_path: Path, bucket: str) -> None:
    made = laid(tmp_path, FIRST)
    (cell,) = made.plan.cells
    made.answered(cell, [{"sample_id": "a"}])
    (made.store.root / "ledger.sqlite").write_bytes(b"rows")
    root = as_path(f"s3://{bucket}/sent")
    for path in sorted(made.store.root.rglob("*")):
        if path.is_file():
            put(root / path.relative_to(made.store.root).as_posix(), path.read_bytes())
    for trusted in (True, False):
        with pytest.raises(UserError, match="plugins: ") as told:
            opened(f"{root}/sweeps/toys/{FIRST}", trust_plugins=trusted)
        assert str(told.value).endswith(UNASKED) is not trusted
    # Its code lies beside the config, which was not sent along; here it is installed.
    write_json(made.store.sweep_dir("toys", FIRST) / "plan.json", _without_plugins(made))
    put(root / f"sweeps/toys/{FIRST}/plan.json", (made.store.sweep_dir("toys", FIRST) / "plan.json").read_bytes())
    with received(f"{root}/sweeps/toys/{FIRST}", "nowhere") as found:
        assert found.run.folder.parts[-3:] == ("sweeps", "toys", FIRST)
        near = found.run.store
        assert (near.cell_dir(cell) / "predictions.jsonl").read_bytes() == b'{"sample_id": "a"}\n'
        assert (near.root / "ledger.sqlite").read_bytes() == b"rows"
        assert near.done(cell, "generate", cell.key("generate"), 0) is not None
    assert not near.root.exists(), "what was fetched goes away again"


def _without_plugins(made: Stored, **config: Any) -> dict[str, Any]:
    plan = made.plan.to_json()
    return {**plan, "config": {**plan["config"], "plugins": [], **config}}


def test_a_ledger_that_lies_elsewhere_or_nowhere_is_not_fetched(tmp_path: Path, bucket: str) -> None:
    made = laid(tmp_path, FIRST)
    root = as_path(f"s3://{bucket}/sent")
    run = made.store.sweep_dir("toys", FIRST)
    put(root / f"sweeps/toys/{FIRST}/run.json", (run / "run.json").read_bytes())
    for ledger in (None, "sqlite:////elsewhere/ledger.sqlite"):
        put(root / f"sweeps/toys/{FIRST}/plan.json", json_text(_without_plugins(made, ledger=ledger)).encode())
        with received(f"{root}/sweeps/toys/{FIRST}", "nowhere") as found:
            assert not (found.run.store.root / "ledger.sqlite").exists()
        put(root / "ledger.sqlite", b"of others")


# -- archives ----------------------------------------------------------------------------------------------------------

RUN = f"results/sweeps/toys/{FIRST}"


def archive_files(folder: Path, text: str = CONFIG, **index: Any) -> dict[str, bytes]:
    """What an archive of the sweep holds, by name."""
    made = laid(folder / "lab")
    run_files(made, folder / "lab" / RUN, "../nowhere")
    told = {"data": [], "run": RUN, "config": "config/toys.yaml", **index}
    return {
        "archive.json": json_text(told).encode(),
        "config/toys.yaml": text.encode(),
        "config/sent_words.py": b"WORDS = 'own'\n",
        "config/data/1/rows.csv": b"a,b\n",
        "results/ledger.sqlite": b"rows",
        f"{RUN}/run.json": (folder / "lab" / RUN / "run.json").read_bytes(),
        f"{RUN}/plan.json": (folder / "lab" / RUN / "plan.json").read_bytes(),
    }


def zipped(folder: Path, files: Mapping[str, bytes]) -> Path:
    pack(folder / "sent.zip", files)
    return folder / "sent.zip"


def unpacked(folder: Path, files: Mapping[str, bytes]) -> Path:
    for name, data in files.items():
        (folder / "open" / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / "open" / name).write_bytes(data)
    return folder / "open"


@pytest.mark.parametrize("lay", [zipped, unpacked])
def test_an_archive_is_a_run_with_the_config_the_ledger_and_the_data_it_brings(tmp_path: Path, lay: Any) -> None:
    names = ("suite", "benchmark", "sha256", "ships")
    data = {**dict.fromkeys(names), "path": "mine", "file": "config/data/1"}
    sent = lay(tmp_path, archive_files(tmp_path, data=[data]))
    with pytest.raises(UserError, match=r"^plugins: .*--trust-plugins"):
        opened(sent)
    with received(str(sent), "nowhere", trust_plugins=True) as found:
        assert found.archive is not None
        assert found.run.folder.as_posix().endswith(RUN)
        assert found.run.plan.moved == {"mine": "data/1"}
        assert found.run.plan.config_dir == found.archive.folder / "config"
        assert found.run.ledger_url == f"sqlite:///{found.archive.folder}/results/ledger.sqlite"


def test_an_archive_lying_on_object_storage_is_fetched(tmp_path: Path, bucket: str) -> None:
    put(as_path(f"s3://{bucket}/sent.zip"), zipped(tmp_path, archive_files(tmp_path)).read_bytes())
    found = opened(f"s3://{bucket}/sent.zip", trust_plugins=True)
    assert found.run.folder.as_posix().endswith(RUN)


@pytest.mark.parametrize("run", ["../lab", "results/sweeps/toys", "results/gone"])
def test_an_archive_names_a_run_of_its_own(tmp_path: Path, run: str) -> None:
    files = archive_files(tmp_path, run=run)
    (tmp_path / "lab" / "plan.json").write_bytes(files[f"{RUN}/plan.json"])
    with pytest.raises(UserError, match=r"archive.json: field run names '.*', where no run lies; ask for the archive"):
        opened(unpacked(tmp_path, files))


def test_a_zip_without_an_index_is_no_archive(tmp_path: Path) -> None:
    files = archive_files(tmp_path)
    del files["archive.json"]
    with pytest.raises(UserError, match=r"sent.zip: holds no archive.json; give a file made by"):
        opened(zipped(tmp_path, files), trust_plugins=True)


def test_an_archive_is_known_by_its_ending_or_its_index(tmp_path: Path) -> None:
    files = archive_files(tmp_path)
    assert is_archive("sent.zip")
    assert is_archive(str(unpacked(tmp_path, files)))
    assert not is_archive(str(tmp_path))
    assert not is_archive("toys.yaml")


# -- running one -------------------------------------------------------------------------------------------------------


def below(folder: Path) -> list[str]:
    return sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file())


@pytest.mark.parametrize("lay", [zipped, unpacked])
def test_config_data_and_ledger_of_an_archive_are_laid_out_and_code_only_where_it_is_trusted(
    tmp_path: Path, lay: Any
) -> None:
    sent = lay(tmp_path, archive_files(tmp_path))
    config = unpack_to_run(str(sent), str(tmp_path / "careful"), trust_plugins=False)
    assert config == tmp_path / "careful" / "config" / "toys.yaml"
    assert config.read_text(encoding="utf-8") == CONFIG
    assert below(tmp_path / "careful") == ["config/data/1/rows.csv", "config/toys.yaml", "ledger.sqlite"]
    assert (tmp_path / "careful" / "ledger.sqlite").read_bytes() == b"rows"
    unpack_to_run(str(sent), str(tmp_path / "trusting"), trust_plugins=True)
    assert "config/sent_words.py" in below(tmp_path / "trusting")


def test_an_archive_is_laid_out_in_a_new_folder_of_this_machine(tmp_path: Path, bucket: str) -> None:
    sent = zipped(tmp_path, archive_files(tmp_path))
    (tmp_path / "mine").mkdir()
    with pytest.raises(UserError, match=r"name it with --out\."):
        unpack_to_run(str(sent), None, trust_plugins=True)
    assert unpack_to_run(str(sent), str(tmp_path / "mine"), trust_plugins=True).exists(), "an empty one is new"
    for out in (str(tmp_path / "mine"), f"s3://{bucket}/new"):
        with pytest.raises(UserError, match="an archive is run in a new folder of this machine; name another"):
            unpack_to_run(str(sent), out, trust_plugins=True)


@pytest.mark.parametrize("config", ["config/gone.yaml", "results/ledger.sqlite", "config/data/1/rows.csv"])
def test_an_archive_names_a_config_of_its_own(tmp_path: Path, config: str) -> None:
    sent = unpacked(tmp_path, archive_files(tmp_path, config=config))
    with pytest.raises(UserError, match=r"field config names '.*', where no config lies; ask for it again"):
        unpack_to_run(str(sent), str(tmp_path / "new"), trust_plugins=True)
    assert not (tmp_path / "new" / "config").exists()


PROGRAM = "experiments: [{}, {systems: [direct, {name: prompt}, {name: prompt, command: [rm]}]}, {systems: null}]"


def test_systems_that_are_programs_are_laid_out_only_where_they_are_trusted(tmp_path: Path) -> None:
    sent = unpacked(tmp_path, archive_files(tmp_path, PROGRAM))
    with pytest.raises(UserError, match=r"open: has systems that are programs \(command:\), which are run only with"):
        unpack_to_run(str(sent), str(tmp_path / "new"), trust_plugins=False)
    assert not (tmp_path / "new" / "config").exists()
    assert unpack_to_run(str(sent), str(tmp_path / "new"), trust_plugins=True).exists()


@pytest.mark.parametrize("text", ["", "name: toys", "experiments: []", "experiments: [{systems: [direct]}]"])
def test_a_config_that_names_no_program_is_laid_out(tmp_path: Path, text: str) -> None:
    sent = unpacked(tmp_path, archive_files(tmp_path, text))
    assert unpack_to_run(str(sent), str(tmp_path / "new"), trust_plugins=False).exists()
