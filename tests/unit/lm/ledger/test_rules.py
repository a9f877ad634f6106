"""The ledger's rules in any order of events: begins and ends, deaths, late ends, take-overs, fresh starts, other caps.
After every step the real ledger says what a model of a few lines says (tests/support/ledger_model.py)."""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)
from sqlalchemy import Engine, delete

from seedbed.lm.ledger import Begin, BeginResult, Busy, Cap, End, Granted, Ledger, OverBudget, Stored, schema
from seedbed.lm.ledger.database import _own, open_database, sqlite_url  # type: ignore[attr-defined]
from seedbed.lm.ledger.reads import cost_rows, phase_usage, start_fresh
from seedbed.lm.types import Usage
from tests.support.ledger_model import Call, LedgerModel
from tests.support.lm import scope
from tests.support.postgres import Postgres

CELLS = ("a", "b")
KEYS = ("k1", "k2")
MOST_WRITERS = 3
MOST_EXAMPLES, STEPS = 40, 50
"""Few long ones: what breaks a rule takes four or five steps in a row, and half of the rules sit an example out."""
LISTED = 1.0
PLENTY = 1000.0
DOLLARS = st.integers(0, 4).map(float)
ROOM = st.sampled_from((0.0, 0.0, 2.0, -1.0))
"""What a cap leaves beside all that counts and the call itself: one that is just reached and one that is just passed
see a sum that is wrong by a dollar."""
ASKS = st.lists(
    st.tuples(st.integers(0, 2), st.sampled_from(KEYS), st.sampled_from(CELLS), DOLLARS, ROOM, ROOM),
    min_size=1,
    max_size=5,
)
ENDS = st.sampled_from(("paid", "failed", "lost"))
NUMBER = st.integers(0, 50)
ATTEMPTS = "SELECT id, outcome, spent_usd, at_risk_usd FROM attempts WHERE coalesce(outcome, '') <> 'reused'"
BUDGETS = "SELECT scope, generation, used_usd, reserved_usd FROM budgets"


