"""Twelve secrets of different shapes, quoted by an endpoint in answers and errors and by a plugin in its exceptions: a
grep over everything that was written finds none."""

from __future__ import annotations

import io
import json
import os
import sqlite3
import sys
import threading
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import closing
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import chain
from pathlib import Path

import pytest

from seedbed.lm.ledger.database import open_database
from tests.support import forked

NAMED = {
    "AZURE_OPENAI_KEY": "azure\"odd'key\\with&<signs>|4711",
    "LAB_ACCESS": "plain-looking-word-4711",
    "OPENAI_API_KEY": "0123456789abcdef0123456789abcdef",
    "LAB_DATABASE_URL": "postgresql://lab:pa55-of-the-lab@db/x",
}
SHAPED = [
    "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.c2lnbmF0dXJlNDcxMQ",
    "github_pat_11ABCDEFG0abcdefghijkl_mnopqrstuvwxyz4711",
    "nvapi-abcdefghijklmnopqrst4711ABCD",
    "services/T0000AAAA/B0000BBBB/abcdefgh12345678",
    "AKIAABCDEFGHIJKL4711",
    "sk-ant-api03-abcdefghijklmnop4711",
    "xoxb-123456789012-abcdefghijkl4711",
    "hf_abcdefghijklmnopqrsT4711",
]
SECRETS = [*list(NAMED.values())[:3], "pa55-of-the-lab", *SHAPED]
ECHO = " ".join(f"https://hooks.slack.com/{secret}" if secret.startswith("services/") else secret for secret in SECRETS)

PLUGIN = """\
import os
from pathlib import Path
import dspy
from seedbed import Answer, Benchmark, BenchmarkSpec, Case, Metric, ScoreRow, Suite, SystemSpec, register_suite

def load(options):
    return Benchmark("numbers", [Case(f"q{n}", {"question": f"Is {n} even?"}, gold="yes") for n in range(6)])

async def score(context, cases, predictions):
    if context.cell.system == "breaks" and "BREAKS" in os.environ:
        raise (RuntimeError if context.cell.model == "a" else SystemExit)("no luck with " + os.environ["ECHO"])
    rows = []
    for case in cases:
        match predictions[case.sample_id]:
            case Answer(_, output):
                rows.append(ScoreRow(case.sample_id, "ok", {"right": 1.0}, details={"said": str(output)}))
            case failure:
                rows.append(ScoreRow(case.sample_id, "error", details={"said": str(failure.error)}))
    return rows

def aggregate(rows):
    right = [1.0 for row in rows if row.status == "ok"]
    return {"right": 1.0 if right else None, "n": len(right), "n_errors": len(rows) - len(right), "n_skipped": 0}

def system(context, options):
    return dspy.Predict("question -> answer")

register_suite(Suite(name="leaky", title="Leaky", version="1",
    benchmarks={"numbers": BenchmarkSpec(load, data=Path(__file__))},
    systems={"asks": SystemSpec(system), "breaks": SystemSpec(system)},
    score=score, aggregate=aggregate, metrics=(Metric("right", "Right", kind="rate"),)))
"""
SWEEP = """\
name: tryout
seeds: [0]
models:
  a: {{model: openai/x, api_base: "{base}", api_key_env: AZURE_OPENAI_KEY, retries: 0, price: {{input: 1, output: 1}}}}
  b: {{model: openai/y, api_base: "{base}", api_key_env: LAB_ACCESS, retries: 0, price: {{input: 1, output: 1}}}}
experiments:
  - {{suite: leaky, models: [a, b], benchmarks: [numbers], systems: [asks, breaks]}}
plugins: [leaky_suite]
max_error_share: 0.6
"""


class _Tattler(BaseHTTPRequestHandler):
    """Refuses questions about odd numbers; answers and refusals quote all they know."""

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["content-length"])).decode()
        odd = any(f"Is {number} even?" in body for number in (1, 3, 5))
        text = f"[[ ## answer ## ]]\nyes {ECHO}\n\n[[ ## completed ## ]]"
        ok = {"choices": [{"message": {"role": "assistant", "content": text}, "finish_reason": "stop"}],
              "id": ECHO, "model": ECHO, "system_fingerprint": ECHO, "service_tier": ECHO, "provider": ECHO,
              "usage": {"prompt_tokens": 5, "completion_tokens": 5, "more": ECHO, ECHO: 1}}  # fmt: skip
        # Padded so that a cut at 300 characters falls into the middle of a secret.
        wrong = {"error": {"message": f"{self.headers['authorization']} {ECHO} {'.' * 90} {SECRETS[2]}"}}
        status, reply = (400, wrong) if odd else (200, ok)
        data = json.dumps(reply).encode()
        self.send_response(status)
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_: object) -> None:
        return


