"""What the tests of the ledger share: attempts on record as a test wants them, without any calls."""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import orjson
import pytest
from sqlalchemy import Engine, insert, select

from seedbed.lm.ledger import schema
from seedbed.lm.ledger.account import IDS
from seedbed.lm.ledger.database import open_database, sqlite_url


@pytest.fixture
def engine(tmp_path: Path) -> Iterator[Engine]:
    """An empty ledger."""
    made = open_database(sqlite_url(tmp_path / "ledger.sqlite"))
    yield made
    made.dispose()


def attempt(number: int, /, **changes: Any) -> dict[str, Any]:
    """A paid call of the first writer; what is left out of an attempt in flight is empty."""
    owner = changes.get("owner", 1)
    row = {
        "id": owner * IDS + number, "owner": owner, "sweep": "s", "cell": "c", "phase": "generate", "role": "task",
        "execution": "e", "sample": None, "model": "m", "key": f"k{number}", "number": 1, "generation": 0,
        "outcome": "paid", "tokens_in": 10, "tokens_out": 2, "tokens_cached": 0, "tokens_reasoning": 0,
        "usage_more": None, "answered_by": None, "fingerprint": None, "provider": None, "service_tier": None,
        "estimated": False, "reserved_usd": 1.0, "spent_usd": 0.5, "list_usd": 0.5, "at_risk_usd": 0.0,
        "started_at": 100.0, "latency_s": 1.0, "error_class": None, "error": None,
    }  # fmt: skip
    return row | changes


NO_END: dict[str, Any] = {
    **dict.fromkeys(("tokens_in", "tokens_out", "tokens_cached", "tokens_reasoning")),
    **dict.fromkeys(("outcome", "spent_usd", "list_usd", "at_risk_usd", "latency_s")),
}
"""What an attempt in flight has not got yet."""
FAILED: dict[str, Any] = {
    **dict.fromkeys(("tokens_in", "tokens_out", "tokens_cached", "tokens_reasoning")),
    "outcome": "failed",
    "spent_usd": 0.0,
    "list_usd": 0.0,
}


def put(engine: Engine, *rows: dict[str, Any]) -> None:
    """Attempts on record, and their writers, which have signed off unless they were there before."""
    o = schema.owners
    with engine.begin() as connection:
        known = set(connection.scalars(select(o.c.id)))
        for owner in sorted({row["owner"] for row in rows} - known):
            connection.execute(insert(o).values(id=owner, host="here", pid=1, seen_at=0.0))
        connection.execute(insert(schema.attempts), list(rows))


def keep(engine: Engine, key: str, *, request: Any = None, response: Any = None, generation: int = 0) -> None:
    """Bodies on record under a key."""
    counts = dict.fromkeys(("tokens_in", "tokens_out", "tokens_cached", "tokens_reasoning"), 0)
    with engine.begin() as connection:
        if request is not None:
            connection.execute(insert(schema.requests).values(key=key, body=zlib.compress(orjson.dumps(request))))
        if response is not None:
            body = zlib.compress(orjson.dumps(response))
            row = {"key": key, "body": body, "estimated": False, "generation": generation, **counts}
            connection.execute(insert(schema.responses).values(row))


def batch(engine: Engine, name: str, **changes: Any) -> str:
    """A batch on record, at work by nobody; returns its id."""
    row = {
        "id": name, "lane": "lane", "spec": '{"model":"m"}', "state": "running", "owner": None, "requests": 2,
        "file_id": None, "provider_id": None, "provider_status": None, "done": 0, "failed": 0, "packed_at": 100.0,
        "asked_at": None, "ended_at": None, "error": None,
    }  # fmt: skip
    with engine.begin() as connection:
        connection.execute(insert(schema.batches).values(row | changes))
    return name


def seat(engine: Engine, attempt_id: int, **changes: Any) -> None:
    """Have an attempt on record wait for a batch, or be in one."""
    row = {"attempt": attempt_id, "lane": "lane", "batch": None, "caps": "[]", "body": b"", "bytes": 0, "reply": None}
    with engine.begin() as connection:
        connection.execute(insert(schema.batch_rows).values(row | changes))


def open_files(folder: Path) -> list[str]:
    """What of a folder this process has open."""
    found: list[str] = []
    for link in Path("/proc/self/fd").iterdir():
        with suppress(OSError):  # the listing itself was open
            found.append(str(link.readlink()))
    return [name for name in found if name.startswith(str(folder))]
