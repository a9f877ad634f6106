"""Kinds of contracts, which cases and rules call by different names: LABOR here, 劳动合同 there."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from seedbed.suites.kit.rows import read_rows

FILE = "contract_types.json"
SHIPPED = Path(__file__).parent / "data" / FILE
GENERAL = "GENERAL"

_ENDING = re.compile(r"(?<=.)(?:合同|协议|条款)$")
_PARTS = re.compile(r"[/、,，;；]")


class ContractTypes:
    """Which names mean the same kind of contract. A rule of several kinds parts them by `/`; one of the general kind is
    for contracts of any."""

    def __init__(self, table: Mapping[str, Sequence[str]]) -> None:
        self._kinds: dict[str, set[str]] = {}
        for kind, names in table.items():
            for name in (kind, *names):
                self._kinds.setdefault(_plain(name), set()).add(kind)

    def is_general(self, name: str) -> bool:
        return any(not part or GENERAL in self._kinds.get(part, ()) for part in _parts(name))

    def meet(self, one: str, other: str) -> bool:
        """Whether both name a kind in common."""
        return not self._of(one).isdisjoint(self._of(other))

    def _of(self, name: str) -> set[str]:
        """Kinds a name stands for; a name that no table knows is a kind of its own."""
        return {kind for part in _parts(name) for kind in self._kinds.get(part, {part})}


def read_contract_types(path: Path | None) -> ContractTypes:
    """The shipped table and what the file adds: {KIND: {names: [...]}}."""
    table = _read(SHIPPED)
    for kind, names in (_read(path) if path else {}).items():
        table[kind] = [*table.get(kind, ()), *names]
    return ContractTypes(table)


def unmatched(types: Iterable[str], known: Iterable[str], kinds: ContractTypes) -> str | None:
    """What to tell of cases whose type is that of no rule, if there are any."""
    given, rules = Counter(types), set(known)
    lonely = {name: n for name, n in given.items() if not any(_fits(rule, name, kinds) for rule in rules)}
    if not rules or not lonely:
        return None
    shown = ", ".join(f"{name or 'no type'} ({n})" for name, n in sorted(lonely.items()))
    return (
        f"{sum(lonely.values())} of {given.total()} cases have a contract type that no rule has: {shown}; rules of all "
        f"types are tried on them. Map the names in {FILE} beside the cases: {{KIND: {{names: [...]}}}}."
    )


def _fits(rule: str, case: str, kinds: ContractTypes) -> bool:
    return kinds.meet(rule, case) or (kinds.is_general(case) and kinds.is_general(rule))


def _read(path: Path) -> dict[str, list[str]]:
    return {row.text("kind"): row.texts("names") for row in read_rows(path, shape="KIND: {names}", key="kind")}


def _parts(name: str) -> list[str]:
    return [_plain(part) for part in _PARTS.split(name)]


def _plain(name: str) -> str:
    return _ENDING.sub("", name.strip().casefold())
