"""A night as a row of its sweep's history, and how the last of them are shown."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from seedbed.analysis.results import Comparison
from seedbed.nightly.gate import GateResult
from seedbed.nightly.history import add_night, night_row, plot, read_history, table
from seedbed.report import canvas
from seedbed.storage.store import Store, write_text
from tests.unit.nightly.test_gate import FIGURES, entry

COMPARED = Comparison("crosslingual", "tiny", "reader", "multi", "base", "em")


def result(*comparisons: Comparison) -> GateResult:
    return GateResult("pass", [], comparisons, "v1")


def figures_of(values: Mapping[str, Any], *comparisons: Comparison) -> dict[str, Any]:
    n = len(next(iter(values.values())))
    return night_row("r", "at", "completed", result(*comparisons), [entry(values, ids=range(n))])["figures"]


def test_a_row_sums_samples_errors_and_dollars_over_all_systems() -> None:
    cheap = replace(FIGURES, n_samples=10, n_errors=3, list_usd=0.25)
    row = night_row("r", "at", "partial", result(), [entry(), entry(figures=cheap)])
    assert (row["run"], row["at"], row["status"], row["verdict"]) == ("r", "at", "partial", "pass")
    assert (row["headline"], row["baseline"]) == ("pass: no worse than v1", "v1")
    assert (row["n_samples"], row["n_errors"], row["list_usd"]) == (110, 3, 1.25)


def test_dollars_are_unknown_where_one_price_is_or_nothing_ran() -> None:
    blind = replace(FIGURES, list_usd=None)
    assert night_row("r", "at", "completed", result(), [entry(), entry(figures=blind)])["list_usd"] is None
    empty = night_row("r", "at", "broken", result(), [])
    assert (empty["list_usd"], empty["n_samples"], empty["figures"]) == (None, 0, {})
    free = replace(FIGURES, list_usd=0.0)
    assert night_row("r", "at", "completed", result(), [entry(figures=free)])["list_usd"] == 0.0


def test_the_figures_of_a_row_are_the_judged_ones_or_the_first() -> None:
    values = {"multi": [1.0, 0.0, 1.0, 1.0], "cross": [0.5, 0.5, 0.5, 0.5]}
    first = {"tiny · multi · F1": {"mean": 0.75, "n": 4}, "tiny · cross · F1": {"mean": 0.5, "n": 4}}
    assert figures_of(values) == first
    assert figures_of(values, COMPARED) == {
        "tiny · multi · EM": {"mean": 0.375, "n": 4},
        "tiny · cross · F1": {"mean": 0.5, "n": 4},
    }
    assert figures_of(values, replace(COMPARED, model="another")) == first


def test_a_figure_is_of_the_samples_that_have_it_and_left_out_where_none_has() -> None:
    values = {"multi": [1.0, np.nan, 0.0, 1.0], "cross": [np.nan] * 4}
    (figure,) = figures_of(values).values()
    assert figure == {"mean": pytest.approx(2 / 3), "n": 3}


def row(number: int, verdict: str = "pass", **more: Any) -> dict[str, Any]:
    figures = {"tiny · multi · F1": {"mean": number / 100, "n": 80}}
    return {
        "run": f"run{number:03d}", "at": f"2026-01-{number:02d}T03:00:00Z", "commit": "0123456789abcdef",
        "status": "completed", "verdict": verdict, "headline": f"{verdict}: because: of it", "baseline": "v1",
        "n_samples": 80, "n_errors": 2, "list_usd": 0.12345, "figures": figures, **more,
    }  # fmt: skip


def test_a_night_is_shown_as_one_line() -> None:
    assert table([row(7)]) == [
        {
            "night": "2026-01-07T03:00:00Z", "verdict": "pass", "tiny · multi · F1": "0.070 (n=80)",
            "errors": "2 of 80", "list $": "0.1235", "commit": "01234567", "why": "because: of it",
        }
    ]  # fmt: skip
    unknown = table([row(7, list_usd=None, commit=None, figures={})])[0]
    assert (unknown["list $"], unknown["commit"], "tiny · multi · F1" in unknown) == ("-", "-", False)


def test_the_last_thirty_nights_are_shown_the_newest_first() -> None:
    rows = [row(number) for number in range(1, 32)]
    shown = [line["night"][8:10] for line in table(rows)]
    assert shown == [f"{number:02d}" for number in range(31, 1, -1)]
    assert len(table(rows[:30])) == 30
    assert table([]) == []


def test_nights_are_kept_a_file_each_and_read_in_their_order(tmp_path: Path) -> None:
    store = Store(tmp_path)
    assert read_history(store, "s") == []
    add_night(store, "s", row(2))
    assert [own["run"] for own in add_night(store, "s", row(1))] == ["run001", "run002"]
    write_text(tmp_path / "nightly/s/nights/notes.txt", "not one of them")
    assert [own["run"] for own in read_history(store, "s")] == ["run001", "run002"]
    assert [own["run"] for own in add_night(store, "s", row(1, status="partial"))] == ["run001", "run002"]


@pytest.fixture
def drawn(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Any]:
    """The drawing of some nights, before it is made a picture."""
    kept: list[Any] = []

    def keep(drawing: Any, name: str, of: str) -> Any:
        kept.append(drawing)
        return SimpleNamespace(png=f"{name} of {of}".encode())

    monkeypatch.setattr(canvas, "rendered", keep)

    def draw(*rows: Mapping[str, Any]) -> Any:
        path = plot(Store(tmp_path), "s", rows)
        assert (path, path.read_bytes()) == (tmp_path / "nightly/s/history.png", b"history of s")
        return kept[-1]

    return draw


def test_each_figure_is_a_line_over_the_nights_that_have_it(drawn: Callable[..., Any]) -> None:
    one, other = {"b": {"mean": 0.75, "n": 3}}, {"b": {"mean": 0.5, "n": 3}, "a": {"mean": 0.25, "n": 3}}
    drawing = drawn(row(1, figures=one), row(2, figures={}), row(3, figures=other))
    lines = drawing.axes[0].get_lines()
    assert {line.get_label(): line.get_xydata().tolist() for line in lines} == {
        "a": [[2, 0.25]],
        "b": [[0, 0.75], [2, 0.5]],
    }
    assert len({line.get_color() for line in lines}) == len({line.get_linestyle() for line in lines}) == 2
    assert len(drawing.legends) == 1


def test_each_night_is_marked_by_its_verdict_at_its_figures(drawn: Callable[..., Any]) -> None:
    drawing = drawn(row(10), row(20, "fail"), row(30), row(31, "inconclusive", figures={}))
    marks = {dots.get_label(): dots.get_offsets().tolist() for dots in drawing.axes[0].collections}
    assert marks == {"pass": [[0, 0.1], [2, 0.3]], "fail": [[1, 0.2]]}


def dates(drawing: Any) -> list[str]:
    return [label.get_text() for label in drawing.axes[0].get_xticklabels()]


def test_a_night_stands_over_its_date_and_time_some_ten_of_them_at_most(drawn: Callable[..., Any]) -> None:
    few = drawn(*(row(number) for number in range(1, 4)))
    assert dates(few) == ["01-01\n03:00", "01-02\n03:00", "01-03\n03:00"]
    assert few.axes[0].get_xticks().tolist() == [0, 1, 2]
    many = drawn(*(row(number) for number in range(1, 32)))
    # The last thirty, every third of them.
    assert [text[:5] for text in dates(many)] == [f"01-{number:02d}" for number in range(2, 32, 3)]


def test_nights_without_a_figure_need_no_legend(drawn: Callable[..., Any]) -> None:
    drawing = drawn(row(1, figures={}))
    assert (drawing.legends, drawing.axes[0].get_lines()[:]) == ([], [])