class LedgerRules(RuleBasedStateMachine):
    """Whole dollars, so that sums are exact. A writer is a process with a `Ledger` of its own; it is killed by leaving
    the list of those known to be alive, and may end its calls all the same, as one that was only silent does."""

    engine: Engine
    url: str

    def __init__(self) -> None:
        super().__init__()
        self.model = LedgerModel()
        self.generation = 0
        self.runner = asyncio.Runner()
        self.writers: list[tuple[Ledger, int]] = []
        """With the generation each was started in."""
        self.begins: dict[int, Begin] = {}
        self.stale: set[str] = set()
        """Caps that were not in force when something was spent, and were not asked for since."""

    # -- what happens ----------------------------------------------------------------------------------------------

    @initialize(spent=st.lists(st.tuples(st.sampled_from(CELLS), DOLLARS), max_size=2))
    def spend_before_there_is_a_cap(self, spent: list[tuple[str, float]]) -> None:
        """By another process than those that will have one: two of them are at work from the beginning."""
        self.open_writer()
        for number, (cell, dollars) in enumerate(spent):
            granted = self._begin(0, f"before {number}", cell, dollars, ())
            self._end([(granted, "failed", dollars, 0.0)])
            del self.begins[granted]
        self.open_writer()

    @precondition(lambda self: len(self._alive()) < MOST_WRITERS)
    @rule()
    def open_writer(self) -> None:
        ledger = Ledger(self.url, list_price=lambda _model, _usage: LISTED)
        self.writers.append((ledger, self.generation))
        self.model.look_around()

    @precondition(lambda self: self._alive())
    @rule(asks=ASKS)
    def begin(self, asks: list[tuple[int, str, str, float, float, float]]) -> None:
        """Some, one after the other, by any of the living."""
        for at, key, cell, worst, *rooms in asks:
            writer = _one_of(self._alive(), at)
            caps: list[Cap] = []
            for name, room in zip(("sweep:s", f"cell:{cell}"), rooms, strict=True):
                counted = sum(self.model.sums(name, self.writers[writer][1]))
                caps.append(Cap(name, max(0.0, counted + worst + room)))
            self._begin(writer, key, cell, worst, tuple(caps))

    @precondition(lambda self: self._orphans() and self._alive())
    @rule(at=NUMBER, whose=NUMBER, worst=DOLLARS)
    def take_over(self, at: int, whose: int, worst: float) -> None:
        """Ask for what a dead process had in flight, with money enough."""
        orphan = self.model.calls[_one_of(self._orphans(), whose)]
        caps = (Cap("sweep:s", PLENTY), Cap(f"cell:{orphan.cell}", PLENTY))
        self._begin(_one_of(self._alive(), at), orphan.key, orphan.cell, worst, caps)

    @precondition(lambda self: self._in_flight())
    @rule(at=NUMBER, outcome=ENDS, spent=DOLLARS, together=st.booleans())
    def end(self, at: int, outcome: str, spent: float, together: bool) -> None:
        """One call, or all of its writer in one batch."""
        self._end_with_mates(_one_of(self._in_flight(), at), outcome, spent, together)

    @precondition(lambda self: self._given_up())
    @rule(at=NUMBER, outcome=ENDS, spent=DOLLARS, together=st.booleans())
    def end_late(self, at: int, outcome: str, spent: float, together: bool) -> None:
        """Of a writer that was taken for dead, and was only silent."""
        self._end_with_mates(_one_of(self._given_up(), at), outcome, spent, together)

    @precondition(lambda self: self._ended())
    @rule(at=NUMBER, outcome=ENDS, spent=DOLLARS, together=st.booleans())
    def end_again(self, at: int, outcome: str, spent: float, together: bool) -> None:
        self._end_with_mates(_one_of(self._ended(), at), outcome, spent, together)

    @precondition(lambda self: self._busy())
    @rule(at=NUMBER, asked_again=st.booleans(), worst=DOLLARS)
    def kill(self, at: int, asked_again: bool, worst: float) -> None:
        """A process with a call in flight, which another may ask for before anybody has looked around."""
        ledger = self.writers[_one_of(self._busy(), at)][0]
        _own.discard((str(ledger.engine.url), ledger.owner))
        self.model.dead.add(ledger.owner)
        if asked_again and self._alive():
            self.take_over(0, 0, worst)

    @precondition(lambda self: self._alive())
    @rule(at=NUMBER)
    def look_around(self, at: int) -> None:
        self.writers[_one_of(self._alive(), at)][0]._beat()  # type: ignore[attr-defined]
        self.model.look_around()

    @precondition(lambda self: self.begins and not self._busy())
    @rule(cell=st.sampled_from(CELLS), dollars=DOLLARS)
    def run_without_a_cap_in_between(self, cell: str, dollars: float) -> None:
        """All processes end, one without caps spends and ends, another begins: the caps kept of before say too little
        until that one asks for them."""
        self._close_all()
        self.open_writer()
        granted = self._begin(len(self.writers) - 1, f"between {len(self.writers)}", cell, dollars, ())
        self._end([(granted, "failed", dollars, 0.0)])
        self._close_all()
        self.stale |= {"sweep:s", f"cell:{cell}"}
        self.open_writer()

    @precondition(lambda self: self.begins and self._alive())
    @rule(same_process=st.booleans())
    def start_afresh(self, same_process: bool) -> None:
        """In a process of its own, or in one that has run the sweep before; the others go on with their generation."""
        self.generation = start_fresh(self.engine, "s")
        if same_process or len(self._alive()) == MOST_WRITERS:
            newest = self._alive()[-1]
            self.writers[newest] = (self.writers[newest][0], self.generation)
        else:
            self.open_writer()
        self.read_the_accounts()

    # -- what must hold --------------------------------------------------------------------------------------------

    @invariant()
    def the_attempts_are_those_of_the_model(self) -> None:
        told = {i: (outcome, spent or 0.0, at_risk or 0.0) for i, outcome, spent, at_risk in self._read(ATTEMPTS)}
        assert told == {i: (c.outcome, c.spent, c.at_risk) for i, c in self.model.calls.items()}

    @invariant()
    def the_sums_of_the_caps_are_those_of_the_attempts(self) -> None:
        kept = [row for row in self._read(BUDGETS) if row[0] not in self.stale]
        for name, generation, used, reserved in kept:
            assert (used, reserved) == self.model.sums(name, generation), name

    def read_the_accounts(self) -> None:
        costs = cost_rows(self.engine, "s", self.generation)
        total = 0.0
        for cell in CELLS:
            usage = phase_usage(self.engine, cell, "generate", "e1", self.generation)
            ended = [c for c in self.model.since(self.generation) if c.cell == cell and c.outcome is not None]
            assert usage.spent_usd == sum(c.spent for c in ended)
            assert usage.at_risk_usd == sum(c.at_risk for c in ended)
            assert sum(usage.outcomes.values()) - usage.outcomes["reused"] == len(ended)
            total += usage.spent_usd
        assert sum(row["spent_usd"] for row in costs) == total

    def teardown(self) -> None:
        for ledger, _ in self.writers:
            ledger.close()
        self.runner.close()

    def _read(self, query: str) -> Sequence[Any]:
        with self.engine.connect() as connection:
            return connection.exec_driver_sql(query).all()

    # -- both sides at once ----------------------------------------------------------------------------------------

    def _alive(self) -> list[int]:
        return [i for i, (ledger, _) in enumerate(self.writers) if ledger.owner not in self.model.dead]

    def _busy(self) -> list[int]:
        open_ones = {call.writer for call in self.model.calls.values() if call.outcome is None}
        return [i for i in self._alive() if self.writers[i][0].owner in open_ones]

    def _orphans(self) -> list[int]:
        return [i for i, call in self.model.calls.items() if call.outcome is None and call.writer in self.model.dead]

    def _in_flight(self) -> list[int]:
        return [i for i in sorted(self.begins) if self.model.calls[i].outcome is None]

    def _given_up(self) -> list[int]:
        return [i for i in sorted(self.begins) if self.model.calls[i].given_up]

    def _ended(self) -> list[int]:
        """Those that their own writer gave up last: they look most like those that others gave up."""
        ended = set(self.begins) - set(self._in_flight()) - set(self._given_up())
        return sorted(ended, key=lambda i: (self.model.calls[i].outcome == "lost", i))

    def _end_with_mates(self, chosen: int, outcome: str, spent: float, together: bool) -> None:
        calls = self.model.calls
        mates = [i for i in sorted(self.begins) if calls[i].writer == calls[chosen].writer] if together else [chosen]
        at_risk = calls[chosen].worst if outcome == "lost" else 0.0
        self._end([(i, outcome, 0.0 if outcome == "lost" else spent, at_risk) for i in mates])

    def _close_all(self) -> None:
        """What closed processes began is ended, and stays so."""
        for i in self._alive():
            ledger = self.writers[i][0]
            ledger.close()
            self.model.dead.add(ledger.owner)
            for attempt_id in [i for i in self.begins if self.model.calls[i].writer == ledger.owner]:
                del self.begins[attempt_id]

    def _begin(self, at: int, key: str, cell: str, worst: float, caps: tuple[Cap, ...]) -> int:
        ledger, generation = self.writers[at]
        item = Begin(scope(cell=cell, generation=generation), key, 1, None, b"{}", worst, caps)
        call = Call(ledger.owner, key, cell, generation, worst)
        over = self.model.over(caps, generation, worst)
        expected = self.model.begin(call, caps)
        self.stale -= {cap.scope for cap in caps}
        answer: BeginResult = self.runner.run(_wait(lambda: ledger.begin(item)))
        match answer:
            case Granted(attempt_id):
                assert expected == "granted"
                self.model.calls[attempt_id] = call
                self.begins[attempt_id] = item
                return attempt_id
            case OverBudget(cap, used, reserved):
                assert expected == "over"
                assert over is not None
                assert (cap, (used, reserved)) == (over, self.model.sums(over.scope, generation))
            case Busy():
                assert expected == "busy"
            case Stored(body, _):
                assert expected == "stored"
                assert body == self._reply_to(self.model.answers[key][1])
            case _:
                raise AssertionError(answer)
        return 0

    def _reply_to(self, call: Call) -> bytes:
        """Another for every call."""
        number = next(i for i, one in self.model.calls.items() if one is call)
        return f"{call.key} {number}".encode()

    def _end(self, ends: list[tuple[int, str, float, float]]) -> None:
        items: list[End] = []
        for attempt_id, outcome, spent, at_risk in ends:
            begin, paid = self.begins[attempt_id], outcome == "paid"
            usage, response = (Usage(1, 1), self._reply_to(self.model.calls[attempt_id])) if paid else (None, None)
            name: Any = outcome
            items.append(End(attempt_id, begin, name, usage, spent, LISTED, at_risk, 0.1, response, outcome))
            self.model.end(self.model.calls[attempt_id], outcome, spent, at_risk)
        owner = self.model.calls[ends[0][0]].writer
        ledger = next(ledger for ledger, _ in self.writers if ledger.owner == owner)
        self.runner.run(_wait(*[lambda item=item: ledger.end(item) for item in items]))


