"""Addresses of ledgers, and what is said where one cannot be opened."""

from __future__ import annotations

import pytest
from sqlalchemy.exc import OperationalError

from seedbed.errors import UserError
from seedbed.lm.ledger.url import explain, parse, shown

SERVER = parse("postgresql://ann@db/runs")
FILE = parse("sqlite:////lab/ledger.sqlite")


def refused(said: str) -> OperationalError:
    """As SQLAlchemy hands on what a driver says: with the driver's error as its cause."""
    error = OperationalError("SELECT 1", None, Exception(said))
    error.__cause__ = Exception(said)
    return error


@pytest.mark.parametrize(
    ("url", "driver"),
    [
        ("sqlite:///ledger.sqlite", "sqlite"),
        ("sqlite+pysqlite:///ledger.sqlite", "sqlite+pysqlite"),
        ("postgresql+psycopg://ann@db/runs", "postgresql+psycopg"),
        ("postgresql://ann@db/runs", "postgresql+psycopg"),
        ("postgres://ann@db/runs", "postgresql+psycopg"),
    ],
)
def test_an_address_names_a_file_or_a_server(url: str, driver: str) -> None:
    assert parse(url).drivername == driver


@pytest.mark.parametrize(
    ("url", "told"),
    [
        ("ledger.sqlite", "ledger 'ledger.sqlite': not an address; write sqlite:///FILE or "
                          "postgresql+psycopg://USER@HOST/DATABASE."),
        ("mysql://ann@db/runs", "ledger mysql://ann@db/runs: mysql is not supported; use sqlite or "
                                "postgresql+psycopg."),
        ("postgresql://ann:secret@db/runs", "ledger postgresql+psycopg://ann:***@db/runs: holds a password; leave it "
                                            "out and set PGPASSWORD, or write a line in ~/.pgpass."),
        ("postgresql://ann@db/runs?password=secret", "ledger postgresql+psycopg://ann@db/runs: holds a password; leave "
                                                     "it out and set PGPASSWORD, or write a line in ~/.pgpass."),
    ],
    ids=["no address", "another database", "a password", "a password among the options"],
)  # fmt: skip
def test_what_is_no_address_of_a_ledger_is_refused_in_one_sentence(url: str, told: str) -> None:
    with pytest.raises(UserError) as refusal:
        parse(url)
    assert str(refusal.value) == told


def test_an_address_is_shown_without_its_options() -> None:
    assert shown(parse("postgresql://ann@db/runs?sslmode=require")) == "postgresql+psycopg://ann@db/runs"


UNREACHABLE = "check that the server runs, its host and port, and that it lets this machine in"


@pytest.mark.parametrize(
    ("said", "remedy"),
    [
        ('password authentication failed for user "ann"', "set PGPASSWORD, or write a line in ~/.pgpass"),
        ("fe_sendauth: no password supplied", "set PGPASSWORD, or write a line in ~/.pgpass"),
        ('database "runs" does not exist', "make it with `createdb` or name another"),
        ('role "ann" does not exist', "make it with `createuser` or name another user"),
        ("permission denied for schema public",
         "the user needs the right to create tables there: GRANT CREATE ON SCHEMA public TO ..."),
        ("sorry, too many clients already", "raise max_connections of the server or run fewer workers"),
        ("remaining connection slots are reserved", "raise max_connections of the server or run fewer workers"),
        ("connection refused", UNREACHABLE),
    ],
)  # fmt: skip
def test_what_a_server_says_is_told_with_what_to_do(said: str, remedy: str) -> None:
    assert explain(refused(said), SERVER) == f"cannot be opened ({said}); {remedy}."


def test_of_what_a_server_says_the_reason_is_told_in_one_line_and_not_the_statement() -> None:
    told = explain(refused("permission denied\n  for schema public\nLINE 1: CREATE TABLE info"), SERVER)
    assert told.startswith("cannot be opened (permission denied for schema public); ")


def test_of_a_long_story_the_first_300_letters_are_told() -> None:
    assert explain(refused("x" * 400), SERVER) == f"cannot be opened ({'x' * 300}); {UNREACHABLE}."


@pytest.mark.parametrize(
    ("said", "remedy"),
    [
        ("unable to open database file", "name another `out` or `ledger`"),
        ("database or disk is full", "make room on its disk and run again"),
    ],
)
def test_of_a_file_is_told_what_to_do(said: str, remedy: str) -> None:
    assert explain(refused(said), FILE) == f"cannot be opened ({said}); {remedy}."


def test_an_error_without_a_cause_speaks_for_itself() -> None:
    error = OperationalError("SELECT 1", None, Exception("gone"))
    assert "gone" in explain(error, FILE)
