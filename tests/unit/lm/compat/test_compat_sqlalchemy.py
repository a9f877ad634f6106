"""SQLAlchemy still has what is used of its insides."""

from types import SimpleNamespace

import pytest
from sqlalchemy import bindparam, insert
from sqlalchemy.dialects import postgresql, sqlite

from seedbed.lm.compat import LibraryChanged
from seedbed.lm.compat.sqlalchemy import parameter_order
from seedbed.lm.ledger import schema

_STATEMENT = insert(schema.requests).values(body=bindparam("body"), key=bindparam("key"))


def test_a_statement_for_sqlite_tells_the_order_of_its_parameters() -> None:
    assert list(parameter_order(_STATEMENT.compile(dialect=sqlite.dialect())) or ()) == ["key", "body"]


def test_a_statement_for_a_driver_that_takes_names_tells_none() -> None:
    assert parameter_order(_STATEMENT.compile(dialect=postgresql.dialect(paramstyle="pyformat"))) is None


def test_a_sqlalchemy_without_it_is_told_in_a_sentence() -> None:
    with pytest.raises(
        LibraryChanged,
        match=r"^sqlalchemy .* has no .*SQLCompiler\.positiontup, which seedbed/lm/ledger/statements\.py needs",
    ):
        parameter_order(SimpleNamespace())
