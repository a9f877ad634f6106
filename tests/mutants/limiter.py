"""Slots, rates and refusals."""

from __future__ import annotations

from tests.mutants.bug import Planted

_LIMITS = "seedbed/lm/limits.py"
_TEST = "tests/unit/lm/test_limits.py::test_"

LIMITER = (
    Planted(
        "a share of the limits keeps the back-off",
        _LIMITS,
        "min(self._allowed, self._max) if self._last_back_off > 0 else self._max",
        "self._max",
        (f"{_TEST}a_process_that_joins_or_leaves_does_not_undo_a_back_off",),
    ),
    Planted(
        "a refusal during the wait for a rate is waited out",
        _LIMITS,
        "            # A refusal may have come meanwhile.\n            await self._wait_out_pause(sleep)\n",
        "",
        (f"{_TEST}a_refusal_during_the_wait_for_a_rate_is_waited_out_too",),
    ),
    Planted(
        "a later, shorter Retry-After does not shorten the pause",
        _LIMITS,
        "self._paused_until = max(before, now + (",
        "self._paused_until = max(0.0, now + (",
        (f"{_TEST}the_longest_retry_after_counts_in_whatever_order_they_come",),
    ),
    Planted(
        "neither rest nor guesses too high save up more than a second's worth",
        _LIMITS,
        "self._level = min(self._size, self._level + (now - self._at) * self._rate)",
        "self._level = self._level + (now - self._at) * self._rate",
        (f"{_TEST}neither_rest_nor_guesses_too_high_save_up_more_than_a_seconds_worth",),
    ),
    Planted(
        "output tokens count in the tokens a minute",
        "seedbed/lm/attempts.py",
        "limiter.settle(query.size.likely, usage.input + usage.output)",
        "limiter.settle(query.size.likely, usage.input)",
        ("tests/unit/lm/test_attempts.py::test_input_and_output_tokens_are_taken_from_the_tokens_a_minute",),
    ),
)
