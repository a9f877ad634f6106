"""What must hold of a sweep however it was attacked: its ledger against the books of the server, and its results
against those of a clean run."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from sqlalchemy import text

from seedbed.lm.ledger.database import open_database, reading
from tests.faults.campaign.target import PRICE, Target

_COLUMNS = "key, outcome, tokens_in, tokens_out, at_risk_usd, spent_usd, error_class"
_FILES = ("predictions.jsonl", "scores.jsonl")
_MEASURED = {"latency_s", "elapsed_s", "cost_usd"}
"""What differs between equal runs: times, and list prices of calls whose tokens an endpoint did not tell."""


@dataclass
class Request:
    """What the ledger says of one request."""

    recorded: Counter[tuple[int, int]] = field(default_factory=Counter)
    """Input and output tokens of the answers that were seen."""
    sent: int = 0
    unseen: int = 0
    """Ends that nobody saw, which may have been billed: a kill, a broken connection, a timeout."""


def dollars(target: Target) -> float:
    """What the server would bill."""
    books = target.server.books
    return (books.tokens_in * PRICE[0] + books.tokens_out * PRICE[1]) / 1e6


def ledger_rows(target: Target) -> list[Any]:
    engine = open_database(target.ledger)
    with reading(engine) as connection:
        rows = list(connection.execute(text(f"SELECT {_COLUMNS} FROM attempts")))
    engine.dispose()
    return rows


def account(target: Target, *, takeovers: int = 0) -> Iterator[str]:
    """What is wrong with the account. `takeovers` is how many calls may have been given up for dead and answered after
    all, beside the answer that another process paid for."""
    rows = ledger_rows(target)
    requests = _by_name(target, rows)
    books = target.server.books
    for name, times in books.by_body.items():
        own, told = requests.get(name, Request()), Counter(books.told.get(name, ()))
        if times > own.sent:
            yield f"request {name[:8]} came {times} times and is {own.sent} times in the ledger"
        if own.recorded - told:
            yield f"request {name[:8]}: the ledger has tokens that were never told: {dict(own.recorded - told)}"
        if (told - own.recorded).total() > own.unseen:
            yield f"request {name[:8]}: told {told.total()} times, recorded {own.recorded.total()}, unseen {own.unseen}"
    # By key: seeds ask the same of the server and pay apart.
    paid = Counter(row.key for row in rows if row.outcome == "paid")
    twice = sum(count - 1 for count in paid.values())
    if twice > takeovers:
        yield f"{twice} requests were paid for and asked again"
    if any(row.outcome is None for row in rows):
        yield "attempts are left in flight"


def _by_name(target: Target, rows: list[Any]) -> dict[str, Request]:
    names = target.sent_names()
    found: defaultdict[str, Request] = defaultdict(Request)
    for row in rows:
        own = found[names[row.key]]
        if row.outcome == "reused":
            continue
        own.sent += row.error_class != "NotSent"
        own.unseen += bool(row.at_risk_usd)
        if row.tokens_in is not None:
            own.recorded[row.tokens_in, row.tokens_out] += 1
    return found


def told_bill(target: Target) -> Iterator[str]:
    """Whether the dollars that the newest run tells of are the ledger's."""
    latest = (target.out / "sweeps" / "campaign" / "latest").read_text().strip()
    summary = json.loads((target.out / "sweeps" / "campaign" / latest / "summary.json").read_text(encoding="utf-8"))
    told = sum(row["spent_usd"] or 0.0 for row in summary["costs"])
    spent = sum(row.spent_usd or 0.0 for row in ledger_rows(target))
    if abs(told - spent) > 1e-9:
        yield f"the summary tells ${told:.9f}, the ledger ${spent:.9f}"


def results(target: Target, clean: Target) -> Iterator[str]:
    """Where answers, scores, tokens or list prices differ from those of the clean run."""
    if target.usage() != clean.usage():
        yield "tokens or list costs of the cells differ from the clean run's"
    folders = sorted(path.parent for path in clean.out.glob("experiment_runs/seed_*/*/metrics.json"))
    for folder in folders:
        own = target.out / folder.relative_to(clean.out)
        for name in _FILES:
            if not (own / name).exists() or _rows(own / name) != _rows(folder / name):
                yield f"{own.parent.name}/{own.name}/{name} is not the clean run's"


def _rows(path: Path) -> list[Any]:
    return [json.loads(line, object_hook=_unmeasured) for line in path.read_text(encoding="utf-8").splitlines()]


def _unmeasured(fields: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in fields.items() if name not in _MEASURED}
