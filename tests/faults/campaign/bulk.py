"""Thousands of requests of which a share goes wrong, a kind of fault at a time, straight through the runtime."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path

from seedbed.phases.run_all import run_all
from tests.support.lm import caps, dollars, runtime, scope, sums
from tests.support.loopback import Loopback

QUICK = (
    "rate_limit",
    "server",
    "gateway",
    "reset",
    "malformed",
    "no_usage",
    "empty",
    "bad_shape",
    "mid_body",
    "endless",
)
SLOW = ("timeout", "drip")
"""Each costs its time limit, and on a busy machine an honest answer may come too late as well: fewer of them."""
_SLOW_SHARE = 0.01


def bulk(
    folder: Path, kinds: Sequence[str], requests: int, share: float, seed: int, told: Counter[str]
) -> Iterator[str]:
    """What is wrong after so many requests; `told` counts the faults."""
    slow = [kind for kind in kinds if kind in SLOW]
    few = int(requests * _SLOW_SHARE)
    many = (requests - few * len(slow)) // (len(kinds) - len(slow))
    for kind in kinds:
        yield from _kind(folder / kind, kind, few if kind in slow else many, share, seed, told)


def _kind(folder: Path, kind: str, requests: int, share: float, seed: int, told: Counter[str]) -> Iterator[str]:
    slow = kind in SLOW
    endpoint = Loopback(faults={kind: share}, max_faults=3, seed=seed)
    with endpoint as server, runtime(folder, server, timeout_s=30.0 if slow else 60.0, max_reply_mb=0.5) as made:
        lm = made.lm(scope(), caps(1000.0))

        async def one(number: int) -> None:
            with suppress(Exception):
                await lm.acall(f"{kind} {number}")

        made.run(run_all(made, range(requests), one, calls_at_once=64, cell="c"))
    found, books = sums(folder), server.books
    told.update(books.faults)
    billed, recorded = (books.tokens_in, books.tokens_out), (found.tokens_in, found.tokens_out)
    if found.outcomes.get("paid") != requests:
        yield f"{kind}: {requests} questions were asked, the ledger has {found.outcomes}"
    if found.in_flight:
        yield f"{kind}: {found.in_flight} attempts are left in flight"
    if billed != recorded:
        yield f"{kind}: the server told {billed} tokens, the ledger has {recorded}"
    if abs(found.spent_usd - dollars(*billed)) > 1e-9:
        yield f"{kind}: ${dollars(*billed):.9f} were told, the ledger has ${found.spent_usd:.9f}"
    if sum(found.outcomes.values()) != books.requests:
        yield f"{kind}: {books.requests} requests came, the ledger has {found.outcomes}"
    print(
        f"{kind}: {books.requests} requests, {sum(books.faults.values())} faults, ledger {found.outcomes}", flush=True
    )
