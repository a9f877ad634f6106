"""A disk that is full in mid-sweep: a sentence, no traceback, and once there is room the sweep goes on without paying
twice."""

from __future__ import annotations

import subprocess
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.faults.campaign.attacks import can_mount
from tests.support.loopback import Loopback
from tests.support.sweeps import Sweep


@pytest.fixture
def small(tmp_path: Path) -> Iterator[Path]:
    """A disk of its own on which a ledger has room and not much else."""
    if not can_mount(tmp_path / "disk"):
        pytest.skip("no right to mount here")
    place = tmp_path / "out"
    place.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=400k", "tmpfs", str(place)], check=True)
    yield place
    subprocess.run(["umount", "-l", str(place)], check=True)


@pytest.mark.usefixtures("seedbed_home")
def test_a_disk_that_is_full_is_a_sentence_and_the_sweep_can_go_on(tmp_path: Path, small: Path) -> None:
    with Loopback() as server:
        sweep = Sweep(tmp_path, server)
        code, out, err = sweep.run()
        assert code in (1, 2), err
        assert "Traceback" not in out + err
        assert "full" in err or "No space left" in err
        subprocess.run(["mount", "-o", "remount,size=50m", str(small)], check=True)
        code, out, err = sweep.run()
        assert code == 0, err
    outcomes = sweep.outcomes()
    # What is lost may have been sent: where there is no room, nobody can write down that it was not.
    assert outcomes["paid"] <= server.books.requests <= outcomes["paid"] + outcomes["lost"]
    paid = Counter(row.key for row in sweep.attempts() if row.outcome == "paid")
    assert max(paid.values()) == 1
    assert None not in outcomes
