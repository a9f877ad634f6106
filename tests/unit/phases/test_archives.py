"""`seedbed export --archive`: one zip that verifies elsewhere; and zips that nobody should unpack."""

from __future__ import annotations

import importlib.util
import marshal
import os
import shutil
import stat
import struct
import subprocess
import sys
import zipfile
from importlib.machinery import all_suffixes
from pathlib import Path

import pytest
from matplotlib import get_configdir

from seedbed.cli.main import main
from seedbed.errors import UserError
from seedbed.phases.context import read_run
from seedbed.phases.received import unpack_to_run
from seedbed.phases.verify import verify
from seedbed.storage.objects import put
from seedbed.storage.paths import as_path
from seedbed.storage.zipfiles import pack, unpack
from tests.support.cells import prepared

pytestmark = pytest.mark.slow

SWEEP = """\
name: paper
seeds: [0]
models:
  small: {model: offline/small, temperature: 0.7}
experiments:
  - suite: contract_risk
    models: [small]
    benchmarks: [{name: clauses, path: mine, limit: 4}]
    systems: [llm_only]
plugins: [own_words]
"""
PLUGIN = 'from seedbed import scorer\nWORDS = "own"\n'


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A finished sweep on data of its own, with a module of its own beside the config."""
    import seedbed.suites.contract_risk as suite

    folder = tmp_path_factory.mktemp("lab")
    spec = suite.SUITE.benchmarks["clauses"]
    assert spec.data is not None
    shutil.copytree(spec.data, folder / "mine")
    (folder / "own_words.py").write_text(PLUGIN, encoding="utf-8")
    (folder / "paper.yaml").write_text(SWEEP, encoding="utf-8")
    prepared(folder / "paper.yaml", folder / "out").finish()
    return folder


@pytest.fixture(scope="module")
def archive(lab: Path) -> Path:
    target = lab / "paper.zip"
    assert main(["export", "paper", "--out", str(lab / "out"), "--archive", str(target), "--with-data"]) == 0
    return target


def seedbed(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """The command on a machine that has none of the lab's files: an empty home, no key, no network."""
    (folder / "sitecustomize.py").write_text(NO_NETWORK, encoding="utf-8")
    kept = {name: value for name, value in os.environ.items() if "KEY" not in name and "TOKEN" not in name}
    path = os.pathsep.join([str(folder), os.environ.get("PYTHONPATH", ""), str(Path(__file__).resolve().parents[3])])
    env = {**kept, "HOME": str(folder), "SEEDBED_HOME": str(folder / "home"), "PYTHONPATH": path}
    env["MPLCONFIGDIR"] = get_configdir()  # finding all fonts anew takes seconds
    env.pop("PYTHONDONTWRITEBYTECODE", None)  # which hardly anybody sets
    command = [sys.executable, "-m", "seedbed", *arguments]
    return subprocess.run(command, cwd=folder, env=env, capture_output=True, text=True)


NO_NETWORK = """\
import socket
def refuse(self, address):
    raise OSError(f"no network here: {address}")
socket.socket.connect = socket.socket.connect_ex = refuse
"""


def test_an_archive_is_verified_with_nothing_else_at_hand(archive: Path, tmp_path: Path) -> None:
    before = archive.read_bytes()
    shutil.copy(archive, tmp_path / "sent.zip")
    refused = seedbed(tmp_path, "verify", "sent.zip")
    assert refused.returncode == 2
    assert "--trust-plugins" in refused.stderr, "code that came with it is not run unasked"
    done = seedbed(tmp_path, "verify", "sent.zip", "--trust-plugins")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "sent.zip: verified." in done.stdout
    assert (tmp_path / "sent.zip").read_bytes() == before


def test_what_runs_is_the_source_and_no_bytecode_that_was_sent_with_it(archive: Path, tmp_path: Path) -> None:
    """Python takes bytecode for that of a source whose size and time of the last change it names."""
    unpack(archive, tmp_path / "sent")
    source, was_run = tmp_path / "sent/config/own_words.py", tmp_path / "was_run"
    code = f"open({str(was_run)!r}, 'w').close()"
    seen = source.stat()
    planted = Path(importlib.util.cache_from_source(str(source)))
    planted.parent.mkdir()
    header = importlib.util.MAGIC_NUMBER + struct.pack("<LLL", 0, int(seen.st_mtime), seen.st_size)
    planted.write_bytes(header + marshal.dumps(compile(code, "own_words.py", "exec")))
    done = seedbed(tmp_path, "verify", "sent", "--trust-plugins")
    assert not was_run.exists()
    assert done.returncode == 1
    assert f"{planted.name}: is not listed in archive.json" in done.stdout


@pytest.mark.parametrize("suffix", all_suffixes())
def test_no_code_is_laid_out_for_a_run_unasked(archive: Path, tmp_path: Path, suffix: str) -> None:
    unpack(archive, tmp_path / "sent")
    code = tmp_path / "sent/config/own_words"
    code.with_suffix(".py").unlink()
    code.with_suffix(suffix).write_text(PLUGIN, encoding="utf-8")
    config = unpack_to_run(str(tmp_path / "sent"), str(tmp_path / "out"), trust_plugins=False)
    assert "own_words" not in {path.name.partition(".")[0] for path in config.parent.iterdir()}


