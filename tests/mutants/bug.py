"""A bug planted by hand."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

STATE_MACHINE = "tests/unit/lm/ledger/test_rules.py::test_in_any_order_on_sqlite"


@dataclass(frozen=True)
class Planted:
    """A rule, the bug that breaks it, and the tests that must notice."""

    rule: str
    file: str
    old: str
    new: str
    tests: tuple[str, ...]

    def text(self, root: Path) -> str:
        """The file with the bug in it; an error where the place is not found."""
        source = (root / self.file).read_text(encoding="utf-8")
        if source.count(self.old) != 1:
            raise LookupError(
                f"{self.rule}: {self.file} holds {source.count(self.old)} times {self.old!r}, not once; "
                "plant the bug in today's place of the rule."
            )
        return source.replace(self.old, self.new)
