"""The lines of a run in the terminal, on screens of any width and with no reader at all."""

from __future__ import annotations

import io
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from rich.console import Console, RenderableType

from seedbed.lm.runtime import close_runtimes
from seedbed.local.board import Board, board, headline
from seedbed.local.progress_bar import show_progress
from seedbed.phases.context import open_run
from seedbed.phases.progress import listen
from seedbed.phases.standing import Standing, standing
from seedbed.report.screen import folded
from tests.support.cells import Prepared, prepared

CONFIG = """\
name: look
seeds: [0, 1]
models:
  reader: {model: offline/reader, temperature: 0.7, retries: 4, backoff_s: 0.0, options: {errors: {server: 0.2}}}
budget: {max_usd: 3.0}
experiments:
  - {suite: crosslingual, models: [reader], benchmarks: [{name: tiny, limit: 5}], systems: [direct, multi]}
"""


@pytest.fixture
def ready(tmp_path: Path) -> Iterator[Prepared]:
    (tmp_path / "look.yaml").write_text(CONFIG, encoding="utf-8")
    yield prepared(tmp_path / "look.yaml", tmp_path / "out")
    close_runtimes()


@pytest.mark.parametrize("width", [40, 80, 120, 200])
def test_the_board_and_its_last_words_fit_the_screen_and_break_between_figures(ready: Prepared, width: int) -> None:
    ready.phase(ready.plan.cells[0], "generate")
    now = standing(open_run(ready.run))
    for text in (drawn(board(now), width), folded(headline(now), width, "  ")):
        assert max(map(len, text.splitlines())) <= width
        assert f"${now.calls.spent_usd:.4f} of $3" in text
        assert f"{now.calls.paid} calls paid, {now.calls.reused} reused" in text


def drawn(shown: RenderableType, width: int = 120) -> str:
    screen = Console(file=io.StringIO(), width=width, force_terminal=False, color_system=None)
    screen.print(shown)
    assert isinstance(screen.file, io.StringIO)
    return screen.file.getvalue()


def test_the_clock_goes_on_between_two_looks_and_waiting_for_others_puts_off_none(ready: Prepared) -> None:
    ready.phase(ready.plan.cells[0], "generate")
    found = replace(standing(open_run(ready.run)), status="running", elapsed_s=10.0)
    passed = [0.0]
    looked: list[float] = []

    def look() -> Standing:
        looked.append(passed[0])
        passed[0] += 0.5  # of which this thread has used nothing
        return found

    shown = Board(look, lambda: passed[0])
    assert " · 10 s" in drawn(shown)
    passed[0] += 0.9
    assert " · 11 s" in drawn(shown)
    assert len(looked) == 1
    passed[0] += 0.2
    assert " · 10 s" in drawn(shown)
    assert len(looked) == 2


def test_who_watches_goes_by_what_the_board_has_seen(ready: Prepared) -> None:
    found = replace(standing(open_run(ready.run)), status="running")
    passed, states = [0.0], ["running", "completed"]
    shown = Board(lambda: replace(found, status=states.pop(0)), lambda: passed[0])
    assert shown.going_on, "nobody has looked yet"
    drawn(shown)
    assert shown.going_on
    passed[0] += 0.5
    drawn(shown)
    assert shown.going_on
    passed[0] += 1.0
    drawn(shown)
    assert not shown.going_on


def test_when_all_cells_are_done_it_says_what_is_still_at_work(ready: Prepared) -> None:
    for cell in ready.plan.cells:
        ready.all_phases(cell)
    running = replace(standing(open_run(ready.run)), status="running")
    told = headline(running)
    assert "100% · 4 of 4 cells" in told
    assert "making the report" in told
    assert "left" not in told


class Gone(io.StringIO):
    """What is written to after its reader has left."""

    def write(self, s: str, /) -> int:
        raise BrokenPipeError


def test_a_phase_ends_well_though_nobody_reads_what_is_told_of_it(
    ready: Prepared, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "stdout", Gone())
    with show_progress(Path(ready.run)):
        ready.phase(ready.plan.cells[0], "generate")
    assert standing(open_run(ready.run)).calls.paid == 5


def test_a_listener_that_cannot_write_fails_no_phase(ready: Prepared) -> None:
    def tell(*_: object) -> None:
        raise OSError(28, "No space left on device")

    remove = listen(tell)
    try:
        ready.phase(ready.plan.cells[0], "generate")
    finally:
        remove()
    assert standing(open_run(ready.run)).cells[0].phases == ["generate"]
