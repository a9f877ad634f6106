"""What is used of SQLAlchemy's insides."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from seedbed.lm.compat import PrivateName

POSITIONS = PrivateName(
    "sqlalchemy", "sqlalchemy.sql.compiler.SQLCompiler", "positiontup", "seedbed/lm/ledger/statements.py"
)
"""The order in which a compiled statement wants its parameters: needed to hand rows to the driver directly, which is
several times cheaper than SQLAlchemy's own way."""


def parameter_order(compiled: Any) -> Sequence[str] | None:
    """Names in order, or None where the driver takes them by name."""
    return POSITIONS.of(compiled)
