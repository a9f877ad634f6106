"""A run at a glance, in the terminal: what is done, what it costs, what goes wrong, how long it will take."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

from rich.console import Console, ConsoleOptions, Group, RenderableType
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from seedbed.lm.batches.words import batch_line, in_words
from seedbed.phases.standing import CellStanding, Standing
from seedbed.report.screen import folded
from seedbed.storage.redact import redact

_BAR = 20
_SHOWN = 6
"""Cells at work that are listed, the slowest first."""
_AT_LEAST_S = 1.0
_SHARE = 0.05
"""Of the time that may go into looking."""
_BETWEEN = " · "
_GOING_ON = ("running", "starting")


class Board:
    """Looks again at most every second, and less often where a look costs much. Its clock goes on in between."""

    def __init__(self, look: Callable[[], Standing], clock: Callable[[], float] = time.monotonic) -> None:
        self._look, self._clock = look, clock
        self._next = self._seen_at = 0.0
        self._seen: Standing | str = "reading the plan"

    @property
    def going_on(self) -> bool:
        """Whether the run was at work, or about to be, when it was last looked at."""
        return isinstance(self._seen, str) or self._seen.status in _GOING_ON

    def __rich__(self) -> RenderableType:
        began = self._clock()
        if began >= self._next:
            used = time.thread_time()
            try:
                self._seen = self._look()
            except Exception as error:
                # A database that is busy or gone for a moment must not end what is looked at.
                self._seen = redact(f"cannot look just now: {error}")
            self._seen_at = self._clock()
            # What it costs counts, not how long others kept it waiting: on a busy machine the board would stand still.
            rest = max(_AT_LEAST_S, self._seen_at - began, (time.thread_time() - used) / _SHARE)
            self._next = self._seen_at + rest
        if isinstance(self._seen, str):
            return Text(self._seen, style="yellow")
        return board(_later(self._seen, self._clock() - self._seen_at))


def _later(seen: Standing, seconds: float) -> Standing:
    """The same, so much later, where time still counts."""
    return replace(seen, elapsed_s=seen.elapsed_s + seconds) if seen.status in _GOING_ON else seen


def board(now: Standing) -> RenderableType:
    """Everything that a screen shows of a run."""
    lines = Table.grid(padding=(0, 1))
    lines.add_column(no_wrap=True)
    lines.add_column(overflow="fold")
    lines.add_row(ProgressBar(total=1.0, completed=now.share, width=_BAR), _Folded(_BETWEEN.join(_progress(now))))
    parts: list[RenderableType] = [lines, _Folded(_BETWEEN.join(_calls(now)))]
    parts += [_Folded(line, "yellow") for line in troubles(now)]
    parts += [Text(line) for line in batch_lines(now)]
    running = sorted((cell for cell in now.cells if cell.state == "running"), key=lambda cell: cell.share)
    if running:
        parts.append(_running(running))
    return Group(*parts)


def headline(now: Standing) -> str:
    """Cells, time, calls and dollars in one line."""
    return _BETWEEN.join([*_progress(now), *_calls(now)])


@dataclass(frozen=True)
class _Folded:
    """A line of the board, broken where the screen ends."""

    line: str
    style: str = ""

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> Iterator[Text]:
        yield Text(folded(self.line, options.max_width), style=self.style)


def _progress(now: Standing) -> Iterator[str]:
    counts = now.counts
    cells = f"{counts['done'] + counts['cached']} of {len(now.cells)} cells"
    # Where no process is at work, none of its cells is running.
    said = {"cached": "cached", "running": "begun" if now.status == "stopped" else "running", "failed": "failed"}
    beside = [f"{counts[state]} {word}" for state, word in said.items() if counts[state]]
    yield f"{now.share:.0%}"
    yield f"{cells} ({', '.join(beside)})" if beside else cells
    yield clock(now.elapsed_s)
    if now.status == "running" and now.share == 1.0:
        yield "making the report"
    elif now.left_s is not None:
        yield f"about {clock(now.left_s)} left"


def _calls(now: Standing) -> Iterator[str]:
    calls = now.calls
    if now.samples is not None:
        yield f"{now.samples[0]:,} of {now.samples[1]:,} samples"
    yield f"{calls.paid:,} calls paid, {calls.reused:,} reused"
    if now.status == "running":
        yield f"{now.rate:.1f}/s"
    yield f"{calls.tokens:,} tokens"
    yield f"${calls.spent_usd:.4f}" + (f" of ${now.max_usd:g}" if now.max_usd is not None else "")


def batch_lines(now: Standing) -> Iterator[str]:
    """What waits for batches, a line each: age and counts."""
    if now.gathering is not None:
        yield f"{now.gathering.requests:,} requests gather for a batch, {in_words(now.gathering.age_s)}"
    for batch in now.batches[:_SHOWN]:
        yield redact(f"batch {batch_line(batch)}")
    if len(now.batches) > _SHOWN:
        yield f"and {len(now.batches) - _SHOWN} batches more"


def troubles(now: Standing) -> Iterator[str]:
    """What a user should know before it is over."""
    if now.calls.failed:
        kinds = ", ".join(f"{kind} {count:,}" for kind, count in now.calls.failed.most_common(5))
        yield f"failed attempts: {kinds}; tried again, or counted as errors"
    if now.calls.at_risk_usd:
        told = "more may have been billed for calls whose end was not seen (lost, timed out); the cap counts it"
        yield f"up to ${now.calls.at_risk_usd:.4f} {told if now.max_usd is not None else told.partition(';')[0]}"
    if now.status == "starting":
        yield "waiting for the Prefect server and the first calls; a server that is not running yet takes some seconds"
    if now.status == "stopped":
        yield "no process is at work on this run: run it again to go on; what is paid for is kept"


def clock(seconds: float) -> str:
    """Hours, minutes and seconds, as much as is needed."""
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    minutes, rest = divmod(whole, 60)
    return f"{minutes}:{rest:02d} min" if minutes < 60 else f"{minutes // 60}:{minutes % 60:02d} h"


def _running(cells: Sequence[CellStanding]) -> Table:
    table = Table.grid(padding=(0, 2))
    table.add_column(overflow="ellipsis", no_wrap=True, ratio=1)
    for _ in range(2):
        table.add_column(no_wrap=True, justify="right")
    for cell in cells[:_SHOWN]:
        table.add_row(f"  {cell.title}", *progress_words(cell))
    if len(cells) > _SHOWN:
        table.add_row(f"  and {len(cells) - _SHOWN} more", "", "")
    return table


def progress_words(cell: CellStanding) -> tuple[str, str]:
    """The phase a cell is in, and how many of its samples have an answer."""
    names = ("optimise", "generate", "score")[-cell.n_phases :]
    phase = names[min(len(cell.phases), len(names) - 1)]
    return phase, f"{cell.answered} of {cell.samples}" if cell.samples is not None else f"{cell.answered} asked"
