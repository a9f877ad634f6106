"""A whole search whose calls all wait for batches ends in the program that normal calls end in, at half their price."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from seedbed.lm.runtime import close_runtimes
from tests.support.batch_loopback import BatchLoopback
from tests.support.cells import prepared
from tests.support.lm import sums

pytestmark = pytest.mark.slow

_CONFIG = """\
name: searched
seeds: [0]
models:
  m:
    model: openai/loop
    api_base: {url}
    temperature: 0.7
    max_tokens: 300
    price: {{input: 2.0, output: 8.0}}
    backoff_s: 0.02
    service: {service}
    batch: {{size: 8, age_s: 0.05, poll_s: 0.02, settle_s: 0.5, optimise: batch}}
experiments:
  - suite: prompt_optimization
    models: [m]
    benchmarks: [{{name: AIMEBench, repeats: 1, max_train: 4, max_val: 4, limit: 4}}]
    systems: [CoT]
    optimizers: [{optimizer}]
"""


@dataclass(frozen=True)
class Search:
    """What it left, what it cost, and what the server billed for it."""

    files: dict[str, bytes]
    candidates: list[dict[str, Any]]
    """Without their seconds and dollars."""
    list_usd: list[float]
    spent_usd: float
    billed_usd: float
    """At the price of normal calls."""
    server: BatchLoopback


def _search(folder: Path, service: str, optimizer: str) -> Search:
    folder.mkdir()
    server = BatchLoopback(fail={"server": 0.05, "expired": 0.05})
    with server:
        config = folder / "searched.yaml"
        config.write_text(_CONFIG.format(url=server.url, service=service, optimizer=optimizer), encoding="utf-8")
        ready = prepared(config, folder / "out")
        cell = ready.plan.cells[0]
        try:
            ready.phase(cell, "optimise")
            ready.phase(cell, "generate")
        finally:
            close_runtimes()
    rows = ready.rows(cell, "candidates.jsonl")
    list_usd = [row.pop("list_usd") for row in rows if "list_usd" in row]
    for row in rows:
        row.pop("seconds", None)
    books = server.books
    return Search(
        {name: (ready.folder(cell) / name).read_bytes() for name in ("program.json", "predictions.jsonl")},
        rows,
        list_usd,
        sums(folder / "out").spent_usd,
        (2.0 * books.tokens_in + 8.0 * books.tokens_out) / 1e6,
        server,
    )


@pytest.mark.parametrize("optimizer", ["GEPA-5", "MIPROv2-Light"])
def test_a_search_in_batches_ends_as_one_by_normal_calls_at_half_its_price(
    optimizer: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "a-key-of-nobody")
    normal = _search(tmp_path / "normal", "online", optimizer)
    batched = _search(tmp_path / "batched", "batch", optimizer)
    assert batched.server.online == 0
    assert len(batched.server.made) > 10
    assert (batched.files, batched.candidates) == (normal.files, normal.candidates)
    assert batched.server.books.answered == normal.server.books.answered > 20
    assert normal.spent_usd == pytest.approx(normal.billed_usd, abs=1e-9, rel=0)
    assert batched.spent_usd == pytest.approx(batched.billed_usd / 2, abs=1e-9, rel=0)
    assert [2 * usd for usd in batched.list_usd] == pytest.approx(normal.list_usd, abs=1e-9, rel=0)