def test_functions_of_scorers_go_along_and_are_run_only_if_that_is_wished(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    lab, place = tmp_path / "lab", tmp_path / "place"
    for folder in (lab, place):
        folder.mkdir()
    was_run = tmp_path / "was_run"
    function = "def long(answer):\n    return float(len(answer) > 1)\n"
    (lab / "words_beside.py").write_text(function, encoding="utf-8")
    (lab / "words.py").write_text(
        f"from words_beside import long\nopen({str(was_run)!r}, 'w').close()\n", encoding="utf-8"
    )
    scored = SWEEP.replace("plugins: [own_words]\n", "").replace("path: mine, ", "")
    (lab / "paper.yaml").write_text(f"{scored}    scorers: [{{name: long, code: 'words.py:long'}}]\n", encoding="utf-8")
    prepared(lab / "paper.yaml", lab / "out").finish()
    assert main(["export", "paper", "--out", str(lab / "out"), "--archive", str(place / "paper.zip")]) == 0
    assert "words.py, words_beside.py" in capsys.readouterr().out
    shutil.rmtree(lab)
    was_run.unlink()
    monkeypatch.chdir(place)
    for command in (["verify", "paper.zip"], ["run", "paper.zip", "--replay", "--out", "again"]):
        assert main(command) == 2
        assert "scorers that are functions in files (code:), which are run only with" in capsys.readouterr().err
    assert not was_run.exists()
    assert main(["verify", "paper.zip", "--trust-plugins"]) == 0
    assert was_run.exists()


def test_an_archive_that_is_not_there_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", str(tmp_path / "no.zip"), "--replay", "--out", str(tmp_path / "out")]) == 2
    assert "no.zip: there is no such file or folder" in capsys.readouterr().err


def test_it_holds_this_sweep_s_part_of_the_ledger_the_config_the_code_and_the_data(archive: Path, lab: Path) -> None:
    names = set(zipfile.ZipFile(archive).namelist())
    assert {"README.txt", "archive.json", "config/paper.yaml", "config/own_words.py", "results/ledger.sqlite"} <= names
    assert "config/data/1/mine/cases.jsonl" in names
    assert not [name for name in names if ".lock" in name or "/cache/" in name]
    assert str(lab) not in zipfile.ZipFile(archive).read("results/ledger.sqlite").decode("latin-1")


def test_two_archives_of_one_run_are_the_same_bytes(archive: Path, lab: Path, tmp_path: Path) -> None:
    again = tmp_path / "again.zip"
    assert main(["export", "paper", "--out", str(lab / "out"), "--archive", str(again), "--with-data"]) == 0
    assert again.read_bytes() == archive.read_bytes()


def test_without_its_data_an_archive_says_what_it_could_not_check(
    lab: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    bare = tmp_path / "bare.zip"
    assert main(["export", "paper", "--out", str(lab / "out"), "--archive", str(bare)]) == 0
    assert "without the data of contract_risk · clauses" in capsys.readouterr().out
    assert main(["verify", str(bare)]) == 0
    assert "benchmark 'clauses': its cases are not here" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("config/paper.yaml", "config/paper.yaml: "),
        ("README.txt", "README.txt: "),
        ("config/data/1/mine/cases.jsonl", "config/data/1/mine/cases.jsonl: has changed"),
        ("results/ledger.sqlite", "results/ledger.sqlite: "),
    ],
)
def test_a_change_in_an_unpacked_archive_is_named(
    archive: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], name: str, says: str
) -> None:
    unpack(archive, tmp_path / "open")
    path = tmp_path / "open" / name
    data = path.read_bytes()
    path.write_bytes(data.replace(b"paper", b"forge", 1) if b"paper" in data else data + b"\n")
    assert main(["verify", str(tmp_path / "open"), "--published"]) != 0
    said = capsys.readouterr()
    assert says in said.out + said.err


def test_what_is_no_archive_is_told_in_a_sentence(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "text.zip").write_text("not a zip")
    pack(tmp_path / "other.zip", {"a.txt": b"a"})
    for name, told in (
        ("text.zip", "not a whole zip file"),
        ("other.zip", "holds no archive.json"),
        ("no.zip", "no such"),
    ):
        assert main(["verify", str(tmp_path / name)]) == 2
        assert told in capsys.readouterr().err


# -- hostile zips ------------------------------------------------------------------------------------------------------


def _zip(path: Path, *entries: tuple[zipfile.ZipInfo, bytes]) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as made:
        for entry, data in entries:
            made.writestr(entry, data, zipfile.ZIP_DEFLATED)
    return path


def _link() -> zipfile.ZipInfo:
    entry = zipfile.ZipInfo("link")
    entry.create_system, entry.external_attr = 3, (stat.S_IFLNK | 0o777) << 16
    return entry


