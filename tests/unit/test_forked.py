"""Programs that tests fork are processes like those that `subprocess` starts."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support import forked

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(sys.platform != "linux", reason="nothing is forked here"),
]
TELLS = """\
import os, sys
print(os.getcwd(), sys.argv[1:], os.environ.get("COLOUR"), "PATH" in os.environ, "prefect" in sys.modules)
sys.exit(sys.stdin.read())
"""


def test_it_has_the_folder_words_variables_and_streams_it_is_given(tmp_path: Path) -> None:
    (tmp_path / "tells.py").write_text(TELLS, encoding="utf-8")
    command = [sys.executable, "-m", "tells", "a", "b c"]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    with forked.Popen(command, cwd=tmp_path, env={"COLOUR": "red"}, text=True, **pipes) as process:
        out, err = process.communicate("a last word")
    assert out == f"{tmp_path} ['a', 'b c'] red False False\n"
    assert (process.returncode, err) == (1, "a last word\n")


def test_it_is_a_child_that_is_killed_and_waited_for(tmp_path: Path) -> None:
    (tmp_path / "waits.py").write_text("print(flush=True)\nimport time\ntime.sleep(600)\n", encoding="utf-8")
    process = forked.Popen([sys.executable, "-m", "waits"], cwd=tmp_path, stdout=subprocess.PIPE)
    assert process.stdout is not None
    process.stdout.readline()
    parent = Path(f"/proc/{process.pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()[1]
    assert int(parent) == os.getpid()
    process.kill()
    process.communicate()
    assert process.returncode == -signal.SIGKILL


def test_what_it_fails_with_is_a_traceback_and_1(tmp_path: Path) -> None:
    (tmp_path / "fails.py").write_text("raise ValueError('no luck')\n", encoding="utf-8")
    done = forked.run([sys.executable, "-m", "fails"], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 1
    assert done.stderr.splitlines()[-1] == "ValueError: no luck"
