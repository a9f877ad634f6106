"""Addresses of results: folders as they are, object storage by its address, anything else in one sentence."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from seedbed.cli.main import main
from seedbed.errors import UserError
from seedbed.storage.paths import as_path, as_root, as_writable_root, explain, is_local
from seedbed.storage.store import Store, write_text
from tests.support.s3 import S3Server


def test_a_folder_stays_a_path_of_the_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert as_path("out") == Path("out")
    assert as_root("out") == tmp_path / "out"
    assert is_local(as_root("out"))


def test_a_prefix_joins_and_prints_like_a_path(bucket: str) -> None:
    root = as_root(f"s3://{bucket}/some/prefix/")
    assert not is_local(root)
    assert str(root / "sweeps" / "x.json") == f"s3://{bucket}/some/prefix/sweeps/x.json"
    assert as_path(str(root)) == root


def test_a_whole_bucket_can_be_the_root(bucket: str) -> None:
    store = Store(as_root(f"s3://{bucket}"))
    write_text(store.sweep_dir("a", "1") / "plan.json", "{}")
    assert store.sweeps() == ["a"]
    assert str(store.latest_sweep("a")) == f"s3://{bucket}/sweeps/a/1"


@pytest.mark.parametrize(
    "address",
    ["s3://", "s3:///prefix", "s3://key:word@bucket/x", "s3://bucket/../other", "s3://bucket/x?y=1", "s3://b//x"],
)
def test_an_address_that_is_none_is_refused(address: str) -> None:
    with pytest.raises(UserError, match=r"write s3://BUCKET/PREFIX"):
        as_path(address)


def test_another_kind_of_storage_is_refused() -> None:
    with pytest.raises(UserError, match=r"results can lie in a folder or under s3://BUCKET/PREFIX, not on ftp://"):
        as_path("ftp://host/x")


def test_an_error_that_is_not_the_storages_is_not_explained() -> None:
    assert explain(FileNotFoundError("no such file")) is None


def _said(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    """The one sentence a command ends with."""
    assert main(words) == 2
    said = capsys.readouterr().err
    assert said.count("\n") == 1
    return said


@pytest.mark.usefixtures("bucket")
def test_a_bucket_that_is_not_there_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    said = _said(capsys, "status", "--out", "s3://never-made/x")
    assert said.startswith("seedbed: s3://never-made/x: there is no bucket never-made; make it first")


def test_an_endpoint_that_does_not_answer_is_named(
    bucket: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from s3fs import S3FileSystem

    monkeypatch.setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:9")
    S3FileSystem.clear_instance_cache()
    try:
        said = _said(capsys, "status", "--out", f"s3://{bucket}/x")
    finally:
        S3FileSystem.clear_instance_cache()
    assert "does not answer" in said
    assert "check AWS_ENDPOINT_URL" in said


@pytest.mark.slow
def test_missing_rights_are_named(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    from s3fs import S3FileSystem

    with S3Server(closed=True) as server:
        for name, value in server.environment.items():
            monkeypatch.setenv(name, value)
        S3FileSystem.clear_instance_cache()
        try:
            said = _said(capsys, "status", "--out", "s3://lab/x")
        finally:
            S3FileSystem.clear_instance_cache()
    assert "refuses" in said
    assert "check AWS_ACCESS_KEY_ID" in said
    assert server.environment["AWS_SECRET_ACCESS_KEY"] not in said


def test_a_missing_package_is_named(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setitem(sys.modules, "upath", None)
    assert "pip install 'seedbed[s3]'" in _said(capsys, "status", "--out", "s3://bucket/x")


def test_results_on_object_storage_want_a_ledger(
    bucket: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], s3: S3Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SEEDBED_HOME", str(tmp_path / "home"))
    config = tmp_path / "sweep.yaml"
    config.write_text(
        "name: t\nseeds: [0]\nmodels: {m: {model: offline/m}}\nexperiments:\n"
        "  - {suite: crosslingual, models: [m], benchmarks: [tiny], systems: [direct]}\n"
    )
    said = _said(capsys, "run", str(config), "--out", f"s3://{bucket}/x")
    assert said.startswith(f"seedbed: field ledger: is required where results go to s3://{bucket}/x")
    assert s3.objects(bucket) == {}, "nothing is written by a run that does not start"
    assert not (tmp_path / "home" / "server.json").exists(), "and no server is started for it"


def test_what_needs_a_disk_says_so(capsys: pytest.CaptureFixture[str]) -> None:
    said = _said(capsys, "meta", "rag_quality", "--judge", "offline/judge", "--out", "s3://bucket/x")
    assert said == "seedbed: --out s3://bucket/x: must be a folder on this machine.\n"


def test_a_folder_that_cannot_be_written_is_refused_before_anything_is_made(tmp_path: Path) -> None:
    tmp_path.chmod(0o555)
    code = "import sys; from seedbed.storage.paths import as_writable_root; as_writable_root(sys.argv[1])"
    # To root everything is allowed unless it gives that up.
    as_anybody = ["setpriv", "--bounding-set=-dac_override"] if os.geteuid() == 0 else []
    done = subprocess.run(
        [*as_anybody, sys.executable, "-c", code, str(tmp_path / "a" / "b")], capture_output=True, text=True
    )
    assert f"UserError: {tmp_path}: cannot be written, so results cannot go to" in done.stderr
    assert list(tmp_path.iterdir()) == []


def test_a_file_is_no_folder_for_results(tmp_path: Path) -> None:
    (tmp_path / "taken").write_text("", encoding="utf-8")
    with pytest.raises(UserError, match="results go into a folder, but this is a file"):
        as_writable_root(str(tmp_path / "taken"))
