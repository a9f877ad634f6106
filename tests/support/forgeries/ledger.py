"""Forgeries of the ledger: what the files were made from."""

from __future__ import annotations

import json
import re
import sqlite3
import zlib
from contextlib import closing

from tests.support.forgeries.copies import DIRECT, MULTI, RUN, TALK, TUNED, Change, Copy, Forgery


def _cells(copy: Copy) -> dict[str, str]:
    places = {"direct": DIRECT, "multi": MULTI, "talk": TALK, "tuned": TUNED}
    found = {name: json.loads((copy.root / place / "cell.json").read_text("utf-8")) for name, place in places.items()}
    return {name: f"'{data['cell_id']}'" for name, data in found.items()}


def in_ledger(statement: str) -> Change:
    """A statement on the copy's ledger that changes at least one row; cells stand in it by {name}."""

    def change(copy: Copy) -> None:
        with closing(sqlite3.connect(copy.root / "ledger.sqlite")) as connection:
            assert connection.execute(statement.format(**_cells(copy))).rowcount > 0, statement
            connection.commit()
            connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")

    return change


def reply_changed(copy: Copy) -> None:
    """Another answer in a reply that the ledger holds."""
    query = (
        "SELECT r.key, r.body FROM responses r JOIN attempts a ON a.key = r.key"
        f" WHERE a.cell = {_cells(copy)['multi']} AND a.role = 'task' ORDER BY a.id DESC LIMIT 1"
    )
    with closing(sqlite3.connect(copy.root / "ledger.sqlite")) as connection:
        key, body = connection.execute(query).fetchone()
        said = json.loads(zlib.decompress(body))
        message = said["choices"][0]["message"]
        before = message["content"]
        message["content"] = re.sub(r"(## answer ## \]\]\n).*", r"\1forged", before)
        assert message["content"] != before
        packed = zlib.compress(json.dumps(said).encode())
        connection.execute("UPDATE responses SET body = ? WHERE key = ?", (packed, key))
        connection.commit()
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")


LEDGER = [
    Forgery("tokens in the ledger", f"{TUNED}/lm_history.jsonl", r"row \d+.*tokens_in is \d+, the ledger gives 7777",
            in_ledger("UPDATE attempts SET tokens_in = 7777 WHERE id ="
                      " (SELECT max(id) FROM attempts WHERE cell = {tuned} AND outcome = 'paid')")),
    Forgery("dollars in the ledger", f"{RUN}/costs.csv", r"line \d+ is",
            in_ledger("UPDATE attempts SET spent_usd = spent_usd + 1 WHERE id ="
                      " (SELECT max(id) FROM attempts WHERE cell = {tuned} AND outcome = 'paid')")),
    Forgery("a reply in the ledger", f"{MULTI}/predictions.jsonl", r"row \d+ \(.*\)\.output\.answer is",
            reply_changed),
    Forgery("a call gone from the ledger", f"{TALK}/lm_history.jsonl", r"has \d+ rows, the ledger gives \d+",
            in_ledger("DELETE FROM attempts WHERE id = (SELECT max(id) FROM attempts WHERE cell = {talk})")),
    Forgery("a sample in the ledger", f"{DIRECT}/lm_history.jsonl", r"sample is '.*', the ledger gives 'another'",
            in_ledger("UPDATE attempts SET sample = 'another' WHERE id ="
                      " (SELECT min(id) FROM attempts WHERE cell = {direct})")),
]  # fmt: skip
