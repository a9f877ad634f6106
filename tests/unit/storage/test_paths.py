"""Addresses of results: folders as they are, object storage by its address, anything else in one sentence."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
from pathlib import Path
from typing import Any, cast

import pytest
from botocore.exceptions import ClientError, ConnectTimeoutError, NoCredentialsError

from seedbed.cli.main import main
from seedbed.errors import UserError
from seedbed.storage import paths
from seedbed.storage.hashing import hash_file
from seedbed.storage.paths import (
    as_path,
    as_root,
    as_writable_root,
    explain,
    explain_disk,
    file_mask,
    home,
    is_hub,
    is_local,
    is_storage_fault,
    local_path,
    read_bytes,
    safe_name,
)
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


def refused(code: str, status: int = 400, **told: str) -> ClientError:
    """What botocore raises where the storage answers with an error."""
    response: Any = {"Error": {"Code": code, **told}, "ResponseMetadata": {"HTTPStatusCode": status}}
    return ClientError(response, "PutObject")


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (refused("NoSuchBucket", 404, BucketName="lab"), "there is no bucket lab; make it first, "),
        (refused("NoSuchBucket", 404), "there is no bucket of this name; make it first, "),
        (refused("InvalidToken", 401), "the object storage refuses (InvalidToken); check AWS_ACCESS_KEY_ID, "),
        (refused("AccessDenied", 403), "the object storage refuses (AccessDenied); check AWS_ACCESS_KEY_ID, "),
        (refused("SlowDown", 503, Message="Reduce."), "the object storage failed (SlowDown: Reduce.)."),
        (refused("Odd", 402), "the object storage failed (Odd: An error occurred (Odd) when calling the PutObject"),
        (NoCredentialsError(), "no credentials were found; set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or"),
        (ConnectTimeoutError(endpoint_url="http://x"), "the object storage does not answer (Connect timeout on"),
    ],
)
def test_what_object_storage_has_against_us_is_told_with_what_to_do(error: Exception, said: str) -> None:
    wrapped = RuntimeError("while writing")
    wrapped.__cause__ = error
    for raised in (error, wrapped):
        assert (explain(raised) or "").startswith(said)
        assert is_storage_fault(raised)


def test_the_storage_is_not_to_blame_for_other_errors() -> None:
    assert not is_storage_fault(None)
    assert not is_storage_fault(ValueError("no luck"))


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (OSError(28, "No space left on device", "/lab/x"), "/lab/x: No space left on device; make room on its disk"),
        (OSError(13, "Permission denied"), "Permission denied; make it writable for this user, or name another place."),
        (OSError(2, "No such file", "/lab/x"), None),
        (ValueError("no luck"), None),
    ],
)
def test_what_a_disk_has_against_us_is_told_with_what_to_do(error: Exception, said: str | None) -> None:
    for told in (explain(error), explain_disk(error)):
        assert told is None if said is None else (told or "").startswith(said)


@pytest.mark.parametrize(
    ("endpoint", "direct"),
    [
        ("http://127.0.0.1:9000", True), ("http://127.8.0.1", True), ("http://localhost:9000", True),
        ("https://s3.lab.test", False), ("https://lab.test/localhost", False), ("", False),
    ],
)  # fmt: skip
def test_the_loopback_is_not_asked_by_a_proxy(monkeypatch: pytest.MonkeyPatch, endpoint: str, direct: bool) -> None:
    monkeypatch.delenv("AWS_ENDPOINT_URL_S3", raising=False)
    monkeypatch.setenv("AWS_ENDPOINT_URL", endpoint)
    options = cast("Any", as_path("s3://lab/x")).storage_options
    patience = {"connect_timeout": 10, "read_timeout": 60, "retries": {"mode": "standard", "total_max_attempts": 4}}
    assert options["config_kwargs"] == {**patience, **({"proxies": {}} if direct else {})}
    assert options["use_listings_cache"] is False


def test_the_endpoint_of_s3_alone_comes_before_that_of_all_services(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:9000")
    monkeypatch.setenv("AWS_ENDPOINT_URL_S3", "https://s3.lab.test")
    assert "proxies" not in cast("Any", as_path("s3://lab/x")).storage_options["config_kwargs"]


@pytest.mark.parametrize(("scheme", "package"), [("gs", "gcsfs universal-pathlib"), ("az", "adlfs universal-pathlib")])
def test_other_storage_needs_its_own_package(monkeypatch: pytest.MonkeyPatch, scheme: str, package: str) -> None:
    monkeypatch.setitem(sys.modules, "upath", None)
    with pytest.raises(UserError, match=f"{scheme}://lab/x: {scheme}:// needs more packages .*; pip install {package}"):
        as_path(f"{scheme}://lab/x")


def test_storage_that_is_not_s3_is_reached_before_anything_is_done(monkeypatch: pytest.MonkeyPatch) -> None:
    class Closed:
        """A file system that nobody may ask."""

        def exists(self, name: str) -> bool:
            raise PermissionError(13, "Permission denied", name)

    class Remote:
        fs, path, storage_options = Closed(), "lab/x", {}

    monkeypatch.setattr(paths, "as_path", lambda text: Remote())
    with pytest.raises(UserError, match="gs://lab/x: lab/x: Permission denied; make it writable"):
        as_root("gs://lab/x")


def test_an_object_is_read_with_one_request(bucket: str, s3: S3Server) -> None:
    root = as_root(f"s3://{bucket}/lab")
    write_text(root / "x", "text")
    s3.requests(bucket)
    for read in (read_bytes, hash_file):
        assert read(root / "x") in (b"text", hashlib.sha256(b"text").hexdigest())
        assert [asked.split("?")[0] for asked in s3.requests(bucket)] == [f"GET /{bucket}/lab/x"]


def test_a_folder_on_this_machine_is_one() -> None:
    assert local_path("out", "--out") == Path("out")
    with pytest.raises(UserError, match="--out is empty; name a place"):
        local_path("", "--out")


@pytest.mark.parametrize("name", ["a", "A.b_c-9", "x" * 80])
def test_a_name_for_files_stays_as_it_is(name: str) -> None:
    assert safe_name(name) == name


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("", "'' goes into file names: use letters, digits"),
        ("a b", "'a b' goes into file names: use letters, digits"),
        ("../a", "'../a' goes into file names: use letters, digits"),
        (".a", "'.a' goes into file names: use letters, digits"),
        ("x" * 81, f"'{'x' * 20}'... goes into file names: use at most 80 characters"),
    ],
)
def test_a_name_that_cannot_be_part_of_a_path_is_refused(name: str, said: str) -> None:
    with pytest.raises(ValueError, match="goes into file names") as told:
        safe_name(name)
    assert str(told.value).startswith(said)


@pytest.mark.parametrize(("text", "mask"), [("", 0o077), ("077", 0o077), ("27", 0o027), ("0022", 0o022), ("0", 0)])
def test_a_mask_is_octal(monkeypatch: pytest.MonkeyPatch, text: str, mask: int) -> None:
    monkeypatch.setenv("SEEDBED_UMASK", text)
    assert file_mask() == mask


@pytest.mark.parametrize("text", ["8", "u=rwx", "00077"])
def test_a_mask_that_is_none_is_refused(monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    monkeypatch.setenv("SEEDBED_UMASK", text)
    with pytest.raises(UserError, match=f"SEEDBED_UMASK is '{text}'; give three octal digits such as 077 or 027."):
        file_mask()


def test_the_home_is_the_users_unless_a_variable_says_otherwise(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SEEDBED_HOME", "/lab/home")
    assert home() == Path("/lab/home")
    monkeypatch.setenv("SEEDBED_HOME", "")
    monkeypatch.setenv("HOME", "/home/somebody")
    assert home() == Path("/home/somebody/.seedbed")


def test_a_data_set_of_the_hub_is_no_file() -> None:
    assert is_hub(Path("hf:lab/set"))
    assert not is_hub(Path("data/hf:x"))


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
