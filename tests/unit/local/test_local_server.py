"""What is written down of the local server is believed only as far as the process proves it."""

from __future__ import annotations

import json
import stat
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from seedbed.cli.main import main
from seedbed.errors import UserError
from seedbed.local import server
from seedbed.local.identity import SERVER_MODULE, birth
from tests.support.sweeps import OFFLINE


@pytest.fixture
def own_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("SEEDBED_HOME", str(tmp_path / "home"))
    (tmp_path / "home").mkdir()
    return tmp_path / "home"


@pytest.fixture
def innocent() -> Iterator[subprocess.Popen[bytes]]:
    """A process group of somebody else."""
    process = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE, start_new_session=True)
    yield process
    process.kill()
    process.wait()


@pytest.mark.parametrize("text", ["", "{", "[]", "null", '{"pid": 1}', '{"pid": "x", "port": 1, "born": ""}', "\x00"])
def test_a_broken_record_of_the_server_is_no_server(own_home: Path, text: str) -> None:
    (own_home / "server.json").write_text(text, encoding="utf-8")
    assert server.running() is None
    assert not server.stop()
    assert main(["server", "status"]) == 1


def test_a_process_that_has_the_number_of_the_old_server_is_left_alone(
    own_home: Path, innocent: subprocess.Popen[bytes]
) -> None:
    record = {"pid": innocent.pid, "port": 4200, "born": "1"}
    (own_home / "server.json").write_text(json.dumps(record), encoding="utf-8")
    assert not server.stop()
    assert innocent.poll() is None


def test_even_with_the_right_time_of_birth_a_program_that_is_no_server_is_left_alone(
    own_home: Path, innocent: subprocess.Popen[bytes]
) -> None:
    born = Path(f"/proc/{innocent.pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()[19]
    record = {"pid": innocent.pid, "port": 4200, "born": born}
    (own_home / "server.json").write_text(json.dumps(record), encoding="utf-8")
    assert birth(innocent.pid) is None
    assert not server.stop()
    assert innocent.poll() is None


def test_the_auth_string_is_made_once_and_for_this_user_alone(own_home: Path) -> None:
    made = server.auth_string()
    assert len(made) > 40
    assert server.auth_string() == made
    assert stat.S_IMODE((own_home / "server.auth").stat().st_mode) == 0o600
    assert [file.name for file in own_home.iterdir()] == ["server.auth"]


@pytest.mark.parametrize("text", ["http", "-1", "70000", ""])
def test_a_port_that_is_none_is_said(own_home: Path, monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    monkeypatch.setenv("SEEDBED_PORT", text)
    with pytest.raises(UserError, match="SEEDBED_PORT"):
        server.start()


def test_a_server_that_does_not_answer_is_not_ended_by_who_wants_one(
    own_home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(server, "START_TIMEOUT_S", 0.0)
    program = "import sys; print('here', flush=True); sys.stdin.read()"
    with subprocess.Popen(
        [sys.executable, "-c", program, SERVER_MODULE], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as busy:
        assert busy.stdout is not None
        # Only then does the system tell its command line.
        assert busy.stdout.readline() == b"here\n"
        record = {"pid": busy.pid, "port": 9, "born": birth(busy.pid)}
        (own_home / "server.json").write_text(json.dumps(record), encoding="utf-8")
        with pytest.raises(UserError, match="does not answer"):
            server.start()
        assert busy.poll() is None
        busy.kill()


@pytest.mark.parametrize("place", ["taken", "taken/home"])
def test_a_home_that_cannot_be_made_is_a_sentence_and_leaves_no_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], place: str
) -> None:
    (tmp_path / "taken").write_text("", encoding="utf-8")
    (tmp_path / "tryout.yaml").write_text(OFFLINE, encoding="utf-8")
    monkeypatch.setenv("SEEDBED_HOME", str(tmp_path / place))
    monkeypatch.delenv("PREFECT_API_URL", raising=False)
    assert main(["run", str(tmp_path / "tryout.yaml"), "--out", str(tmp_path / "out")]) == 2
    printed = capsys.readouterr()
    told = printed.err.splitlines()
    assert len(told) == 1
    assert "name another with SEEDBED_HOME" in told[0]
    assert printed.out == "", "no server is said to start"
    assert not (tmp_path / "out" / "sweeps").exists()


def test_a_run_that_cannot_reach_its_server_leaves_no_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "tryout.yaml").write_text(OFFLINE, encoding="utf-8")
    monkeypatch.setenv("PREFECT_API_URL", "http://127.0.0.1:9/api")
    assert main(["run", str(tmp_path / "tryout.yaml"), "--out", str(tmp_path / "out")]) == 2
    assert "no server answers there" in capsys.readouterr().err
    assert not (tmp_path / "out" / "sweeps").exists()
