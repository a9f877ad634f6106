"""What is done to a running sweep. An attack returns once the process has ended, by itself or not."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from random import Random

from tests.faults.campaign.target import Attacked, Target

LIMIT_S = 900.0
"""A sweep that has not ended by then never will."""
_CLOCKS = ("-2d", "+3h", "-1h", "+400d", "+30s", "-30s")


@dataclass
class Round:
    """One process of the target and what happens to it."""

    target: Target
    random: Random
    overrides: tuple[str, ...] = ()
    takeovers: int = 0

    def begin(self, environment: Mapping[str, str] | None = None) -> Attacked:
        return self.target.begin(*self.overrides, environment=environment)

    def moment(self, attacked: Attacked) -> bool:
        """Wait for some moment of its life; False where it ended before."""
        if self.target.whole and self.random.random() < 0.3:
            due = time.monotonic() + self.random.uniform(0.0, 8.0)
            return attacked.wait_until(lambda: time.monotonic() >= due, LIMIT_S)
        wanted = self.random.randint(1, 20)
        return attacked.wait_until(lambda: attacked.requests >= wanted, LIMIT_S)


def kill(own: Round) -> int | None:
    """kill -9; None where it came in time."""
    attacked = own.begin()
    if own.moment(attacked):
        attacked.kill()
        return None
    return attacked.end(LIMIT_S)


def freeze(own: Round) -> int | None:
    """Stopped for some seconds, as a laptop's lid does, and woken."""
    attacked = own.begin()
    if own.moment(attacked):
        attacked.send(signal.SIGSTOP)
        time.sleep(own.random.uniform(1.0, 6.0))
        attacked.send(signal.SIGCONT)
    return attacked.end(LIMIT_S)


def two_at_once(own: Round) -> int | None:
    """Two processes on one sweep, the first frozen for a while: the other waits for what it has in flight."""
    first, second = own.begin(), own.begin()
    if own.moment(first):
        first.send(signal.SIGSTOP)
        time.sleep(own.random.uniform(1.0, 6.0))
        first.send(signal.SIGCONT)
    codes = (first.end(LIMIT_S), second.end(LIMIT_S))
    return max(codes)


def long_sleep(own: Round) -> int | None:
    """Frozen for so long that another process takes it for dead, and then woken after all."""
    first = own.begin()
    if not own.moment(first):
        return first.end(LIMIT_S)
    first.send(signal.SIGSTOP)
    second = own.begin()
    time.sleep(65.0)
    first.send(signal.SIGCONT)
    own.takeovers += 8
    return max(first.end(LIMIT_S), second.end(LIMIT_S))


def clock(own: Round) -> int | None:
    """Another time of day from the start, then a jump to yet another; time itself goes on."""
    library = fake_time()
    assert library is not None
    file = own.target.config.with_name("clock")
    file.write_text(own.random.choice(_CLOCKS))
    # What needs a steady clock gets one.
    settings = {
        "FAKETIME_TIMESTAMP_FILE": str(file),
        "FAKETIME_CACHE_DURATION": "1",
        "FAKETIME_DONT_FAKE_MONOTONIC": "1",
    }
    attacked = own.begin({"LD_PRELOAD": str(library), "DONT_FAKE_MONOTONIC": "1", **settings})
    if own.moment(attacked):
        file.write_text(own.random.choice(_CLOCKS))
    return attacked.end(LIMIT_S)


def full_disk(own: Round) -> int | None:
    """No room for more after so many kilobytes; what is written is made room for again afterwards."""
    place, room_kb = own.target.out, own.random.randint(300, 3000)
    kept = place.with_name("kept")
    place.mkdir(parents=True, exist_ok=True)
    used = sum(file.stat().st_size for file in place.rglob("*") if file.is_file()) // 1024
    place.rename(kept)
    place.mkdir()
    _mount("tmpfs", place, f"size={used + room_kb}k")
    try:
        subprocess.run(["cp", "-a", f"{kept}/.", str(place)], check=True)
        code = own.begin().end(LIMIT_S)
        if code == 0:
            return _back(place, kept, code)
        _mount("tmpfs", place, "remount,size=500m")
        return _back(place, kept, own.begin().end(LIMIT_S))
    finally:
        subprocess.run(["umount", "-l", str(place)], check=False)
        if kept.exists():
            place.rmdir()
            kept.rename(place)


def _back(place: Path, kept: Path, code: int) -> int:
    """What came to lie on the small disk, where the rest is."""
    subprocess.run(["rm", "-rf", str(kept)], check=True)
    subprocess.run(["cp", "-a", str(place), str(kept)], check=True)
    return code


def dead_server(own: Round) -> int | None:
    """The Prefect server is killed."""
    from seedbed.local import server

    server.start()
    attacked = own.begin()
    if own.moment(attacked) and (found := server.running()) is not None:
        os.killpg(found.pid, signal.SIGKILL)
    return attacked.end(LIMIT_S)


def _mount(kind: str, place: Path, options: str) -> None:
    subprocess.run(["mount", "-t", kind, "-o", options, kind, str(place)], check=True, capture_output=True)


def fake_time() -> Path | None:
    """libfaketime, where it is installed."""
    return next(Path("/usr/lib").glob("*/faketime/libfaketimeMT.so.1"), None)


def can_mount(folder: Path) -> bool:
    """Whether this user may make small disks."""
    place = folder / "probe"
    place.mkdir(parents=True)
    try:
        _mount("tmpfs", place, "size=64k")
        subprocess.run(["umount", str(place)], check=True)
    except (OSError, subprocess.CalledProcessError):
        return False
    finally:
        place.rmdir()
    return True


Attack = Callable[[Round], int | None]