def _one_of(choices: Sequence[int], at: int) -> int:
    """The newest first: examples of little numbers are those of what has just happened."""
    return choices[-1 - at % len(choices)]


async def _wait(*submit: Callable[[], Any]) -> Any:
    """Hand in all of them in one pass of the loop, so in one batch; the answer to the last."""
    return (await asyncio.gather(*[one() for one in submit]))[-1]


@pytest.fixture(autouse=True)
def _no_heartbeat(monkeypatch: pytest.MonkeyPatch) -> None:
    """Who looks around, and when, is a step of the machine's."""
    monkeypatch.setattr("seedbed.lm.ledger.writer.HEARTBEAT_S", 3600.0)


@pytest.mark.slow
def test_in_any_order_on_sqlite(tmp_path: Path) -> None:
    class OnSqlite(LedgerRules):
        def __init__(self) -> None:
            self.url = sqlite_url(Path(tempfile.mkdtemp(dir=tmp_path)) / "ledger.sqlite")
            self.engine = open_database(self.url)
            super().__init__()

        def teardown(self) -> None:
            super().teardown()
            self.engine.dispose()

    run_state_machine_as_test(OnSqlite, settings=settings(max_examples=MOST_EXAMPLES, stateful_step_count=STEPS))


def test_in_any_order_on_postgresql(tmp_path: Path, postgres: Postgres) -> None:
    url = postgres.database_of(tmp_path)
    engine = open_database(url)

    class OnPostgres(LedgerRules):
        def __init__(self) -> None:
            self.url, self.engine = url, engine
            with engine.begin() as connection:
                for table in reversed(schema.metadata.sorted_tables):
                    if table is not schema.info:
                        connection.execute(delete(table))
            super().__init__()

    run_state_machine_as_test(OnPostgres, settings=settings(max_examples=MOST_EXAMPLES, stateful_step_count=STEPS))
    engine.dispose()
