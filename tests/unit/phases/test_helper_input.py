"""What a helping process reads: requests as they come, and its end where the input ends."""

from __future__ import annotations

import io
import queue
import threading

import pytest

from seedbed.phases import helper as module
from seedbed.phases.helper import Message, packed

PATIENCE_S = 5.0


def requests_of(data: bytes, monkeypatch: pytest.MonkeyPatch, count: int) -> tuple[list[Message], int | None]:
    """The first requests of an input, and with which code the process would end then."""
    ended = queue.SimpleQueue[int | None]()
    monkeypatch.setattr(module.os, "_exit", ended.put)
    found = module._received(io.BytesIO(data))  # pyright: ignore[reportPrivateUsage]
    came = [next(found) for _ in range(count)]
    if count and came[-1]["do"] == "end":
        return came, None
    # The thread that reads is started by whoever asks for a request.
    threading.Thread(target=lambda: next(found), daemon=True).start()
    return came, ended.get(timeout=PATIENCE_S)


FIRST = packed({"do": "open", "n": 1})


@pytest.mark.parametrize(
    ("data", "count"),
    [
        (b"", 0),
        (FIRST, 1),
        (FIRST + FIRST, 2),
        (FIRST + FIRST[:3], 1),
        (FIRST + FIRST[:-1], 1),
    ],
)
def test_a_helper_ends_with_its_input(data: bytes, count: int, monkeypatch: pytest.MonkeyPatch) -> None:
    came, code = requests_of(data, monkeypatch, count)
    assert came == [{"do": "open", "n": 1}] * count
    assert code == 1


def test_after_the_end_nothing_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    left = io.BytesIO(FIRST + packed({"do": "end"}) + FIRST)
    ended: list[int] = []
    monkeypatch.setattr(module.os, "_exit", ended.append)
    found = module._received(left)  # pyright: ignore[reportPrivateUsage]
    assert [next(found)["do"], next(found)["do"]] == ["open", "end"]
    reader = next((thread for thread in threading.enumerate() if thread.name == "seedbed-requests"), None)
    if reader is not None:
        reader.join(PATIENCE_S)
    assert (left.read(), ended) == (FIRST, [])
