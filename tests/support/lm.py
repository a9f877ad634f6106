"""What the LM tests share: a runtime on a ledger in a temporary folder, models on the loopback server, and sums."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sqlalchemy import text

from seedbed.lm.ledger import CallScope, Cap
from seedbed.lm.ledger.database import open_database, reading, sqlite_url
from seedbed.lm.runtime import LMRuntime
from seedbed.sweep.model_config import ModelConfig
from tests.support.loopback import Loopback

PRICE = {"input": 2.0, "output": 8.0, "cached_input": 0.5}


def model(server: Loopback, **changes: Any) -> ModelConfig:
    settings: dict[str, Any] = {
        "model": "openai/loop",
        "api_base": server.url,
        "temperature": 0.7,
        "max_tokens": 200,
        "price": PRICE,
        "timeout_s": 120.0,
        "retries": 6,
        "backoff_s": 0.01,
        "limits": {"concurrency": 64},
    }
    return ModelConfig.model_validate(settings | changes)


def scope(**changes: Any) -> CallScope:
    settings: dict[str, Any] = {
        "sweep": "s",
        "cell": "c",
        "phase": "generate",
        "role": "task",
        "execution": "e1",
        "model": "m",
        "seed": 0,
    }
    return CallScope(**(settings | changes))


def ledger_url(folder: Path) -> str:
    """The ledger of a folder; the fixture `each_ledger` puts it elsewhere."""
    return sqlite_url(folder / "ledger.sqlite")


def located(folder: Path) -> list[str]:
    """The option that leads `seedbed ledger` to it."""
    url = ledger_url(folder)
    return ["--out", str(folder)] if url.startswith("sqlite") else ["--ledger", url]


@contextmanager
def runtime(
    folder: Path, server: Loopback, *, store_bodies: bool = True, replay: bool = False, **changes: Any
) -> Iterator[LMRuntime]:
    made = LMRuntime(ledger_url(folder), {"m": model(server, **changes)}, store_bodies=store_bodies, replay=replay)
    try:
        yield made
    finally:
        made.close()


@dataclass(frozen=True)
class Sums:
    """What the ledger says, over all its attempts."""

    calls: int
    tokens_in: int
    tokens_out: int
    tokens_cached: int
    spent_usd: float
    at_risk_usd: float
    outcomes: dict[str, int]
    in_flight: int
    estimated: int


def sums(folder: Path, where: str = "1=1") -> Sums:
    engine = open_database(ledger_url(folder))
    with reading(engine) as connection:
        billed = connection.execute(
            text(
                "SELECT count(*), coalesce(sum(tokens_in),0), coalesce(sum(tokens_out),0), "
                "coalesce(sum(tokens_cached),0), coalesce(sum(CAST(estimated AS INTEGER)),0) "
                f"FROM attempts WHERE {where} AND outcome IN ('paid','failed') AND tokens_in IS NOT NULL"
            )
        ).one()
        money = connection.execute(
            text(f"SELECT coalesce(sum(spent_usd),0), coalesce(sum(at_risk_usd),0) FROM attempts WHERE {where}")
        ).one()
        rows = connection.execute(text(f"SELECT outcome, count(*) FROM attempts WHERE {where} GROUP BY outcome"))
        found: dict[str, int] = dict(rows.all())  # type: ignore[arg-type]
    engine.dispose()
    return Sums(*billed[:4], *money, found, found.get(None, 0), billed[4])


def dollars(tokens_in: int, tokens_out: int, cached: int = 0) -> float:
    return ((tokens_in - cached) * PRICE["input"] + cached * PRICE["cached_input"] + tokens_out * PRICE["output"]) / 1e6


def assert_books_agree(folder: Path, server: Loopback) -> Sums:
    """The ledger's sums are the server's, to the token and to 1e-9 dollars."""
    found, books = sums(folder), server.books
    assert found.in_flight == 0
    assert (found.tokens_in, found.tokens_out, found.tokens_cached) == (
        books.tokens_in,
        books.tokens_out,
        books.tokens_cached,
    )
    assert abs(found.spent_usd - dollars(books.tokens_in, books.tokens_out, books.tokens_cached)) < 1e-9
    assert found.calls == books.answered
    return found


def budget_row(folder: Path, name: str) -> tuple[float, float]:
    engine = open_database(ledger_url(folder))
    with reading(engine) as connection:
        row = connection.execute(text("SELECT used_usd, reserved_usd FROM budgets WHERE scope = :s"), {"s": name}).one()
    engine.dispose()
    return row[0], row[1]


def caps(max_usd: float, name: str = "sweep:s") -> tuple[Cap, ...]:
    return (Cap(name, max_usd),)
