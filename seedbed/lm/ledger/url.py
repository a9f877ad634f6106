"""Addresses of ledgers: which are understood, and what a server's refusal means."""

from __future__ import annotations

from pathlib import Path

from sqlalchemy import URL, make_url
from sqlalchemy.exc import ArgumentError, SQLAlchemyError

from seedbed.errors import UserError
from seedbed.storage.redact import redact

_MAX_TEXT = 300

# What PostgreSQL and its client say, and what to do about it.
_REMEDIES = (
    (("password authentication failed", "no password supplied"), "set PGPASSWORD, or write a line in ~/.pgpass"),
    (('database "',), "make it with `createdb` or name another"),
    (('role "',), "make it with `createuser` or name another user"),
    (("permission denied",), "the user needs the right to create tables there: GRANT CREATE ON SCHEMA public TO ..."),
    (("too many clients", "remaining connection slots"), "raise max_connections of the server or run fewer workers"),
)
_UNREACHABLE = "check that the server runs, its host and port, and that it lets this machine in"


def sqlite_url(path: Path) -> str:
    return f"sqlite:///{path}"


def parse(url: str) -> URL:
    """The address of a ledger. One that holds a password is refused: the address is written into every run's plan."""
    try:
        parsed = make_url(url)
    except ArgumentError:
        raise UserError(
            f"ledger {redact(url)!r}: not an address; write sqlite:///FILE or postgresql+psycopg://USER@HOST/DATABASE."
        ) from None
    if parsed.drivername in ("postgresql", "postgres"):
        parsed = parsed.set(drivername="postgresql+psycopg")
    if parsed.drivername not in ("sqlite", "sqlite+pysqlite", "postgresql+psycopg"):
        raise UserError(
            f"ledger {shown(parsed)}: {parsed.drivername} is not supported; use sqlite or postgresql+psycopg."
        )
    if parsed.password or "password" in parsed.query:
        raise UserError(
            f"ledger {shown(parsed)}: holds a password; leave it out and set PGPASSWORD, or write a line in ~/.pgpass."
        )
    return parsed


def shown(url: URL) -> str:
    """The address as it may be printed: without password and options."""
    return url.set(query={}).render_as_string(hide_password=True)


def explain(error: SQLAlchemyError, url: URL) -> str:
    """Why a ledger could not be opened and what to do, in one sentence."""
    said = str(error.__cause__ or error).strip()
    if url.get_backend_name() == "sqlite":
        remedy = "make room on its disk and run again" if "full" in said else "name another `out` or `ledger`"
        return f"cannot be opened ({said}); {remedy}."
    # The statement that failed is quoted below the reason.
    said = redact(" ".join(said.partition("\nLINE ")[0].split()))[:_MAX_TEXT]
    remedy = next((advice for marks, advice in _REMEDIES if any(mark in said for mark in marks)), _UNREACHABLE)
    return f"cannot be opened ({said}); {remedy}."
