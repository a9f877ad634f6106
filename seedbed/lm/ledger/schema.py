"""The tables of the ledger. SQLite and PostgreSQL share them."""

from __future__ import annotations

from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    Float,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    String,
    Table,
    Text,
    text,
)

SCHEMA_VERSION = 4
READABLE_VERSIONS = ("3", "4")
"""Version 4 has tables for batches beside those of version 3, and is refused by a Seedbed that would take calls in
them for lost."""
SINCE_VERSION_3 = ("tokens_written", "usage_more", "answered_by", "fingerprint", "provider", "service_tier")
"""Columns of attempts and responses that a ledger of version 2 does not have yet."""

metadata = MetaData()

info = Table("info", metadata, Column("name", String, primary_key=True), Column("value", String, nullable=False))

owners = Table(
    "owners",
    metadata,
    # Processes that write here. One that was killed is known by its pid or by a heartbeat that stopped; one that ended
    # well has `seen_at` 0.
    Column("id", Integer, primary_key=True, autoincrement=True),
    Column("host", String, nullable=False),
    Column("pid", Integer, nullable=False),
    Column("seen_at", Float, nullable=False),
    sqlite_autoincrement=True,
)

locks = Table(
    "locks",
    metadata,
    # What one worker at a time may work on, where no file can be locked, and which writer does. `token` tells apart the
    # threads of one writer.
    Column("name", String, primary_key=True),
    Column("owner", Integer, nullable=False),
    Column("token", String, nullable=False),
)

sweeps = Table(
    "sweeps",
    metadata,
    Column("name", String, primary_key=True),
    # Counts the fresh starts of all sweeps of this ledger. What has a lower number is not used again by the sweep.
    Column("generation", Integer, nullable=False),
)

attempts = Table(
    "attempts",
    metadata,
    # owner id * 2^40 + a counter: unique without asking the database.
    Column("id", BigInteger().with_variant(Integer, "sqlite"), primary_key=True, autoincrement=False),
    Column("owner", Integer, nullable=False),
    Column("sweep", String, nullable=False),
    Column("cell", String, nullable=False),
    Column("phase", String, nullable=False),
    Column("role", String, nullable=False),
    # One run of a phase; a resumed phase is another execution of the same cell and phase.
    Column("execution", String, nullable=False),
    Column("sample", String),
    Column("model", String, nullable=False),
    Column("key", String, nullable=False),
    Column("number", Integer, nullable=False),
    # That of the sweep it was made for.
    Column("generation", Integer, nullable=False),
    # Null while the call is in flight; then paid | reused | failed | lost.
    Column("outcome", String),
    Column("tokens_in", Integer),
    Column("tokens_out", Integer),
    Column("tokens_cached", Integer),
    Column("tokens_reasoning", Integer),
    Column("tokens_written", Integer),
    # What few answers have, as JSON: audio and images, caches kept for an hour, searches, surcharges.
    Column("usage_more", Text),
    # Who answered, as the response says: its model, not the one that was asked.
    Column("answered_by", String),
    Column("fingerprint", String),
    Column("provider", String),
    Column("service_tier", String),
    Column("estimated", Boolean, nullable=False),
    Column("reserved_usd", Float),
    Column("spent_usd", Float),
    Column("list_usd", Float),
    # The worst case of a call whose end nobody saw: it may have been billed.
    Column("at_risk_usd", Float),
    Column("started_at", Float, nullable=False),
    Column("latency_s", Float),
    Column("error_class", String),
    Column("error", Text),
    Index("attempts_cell_phase", "cell", "phase"),
    Index("attempts_sweep", "sweep"),
    # At most one call of a key in flight, over all processes: the second waits for the first's answer.
    Index(
        "attempts_in_flight",
        "key",
        unique=True,
        sqlite_where=text("outcome IS NULL"),
        postgresql_where=text("outcome IS NULL"),
    ),
)

requests = Table(
    "requests",
    metadata,
    Column("key", String, primary_key=True),
    Column("body", LargeBinary, nullable=False),
)