@pytest.mark.parametrize("name", ["../out", "/etc/out", "a/../../out", "a\\..\\out", "C:out"])
def test_a_zip_that_would_write_elsewhere_is_refused(tmp_path: Path, name: str) -> None:
    hostile = _zip(tmp_path / "h.zip", (zipfile.ZipInfo("fine"), b"1"), (zipfile.ZipInfo(name), b"2"))
    with pytest.raises(UserError, match="outside the folder"):
        unpack(hostile, tmp_path / "in")
    assert not (tmp_path / "in").exists(), "nothing is unpacked, the good part neither"


def test_a_link_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="is a link"):
        unpack(_zip(tmp_path / "h.zip", (_link(), b"/etc/passwd")), tmp_path / "in")


def test_two_files_of_one_name_are_refused(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="twice"):
        unpack(_zip(tmp_path / "h.zip", (zipfile.ZipInfo("a"), b"1"), (zipfile.ZipInfo("A"), b"2")), tmp_path / "in")


def test_a_bomb_is_refused_before_it_goes_off(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("seedbed.storage.zipfiles._ALWAYS", 1_000_000)
    bomb = _zip(tmp_path / "h.zip", (zipfile.ZipInfo("zeros"), b"\0" * 5_000_000))
    with pytest.raises(UserError, match="zip bomb"):
        unpack(bomb, tmp_path / "in")
    assert not (tmp_path / "in").exists()


def test_a_damaged_zip_is_refused(tmp_path: Path) -> None:
    whole = _zip(tmp_path / "h.zip", (zipfile.ZipInfo("a"), os.urandom(5_000)))
    data = bytearray(whole.read_bytes())
    data[1_000] ^= 1
    whole.write_bytes(bytes(data))
    with pytest.raises(UserError, match="ask for it again"):
        unpack(whole, tmp_path / "in")


# -- other places ------------------------------------------------------------------------------------------------------


def test_results_under_a_prefix_of_object_storage_are_fetched_and_verified(
    lab: Path, bucket: str, capsys: pytest.CaptureFixture[str]
) -> None:
    root = as_path(f"s3://{bucket}/sent")
    files = [path for path in sorted((lab / "out").rglob("*")) if path.is_file() and "cache" not in path.parts]
    for path in files:
        put(root / path.relative_to(lab / "out").as_posix(), path.read_bytes())
    run = next((lab / "out/sweeps/paper").glob("2*"))
    # Its data lies beside the config, which was not sent along.
    assert main(["verify", f"{root}/sweeps/paper/{run.name}", "--published"]) == 0
    said = capsys.readouterr().out
    assert "verified." in said
    assert "its cases are not here" in said
    put(root / f"sweeps/paper/{run.name}/summary.md", b"better")
    assert main(["verify", str(root), "--published"]) == 1
    assert "summary.md: has changed since it was written" in capsys.readouterr().out


def test_a_replay_of_an_archive_gives_the_same_bytes_without_key_or_network(
    lab: Path, archive: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(_socket: object, address: object) -> None:
        raise OSError(f"no network here: {address}")

    monkeypatch.setattr("socket.socket.connect", refuse)
    out = tmp_path / "again"
    config = unpack_to_run(str(archive), str(out), trust_plugins=True)
    ready = prepared(config, out, replay=True)
    run = ready.finish()
    before = next((lab / "out/sweeps/paper").glob("2*"))
    published = ["summary.csv", "summary.tex", *(f"plots/{path.name}" for path in (before / "plots").iterdir())]
    assert [name for name in published if (run / name).read_bytes() != (before / name).read_bytes()] == []
    for cell in ready.plan.cells:
        for name in ("predictions.jsonl", "scores.jsonl", "evaluation_results/evaluation_result.txt"):
            assert (out / cell.folder / name).read_bytes() == (lab / "out" / cell.folder / name).read_bytes()


def test_an_archive_is_run_in_a_new_folder_only(
    archive: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "notes.txt").write_text("mine")
    for more in ([], ["--out", str(tmp_path)]):
        assert main(["run", str(archive), "--replay", *more]) == 2
        assert "new folder" in capsys.readouterr().err
    assert sorted(path.name for path in tmp_path.iterdir()) == ["notes.txt"]


def test_samples_that_failed_are_no_forgery_and_what_cannot_be_made_again_is_said(tmp_path: Path) -> None:
    faulty = "model: offline/small, retries: 0, options: {errors: {server: 0.4}}"
    text = FAULTY.replace("model: offline/small", faulty)
    (tmp_path / "paper.yaml").write_text(text, encoding="utf-8")
    ready = prepared(tmp_path / "paper.yaml", tmp_path / "out")
    ready.finish()
    assert any("error" in row for row in ready.rows(ready.plan.cells[0], "predictions.jsonl"))
    result = verify(read_run(Path(ready.run)))
    assert result.differences == []
    assert any("requests have no reply on record" in sentence for sentence in result.unchecked)


FAULTY = """\
name: paper
seeds: [0]
max_error_share: 1.0
models:
  small: {model: offline/small}
experiments:
  - suite: crosslingual
    models: [small]
    benchmarks: [{name: tiny, limit: 8}]
    systems: [direct]
"""
