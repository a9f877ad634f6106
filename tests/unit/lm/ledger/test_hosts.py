"""Who writes to a ledger: processes of this machine, of others, dead ones."""

from __future__ import annotations

import logging
import os
import socket
import time
from pathlib import Path

import pytest
from sqlalchemy import insert

from seedbed.errors import UserError
from seedbed.lm.ledger import hosts, schema
from seedbed.lm.ledger.database import open_database, register_owner, split_owners, sqlite_url
from seedbed.lm.ledger.hosts import elsewhere, host, host_name, network_filesystem, process_exists


def _plant(url: str, of: str, silent_s: float = 0.0, pid: int = 1) -> int:
    engine = open_database(url)
    with engine.begin() as connection:
        row = insert(schema.owners).values(host=of, pid=pid, seen_at=time.time() - silent_s)
        key = connection.execute(row).inserted_primary_key
    engine.dispose()
    assert key is not None
    return key[0]


def test_sqlite_is_refused_while_another_host_writes_to_it(tmp_path: Path) -> None:
    url = sqlite_url(tmp_path / "ledger.sqlite")
    _plant(url, "far-away/another-boot/pid:[1]", silent_s=20)
    with pytest.raises(UserError, match=r"a process on far-away is at work on it, .*postgresql\+psycopg://"):
        register_owner(open_database(url))


@pytest.mark.parametrize("silent_s", [61.0, 1e9], ids=["a minute ago", "long ago"])
def test_sqlite_is_let_go_by_a_host_that_fell_silent(tmp_path: Path, silent_s: float) -> None:
    url = sqlite_url(tmp_path / "ledger.sqlite")
    _plant(url, "far-away/another-boot/pid:[1]", silent_s)
    assert register_owner(open_database(url)) == 2


def test_postgresql_is_shared_by_hosts(postgres: object, tmp_path: Path) -> None:
    url = postgres.database_of(tmp_path)  # type: ignore[attr-defined]
    other = _plant(url, "far-away/another-boot/pid:[1]")
    engine = open_database(url)
    mine = register_owner(engine)
    with engine.begin() as connection:
        alive, dead = split_owners(connection)
    engine.dispose()
    assert (sorted(alive), dead) == ([other, mine], [])


def test_a_container_of_this_machine_is_not_elsewhere() -> None:
    name, boot, namespace = host().split("/", 2)
    assert not elsewhere(host())
    assert not elsewhere(f"container-1/{boot}/pid:[42]")
    assert not elsewhere(f"{name}/boot-before-the-last/{namespace}")
    assert elsewhere("far-away/another-boot/pid:[1]")
    assert elsewhere("far-away//")


def test_a_writer_whose_process_is_gone_is_dead_at_once(tmp_path: Path) -> None:
    url = sqlite_url(tmp_path / "ledger.sqlite")
    child = os.fork()
    if child == 0:
        os._exit(0)
    os.waitpid(child, 0)
    gone = _plant(url, host(), pid=child)
    alive_one = _plant(url, host(), pid=os.getppid())
    engine = open_database(url)
    with engine.begin() as connection:
        assert split_owners(connection) == ([alive_one], [gone])
    engine.dispose()


def test_network_file_systems_are_told_from_local_ones(tmp_path: Path) -> None:
    mounts = tmp_path / "mounts"
    mounts.write_text(
        "/dev/sda1 / ext4 rw 0 0\nfiler:/x /home/my\\040lab nfs4 rw 0 0\ntmpfs /home/my\\040lab/fast tmpfs rw 0 0\n"
    )
    assert network_filesystem(Path("/home/my lab/runs/ledger.sqlite"), mounts) == "nfs4"
    assert network_filesystem(Path("/home/my lab/fast/ledger.sqlite"), mounts) is None
    assert network_filesystem(Path("/var/ledger.sqlite"), mounts) is None
    assert network_filesystem(Path("/var/ledger.sqlite"), tmp_path / "none") is None


def test_a_ledger_on_a_network_file_system_is_warned_of(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr("seedbed.lm.ledger.database.network_filesystem", lambda _file: "nfs4")
    with caplog.at_level(logging.WARNING):
        register_owner(open_database(sqlite_url(tmp_path / "ledger.sqlite")))
    assert "lies on a network file system (nfs4): use it from one host only" in caplog.text


@pytest.mark.parametrize(("mask", "mode"), [(None, 0o600), ("022", 0o644)])
def test_a_ledger_is_private_unless_the_user_shares(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, mask: str | None, mode: int
) -> None:
    if mask is not None:
        monkeypatch.setenv("SEEDBED_UMASK", mask)
    open_database(sqlite_url(tmp_path / "ledger.sqlite")).dispose()
    assert (tmp_path / "ledger.sqlite").stat().st_mode & 0o777 == mode


def test_people_know_a_machine_by_its_name() -> None:
    assert host_name("far-away/another-boot/pid:[1]") == "far-away"
    assert host_name(host()) == socket.gethostname()


@pytest.mark.parametrize(
    ("own_boot", "other", "apart"),
    [
        ("", "far-away//", True),
        ("", "far-away/boot/pid:[1]", True),
        ("", "here//", False),
        ("boot", "far-away//", True),
        ("boot", "here/other/pid:[1]", False),
        ("boot", "an-old-entry", True),
    ],
)
def test_machines_that_cannot_tell_their_start_are_told_by_their_names(
    monkeypatch: pytest.MonkeyPatch, own_boot: str, other: str, apart: bool
) -> None:
    monkeypatch.setattr(hosts, "host", lambda: f"here/{own_boot}/pid:[1]")
    assert elsewhere(other) is apart


def test_a_killed_process_that_is_still_listed_exists_no_more() -> None:
    child = os.fork()
    if child == 0:
        os._exit(0)
    os.waitid(os.P_PID, child, os.WEXITED | os.WNOWAIT)
    try:
        assert not process_exists(child)
    finally:
        os.waitpid(child, 0)
    assert not process_exists(child)


def test_a_process_of_another_user_exists(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(_pid: int, _signal: int) -> None:
        raise PermissionError

    monkeypatch.setattr(hosts.os, "kill", refuse)
    assert process_exists(12345)


def test_where_processes_are_not_listed_one_that_takes_signals_exists(monkeypatch: pytest.MonkeyPatch) -> None:
    taken: list[tuple[int, int]] = []
    monkeypatch.setattr(hosts.os, "kill", lambda *sent: taken.append(sent))
    monkeypatch.setattr(hosts, "Path", lambda _: Path("/nowhere"))
    assert process_exists(12345)
    assert taken == [(12345, 0)], "a signal that does nothing"


def test_of_a_list_of_mounts_only_whole_lines_are_read(tmp_path: Path) -> None:
    mounts = tmp_path / "mounts"
    mounts.write_text("filer /home\nfiler:/x /lab nfs4\n\n")
    assert network_filesystem(Path("/lab/ledger.sqlite"), mounts) == "nfs4"
    assert network_filesystem(Path("/home/ledger.sqlite"), mounts) is None
