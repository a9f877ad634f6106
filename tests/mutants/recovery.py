"""Deaths, late ends, take-overs, stops, locks."""

from __future__ import annotations

from tests.mutants.bug import STATE_MACHINE, Planted

_BATCH = "seedbed/lm/ledger/batch_writer.py"
_HOLDERS = "seedbed/lm/ledger/holders.py"
_REPAIR = "seedbed/lm/ledger/repair.py"
_CAPS_TEST = "tests/unit/lm/ledger/test_caps.py::test_"
_ATTEMPTS_TEST = "tests/unit/lm/test_attempts.py::test_"

RECOVERY = (
    Planted(
        "an end after its attempt was marked lost is followed by a recount",
        _BATCH,
        "                late_end(connection, item, row)\n            caps.recount()",
        "                late_end(connection, item, row)",
        (STATE_MACHINE,),
    ),
    Planted(
        "a late end replaces the worst case",
        _BATCH,
        "                late_end(connection, item, row)\n",
        "                pass\n",
        (STATE_MACHINE,),
    ),
    Planted(
        "a second end does not overwrite the first",
        _REPAIR,
        '.where(_a.c.id == item.attempt_id, _a.c.outcome == "lost", _a.c.error_class == LOST)',
        ".where(_a.c.id == item.attempt_id)",
        (STATE_MACHINE,),
    ),
    Planted(
        "an attempt that its own writer gave up stays given up",
        _REPAIR,
        ", _a.c.error_class == LOST)",
        ")",
        (STATE_MACHINE,),
    ),
    Planted(
        "a dead owner's key that is taken over is followed by a recount",
        _BATCH,
        "        if repaired:\n            caps.recount()\n",
        "",
        (STATE_MACHINE,),
    ),
    Planted(
        "a dead owner's key is taken over",
        _BATCH,
        "(h.gone or h.owner == self.owner)}",
        "h.owner == self.owner}",
        (STATE_MACHINE, f"{_CAPS_TEST}a_dead_process_has_its_request_taken_over_and_keeps_its_worst_case[sqlite]"),
    ),
    Planted(
        "a living owner keeps its key",
        _HOLDERS,
        "not alive and batch is None",
        "batch is None",
        (STATE_MACHINE,),
    ),
    Planted(
        "an attempt that has ended holds its key no more",
        _HOLDERS,
        ", a.c.outcome.is_(None)",
        "",
        (STATE_MACHINE,),
    ),
    Planted(
        "the attempts of dead writers are marked lost",
        "seedbed/lm/ledger/writer.py",
        "        mark_lost(connection, dead)\n",
        "",
        (STATE_MACHINE,),
    ),
    Planted(
        "a lost attempt counts at its worst case",
        _REPAIR,
        "at_risk_usd=_a.c.reserved_usd",
        "at_risk_usd=0.0",
        (STATE_MACHINE,),
    ),
    Planted(
        "a begin whose caller was cancelled is given back",
        "seedbed/lm/attempts.py",
        "            future.add_done_callback(lambda done: self._give_back(begin, done))\n",
        "",
        (f"{_ATTEMPTS_TEST}a_cancelled_begin_is_given_back",),
    ),
    Planted(
        "nothing is sent after a stop, though it was on record before",
        "seedbed/lm/attempts.py",
        "            self._stops.check(cell)\n            state.first",
        "            state.first",
        (f"{_ATTEMPTS_TEST}a_stop_that_comes_while_a_call_is_put_on_record_keeps_it_from_being_sent",),
    ),
    Planted(
        "calls in flight finish when a budget is reached",
        "seedbed/lm/stop.py",
        "return None if isinstance(self.reason(cell), BudgetReached) else GRACE_S",
        "return GRACE_S",
        ("tests/faults/test_budget.py::test_calls_in_flight_finish_when_the_budget_is_reached",),
    ),
    Planted(
        "a phase whose lock is another's is not marked as done",
        "seedbed/phases/run.py",
        "        check_lock()\n",
        "",
        ("tests/unit/phases/test_run.py::test_a_phase_whose_lock_was_taken_over_is_not_marked_as_done",),
    ),
    Planted(
        "a lock of this process is not stolen by its other thread",
        "seedbed/lm/ledger/locks.py",
        "return token not in _held",
        "return True",
        ("tests/unit/lm/ledger/test_locks.py::test_two_threads_of_one_process_take_turns[sqlite]",),
    ),
)
