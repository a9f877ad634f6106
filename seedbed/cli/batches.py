"""`seedbed batches`: the batches of a ledger."""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Sequence

from seedbed.cli.ledger import open_ledger
from seedbed.cli.main import EXIT_OK
from seedbed.errors import UserError
from seedbed.lm.batches.words import batch_line, in_words
from seedbed.lm.ledger.batch_views import BatchView, view_batches
from seedbed.lm.ledger.batches import Batch, open_batches
from seedbed.storage.redact import redact


def run(arguments: argparse.Namespace) -> int:
    engine = open_ledger(arguments.ledger, arguments.out)
    url = engine.url.render_as_string(hide_password=False)
    try:
        found = view_batches(engine, arguments.sweep, ended=arguments.all)
        chosen = _named(found, arguments.batch)
        still_open = [batch for batch in open_batches(engine) if batch.id in {view.id for view in chosen}]
    finally:
        engine.dispose()
    match arguments.action:
        case "list":
            _list(chosen, as_json=arguments.json)
        case "wait":
            _wait(url, still_open)
        case "drop":
            if not arguments.batch:
                raise UserError("name the batches to drop; `seedbed batches list` shows them.")
            _drop(url, still_open)
        case _:
            _cancel(url, still_open)
    return EXIT_OK


def _named(found: Sequence[BatchView], names: Sequence[str]) -> list[BatchView]:
    if not names:
        return list(found)
    for name in names:
        if not any(_is(view, name) for view in found):
            known = ", ".join(view.id for view in found[:5]) or "none"
            raise UserError(f"no batch {name!r} is open here; there are: {known}. `seedbed batches list` shows them.")
    return [view for view in found if any(_is(view, name) for name in names)]


def _is(view: BatchView, name: str) -> bool:
    return view.id.startswith(name) or view.provider_id == name


def _list(views: Sequence[BatchView], *, as_json: bool) -> None:
    if as_json:
        print(json.dumps([view.to_json() for view in views], indent=2))
        return
    if not views:
        print("no batch is open; `--all` lists those that have ended")
    for view in views:
        print(redact(batch_line(view)))


def _wait(url: str, chosen: Sequence[Batch]) -> None:
    from seedbed.lm.batches.commands import wait_for

    said: list[str] = []

    def tell(left: Sequence[Batch]) -> None:
        done, total = sum(b.done + b.failed for b in left), sum(b.requests for b in left)
        age = min(b.packed_at for b in left)
        line = f"{len(left)} open, {done:,} of {total:,}"
        if said[-1:] != [line]:
            said.append(line)
            print(f"{line}, {in_words(time.time() - age)}", file=sys.stderr, flush=True)

    if chosen:
        wait_for(url, {batch.id for batch in chosen}, tell)
    ended = "1 batch has" if len(chosen) == 1 else f"{len(chosen)} batches have"
    print(f"{ended} ended; the answers are on record" if chosen else "no batch is open")


def _drop(url: str, chosen: Sequence[Batch]) -> None:
    from seedbed.lm.batches.commands import drop

    drop(url, chosen, lambda batch, said: print(f"{batch.id}: {said}"))


def _cancel(url: str, chosen: Sequence[Batch]) -> None:
    from seedbed.lm.batches.commands import cancel

    if not chosen:
        print("no batch is open")
        return
    cancel(url, chosen, lambda batch, said: print(f"{batch.id}: {said}"))
