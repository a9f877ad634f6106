"""The campaign in its short form; .github/workflows/campaign.yml runs the long one every week."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.faults.campaign.campaign import Campaign
from tests.faults.campaign.tracebacks import first_traceback

pytestmark = pytest.mark.slow


def test_a_short_campaign_holds(tmp_path: Path) -> None:
    campaign = Campaign(tmp_path, kills=2, faults=0.2, seed=1, whole=False)
    problems = campaign.run(requests=240)
    assert problems == [], campaign.told()


_HEARTBEAT = """\
Exception in thread Thread-6:
Traceback (most recent call last):
  File "/usr/lib/python3.11/threading.py", line 1045, in _bootstrap_inner
    self.run()
  File "/usr/lib/python3.11/threading.py", line 982, in run
    self._target(*self._args, **self._kwargs)
  File "/site-packages/prefect/flow_engine.py", line 354, in heartbeat_loop
    time.sleep(1)
OSError: [Errno 22] Invalid argument
"""
_OTHER = "Traceback (most recent call last):\n  ...\nOSError: in heartbeat_loop\n"


def test_of_tracebacks_only_that_of_a_sleep_over_a_jump_of_the_clock_is_let_pass() -> None:
    assert first_traceback(f"before\n{_HEARTBEAT}after\n", clock_jumped=True) is None
    assert first_traceback(_HEARTBEAT) is not None
    assert first_traceback(f"{_HEARTBEAT}{_OTHER}", clock_jumped=True) == _OTHER
    assert first_traceback(_HEARTBEAT.replace("time.sleep(1)", "return"), clock_jumped=True) is not None
