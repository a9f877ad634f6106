"""Dollars and tokens."""

from __future__ import annotations

from tests.mutants.bug import STATE_MACHINE, Planted

_CAPS = "seedbed/lm/ledger/caps.py"
_CAPS_TEST = "tests/unit/lm/ledger/test_caps.py::test_"
_COSTS = "tests/unit/lm/test_costs.py::test_"
_BOTH = "tests/unit/phases/test_caps.py::test_"

MONEY = (
    Planted(
        "every cap of a call is checked, not only the first",
        _CAPS,
        "        for cap in item.caps:\n            used, reserved",
        "        for cap in item.caps[:1]:\n            used, reserved",
        (STATE_MACHINE, f"{_BOTH}the_cap_of_a_cell_stops_it_though_the_sweep_has_money_left"),
    ),
    Planted(
        "a call that reaches a cap exactly may go",
        _CAPS,
        "used + reserved + worst > cap.max_usd",
        "used + reserved + worst >= cap.max_usd",
        (STATE_MACHINE,),
    ),
    Planted(
        "a recount starts at the fresh start",
        _CAPS,
        ".where(used_here, ended.c.generation >= generation)",
        ".where(used_here)",
        (STATE_MACHINE, f"{_BOTH}a_fresh_start_has_the_whole_of_both_caps_again"),
    ),
    Planted(
        "a fresh start leaves no cap with the sums of before",
        _CAPS,
        " or found[0][2] < generation:",
        ":",
        (STATE_MACHINE,),
    ),
    Planted(
        "a run of before a fresh start does not settle on the new run's sums",
        _CAPS,
        "[used, reserved] if kept == generation else _count(self._connection, scope, generation)",
        "[used, reserved]",
        (STATE_MACHINE,),
    ),
    Planted(
        "a process counts what was spent before it asked",
        _CAPS,
        "not found or scope not in self._known or",
        "not found or",
        (STATE_MACHINE, f"{_CAPS_TEST}a_cap_counts_what_a_run_without_one_spent_in_between[sqlite]"),
    ),
    Planted(
        "what a phase cost before a fresh start is not in its account",
        "seedbed/lm/ledger/reads.py",
        "(_a.c.phase == phase) & (_a.c.generation >= generation)",
        "(_a.c.phase == phase)",
        (STATE_MACHINE,),
    ),
    Planted(
        "what a sweep cost before a fresh start is not in its costs",
        "seedbed/lm/ledger/reads.py",
        "_a.c.sweep == sweep, _a.c.outcome.is_not(None), _a.c.generation >= generation)\n        .group_by",
        "_a.c.sweep == sweep, _a.c.outcome.is_not(None))\n        .group_by",
        (STATE_MACHINE,),
    ),
    Planted(
        "a stored answer of before a fresh start is not reused",
        "seedbed/lm/ledger/batch_writer.py",
        "elif found is not None and found[1] >= item.scope.generation:",
        "elif found is not None:",
        (STATE_MACHINE,),
    ),
    Planted(
        "a reservation goes when its call ends",
        _CAPS,
        "self._add(item, -(item.reserved_usd or 0.0), used)",
        "self._add(item, 0.0, used)",
        (STATE_MACHINE,),
    ),
    Planted(
        "cached tokens without a price of their own cost what others do",
        "seedbed/lm/prices/rates.py",
        'cached = base * cached_share if found["cached"] is None else found["cached"]',
        'cached = found["cached"] or 0.0',
        (f"{_COSTS}cached_tokens_cost_their_own_price_and_never_less_than_nothing",),
    ),
    Planted(
        "no more tokens are cached than were sent",
        "seedbed/lm/usage.py",
        "    cached = min(sent, cached)\n",
        "",
        (f"{_COSTS}cached_tokens_cost_their_own_price_and_never_less_than_nothing",),
    ),
    Planted(
        "tools and formats are part of a request's size",
        "seedbed/lm/request_size.py",
        "for name in _ALSO_SENT:",
        "for name in ():",
        (f"{_COSTS}what_is_sent_beside_the_messages_is_reserved_too",),
    ),
    Planted(
        "a refusal is an answer",
        "seedbed/lm/codec.py",
        ' or message.get("refusal"):',
        ":",
        (f"{_COSTS}a_refusal_is_an_answer_that_is_kept_and_an_empty_reply_is_not",),
    ),
    Planted(
        "a phase's tokens are those of its last execution",
        "seedbed/lm/ledger/reads.py",
        "_a.c.phase == phase, _a.c.execution == execution, _a.c.outcome",
        "_a.c.phase == phase, _a.c.outcome",
        (f"{_COSTS}an_execution_has_its_own_tokens_and_a_failed_attempt_no_answer_of_another",),
    ),
    Planted(
        "a failed attempt shows no response of another",
        "seedbed/lm/ledger/reads.py",
        'answered = response and data["outcome"] in ("paid", "reused")',
        "answered = response",
        (f"{_COSTS}an_execution_has_its_own_tokens_and_a_failed_attempt_no_answer_of_another",),
    ),
    Planted(
        "the length that a request asks for is reserved before the model's own limit",
        "seedbed/lm/request_size.py",
        "(max(asked) if asked else limit)",
        "(limit or max(asked))",
        (f"{_COSTS}the_length_that_a_request_asks_for_is_reserved_and_not_the_models",),
    ),
)