responses = Table(
    "responses",
    metadata,
    Column("key", String, primary_key=True),
    Column("body", LargeBinary, nullable=False),
    Column("tokens_in", Integer, nullable=False),
    Column("tokens_out", Integer, nullable=False),
    Column("tokens_cached", Integer, nullable=False),
    Column("tokens_reasoning", Integer, nullable=False),
    Column("tokens_written", Integer),
    Column("usage_more", Text),
    Column("answered_by", String),
    Column("fingerprint", String),
    Column("provider", String),
    Column("service_tier", String),
    Column("estimated", Boolean, nullable=False),
    Column("generation", Integer, nullable=False),
)

batches = Table(
    "batches",
    metadata,
    # Ours; it stands in the ids of its rows and, where the provider keeps such things, in what it knows of the batch.
    Column("id", String, primary_key=True),
    # What may share a batch: an endpoint, a key, a model and its price. `spec` is the model's config, as far as that
    # goes, so that any process can go on with the batch.
    Column("lane", String, nullable=False),
    Column("spec", Text, nullable=False),
    # packed -> uploaded -> creating -> running -> ended. Written before the step after it is taken.
    Column("state", String, nullable=False),
    # The process that works on it; null, or one that died, where anybody may.
    Column("owner", Integer),
    Column("requests", Integer, nullable=False),
    Column("file_id", String),
    Column("provider_id", String),
    # As the provider last said.
    Column("provider_status", String),
    Column("done", Integer, nullable=False),
    Column("failed", Integer, nullable=False),
    Column("packed_at", Float, nullable=False),
    Column("asked_at", Float),
    Column("ended_at", Float),
    Column("error", Text),
)

batch_rows = Table(
    "batch_rows",
    metadata,
    # An attempt that is answered by a batch. What became of it stands in `attempts`.
    Column("attempt", BigInteger().with_variant(Integer, "sqlite"), primary_key=True, autoincrement=False),
    Column("lane", String, nullable=False),
    # Null while it waits for others; it is then still its process's own, and nobody was sent it.
    Column("batch", String),
    # Scopes of the caps that hold its reservation, as JSON.
    Column("caps", Text, nullable=False),
    # What is sent; null once the provider has it.
    Column("body", LargeBinary),
    Column("bytes", Integer, nullable=False),
    # An answer that is paid for and not kept for reuse, for the process that waits for it.
    Column("reply", LargeBinary),
    Index("batch_rows_batch", "batch"),
    Index("batch_rows_gathering", "lane", sqlite_where=text("batch IS NULL"), postgresql_where=text("batch IS NULL")),
)

budgets = Table(
    "budgets",
    metadata,
    # "sweep:NAME" or "cell:ID". `used` holds what was spent and what may have been. A cache of sums over `attempts`
    # of a generation and later ones: made anew when a process first asks, so it cannot drift. The generation is the
    # newest that asked; runs of an older one count for themselves.
    Column("scope", String, primary_key=True),
    Column("generation", Integer, nullable=False),
    Column("used_usd", Float, nullable=False),
    Column("reserved_usd", Float, nullable=False),
)

settled_owners = Table(
    "settled_owners",
    metadata,
    # Writers whose attempts are added up in `settled_sums`. Both tables can be emptied: they are made again.
    Column("owner", Integer, primary_key=True, autoincrement=False),
)

settled_sums = Table(
    "settled_sums",
    metadata,
    # Of the attempts that have ended, by writer and the other columns up to `error_class`. A sum is null where all
    # that it is made of are.
    Column("owner", Integer, nullable=False),
    Column("sweep", String, nullable=False),
    Column("generation", Integer, nullable=False),
    Column("cell", String, nullable=False),
    Column("phase", String, nullable=False),
    Column("role", String, nullable=False),
    Column("model", String, nullable=False),
    Column("outcome", String, nullable=False),
    Column("error_class", String),
    Column("calls", BigInteger, nullable=False),
    *(Column(name, BigInteger) for name in ("tokens_in", "tokens_out", "tokens_cached", "tokens_reasoning")),
    *(Column(name, Float) for name in ("spent_usd", "list_usd", "at_risk_usd")),
    Column("cut", BigInteger),
    Column("unpriced", BigInteger),
    Index("settled_sums_owner", "owner"),
    Index("settled_sums_sweep", "sweep"),
)