@pytest.fixture
def tattler() -> Iterator[str]:
    serving = ThreadingHTTPServer(("127.0.0.1", 0), _Tattler)
    threading.Thread(target=serving.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{serving.server_port}/v1"
    serving.shutdown()


def _inside(name: str, data: bytes) -> Iterator[tuple[str, bytes]]:
    """A file, and what only a program sees in it: members of a zip, long values and packed bodies of a database."""
    yield name, data
    if data.startswith(b"PK"):
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            for member in archive.namelist():
                yield from _inside(f"{name}/{member}", archive.read(member))
    elif data.startswith(b"SQLite format 3"):
        with closing(sqlite3.connect(":memory:")) as connection:
            # A log beside it would be missed; whoever is at work on a file is asked through it.
            connection.deserialize(data[:18] + b"\1\1" + data[20:])
            yield from _values(name, connection)


def _values(name: str, connection: sqlite3.Connection) -> Iterator[tuple[str, bytes]]:
    tables = [row[0] for row in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
    for table in tables:
        for row in connection.execute(f'SELECT * FROM "{table}"'):
            for value in row:
                if isinstance(value, str):
                    yield f"{name}:{table}", value.encode("utf-8", "replace")
                elif isinstance(value, bytes):
                    yield f"{name}:{table}", zlib.decompress(value) if value.startswith(b"\x78") else value


def _everything(folder: Path) -> Iterator[tuple[str, bytes]]:
    for file in folder.rglob("*"):
        if file.is_file():
            yield from _inside(file.name, file.read_bytes())
            if file.suffix in (".sqlite", ".db"):
                with closing(sqlite3.connect(f"file:{file}?mode=ro", uri=True)) as connection:
                    yield from _values(file.name, connection)


def _found(data: bytes, where: str) -> list[tuple[str, str]]:
    forms = {secret: {secret, json.dumps(secret)[1:-1]} for secret in SECRETS}
    # The first half is too much too.
    halves = {secret: {form[: max(12, len(form) // 2)] for form in own} for secret, own in forms.items()}
    return [(where, secret) for secret, own in halves.items() if any(form.encode() in data for form in own)]


def test_no_planted_secret_is_found_in_anything_that_was_written(
    seedbed_home: Path, tmp_path: Path, tattler: str
) -> None:
    (tmp_path / "leaky_suite.py").write_text(PLUGIN, encoding="utf-8")
    (tmp_path / "sweep.yaml").write_text(SWEEP.format(base=tattler), encoding="utf-8")
    environment = {**os.environ, **NAMED, "ECHO": ECHO, "BREAKS": "1"}

    def seedbed(*words: str) -> str:
        command = [sys.executable, "-m", "seedbed", *words]
        done = forked.run(command, capture_output=True, text=True, timeout=600, env=environment, cwd=tmp_path)
        assert done.returncode in (0, 1), done.stderr
        return done.stdout + done.stderr

    out = str(tmp_path / "out")
    said = seedbed("run", "sweep.yaml", "--out", out)
    for command in (["report", "tryout"], ["export", "tryout"], ["costs", "tryout"]):
        said += seedbed(*command, "--out", out)
    said += seedbed("ledger", "export", "--out", out, "--to", str(tmp_path / "out" / "ledger.jsonl"))
    del environment["BREAKS"]
    said += seedbed("run", "sweep.yaml", "--out", out)
    said += seedbed("baseline", "accept", "tryout", "--out", out)
    said += seedbed("export", "tryout", "--out", out, "--archive", str(tmp_path / "out" / "run.zip"))
    assert "[redacted]" in said, "there was something to mask"
    found, seen = _found(said.encode(), "terminal"), set[str]()
    for where, data in chain(_everything(tmp_path / "out"), _everything(seedbed_home)):
        found += _found(data, where)
        seen.add(where)
    assert sorted(set(found)) == []
    # All places were looked into.
    looked = {
        "ledger.sqlite:responses",
        "ledger.sqlite:requests",
        "prefect.db:artifact",
        "prefect.db:log",
        "v0001.json",
    }
    assert looked <= seen, seen
    assert any(where.startswith("run.zip/") and where.endswith(":responses") for where in seen), seen


def test_the_ledger_is_for_this_user_alone(tmp_path: Path) -> None:
    open_database(f"sqlite:///{tmp_path / 'new' / 'ledger.sqlite'}").dispose()
    assert (tmp_path / "new" / "ledger.sqlite").stat().st_mode & 0o077 == 0
