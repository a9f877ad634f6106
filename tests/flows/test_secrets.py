"""A secret in the environment, in a provider's error text or in a config is found in no file, log or database."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from tests.flows.conftest import RunSweep

SECRET = "plain-looking-word-4711"  # nothing about it says key: only the variable's name does
SWEEP = """\
name: tryout
seeds: [0]
models:
  gpt: {{model: openai/gpt-4.1-mini, api_base: "{base}", api_key_env: PLANTED_API_KEY, retries: 1, backoff_s: 0.01}}
experiments:
  - suite: crosslingual
    models: [gpt]
    benchmarks: [{{name: tiny, limit: 3}}]
    systems: [direct]
"""


class _Tattler(BaseHTTPRequestHandler):
    """Answers every call with an error that quotes the key it was sent, as real providers do."""

    status = 400

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["content-length"]))
        body = json.dumps({"error": {"message": f"bad request with {self.headers['authorization']}"}}).encode()
        self.send_response(self.status)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        return


@pytest.fixture
def tattler() -> Iterator[str]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Tattler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}/v1"
    server.shutdown()


def files_with(secret: str, *folders: Path) -> list[Path]:
    needle = secret.encode()
    return [p for folder in folders for p in folder.rglob("*") if p.is_file() and needle in p.read_bytes()]


@pytest.mark.parametrize("status", [400, 401])
def test_a_key_quoted_by_a_provider_is_written_nowhere(
    run_sweep: RunSweep, tattler: str, seedbed_home: Path, monkeypatch: pytest.MonkeyPatch, status: int
) -> None:
    monkeypatch.setattr(_Tattler, "status", status)
    run = run_sweep(SWEEP.format(base=tattler), env={"PLANTED_API_KEY": SECRET})
    # A refused key is the user's to mend.
    assert run.code == (2 if status == 401 else 1)
    assert "[redacted]" in run.out, "the error was reported, so there was something to mask"
    assert SECRET not in run.out + run.err
    assert files_with(SECRET, run.root, seedbed_home) == []


def test_a_key_in_a_config_is_refused_and_not_repeated(run_sweep: RunSweep, seedbed_home: Path) -> None:
    key = "sk-abcdefghijklmnopqr47"
    run = run_sweep(SWEEP.format(base="http://127.0.0.1:9/v1").replace("retries: 1", f"extra: {{user: {key}}}"))
    assert run.code == 2
    assert "field models.gpt.extra.user: holds a secret" in run.err
    assert key not in run.out + run.err
    assert files_with(key, seedbed_home) == []
