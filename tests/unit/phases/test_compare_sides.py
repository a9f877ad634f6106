"""Which systems of two sides are held against each other, and what the page of them shows first."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from seedbed.analysis.results import Comparison
from seedbed.analysis.score_table import ScoreTable, TableKey
from seedbed.errors import UserError
from seedbed.phases.compare import Side, compare, matched, write_comparison
from seedbed.phases.context import SweepRun, open_run
from seedbed.phases.imports.imported import Imported, ImportedRow, ImportedTable
from seedbed.report import sample_packs
from seedbed.report.read_page import PageParts, read_page
from seedbed.suite import Metric


@pytest.fixture
def run(toy_run: Path) -> SweepRun:
    return open_run(str(toy_run))


def tables(*keys: str) -> dict[TableKey, Any]:
    """A table for each "suite benchmark model"."""
    made: dict[TableKey, Any] = {}
    for text in keys:
        suite, benchmark, model = text.split()
        key = (suite, benchmark, model)
        made[key] = ScoreTable(key, "x", [], frozenset(), [], np.zeros(0, dtype=np.int64), {}, {}, {}, [], {})
    return made


@pytest.mark.parametrize(
    ("ours", "theirs", "expected"),
    [
        (["s b old"], ["s b old"], [("old", "old")]),
        (["s b old"], ["s b new"], [("old", "new")]),
        (["s b old", "s b new"], ["s b new"], [("new", "new")]),
        (["s b one", "s b two"], ["s b new"], []),
        (["s b old"], ["s b one", "s b two"], []),
        (["s b one", "s b two"], ["s b three", "s b four"], []),
        (["s b old"], ["s c new"], []),
        (["s b old"], ["t b new"], []),
        (["s b old", "s c old"], ["s b new", "s c new"], [("old", "new"), ("old", "new")]),
    ],
)
def test_a_benchmark_is_matched_by_model_or_where_each_side_has_only_one(
    ours: list[str], theirs: list[str], expected: list[tuple[str, str]]
) -> None:
    found = matched(tables(*ours), tables(*theirs))
    assert [(base.key[2], own.key[2]) for base, own in found] == expected
    assert all(base.key[:2] == own.key[:2] for base, own in found)


def pairs(a: Side, b: Side) -> list[tuple[str, str]]:
    return [(c.baseline, c.label) for c in compare(a, b) if c.metric == "right"]


def test_without_names_each_system_is_held_against_the_one_of_its_name(run: SweepRun) -> None:
    assert pairs(Side(run), Side(run)) == [
        ("toys:weak", "weak"), ("toys:middle", "middle"), ("toys:strong", "strong"), ("toys:ask", "ask"),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [
        ("weak", "strong", ("toys:weak", "strong")),
        (None, "strong", ("toys:strong", "strong")),
        ("weak", None, ("toys:weak", "weak")),
    ],
)
def test_a_system_that_is_named_on_one_side_meets_its_like_on_the_other(
    run: SweepRun, first: str | None, second: str | None, expected: tuple[str, str]
) -> None:
    assert pairs(Side(run, first), Side(run, second)) == [expected]


def imported(name: str, benchmark: str = "sums") -> Imported:
    rows = [ImportedRow(f"q{n}", 1, {"right": n % 2}) for n in range(10)]
    return Imported(name, "inspect_ai", [ImportedTable(benchmark, "m", [Metric("right", "Right")], rows)])


def test_a_side_is_called_by_its_sweep_or_import_and_its_system(run: SweepRun) -> None:
    assert [Side(run).name, Side(run, "weak").name] == ["toys", "toys:weak"]
    assert [Side(imported("old")).name, Side(imported("old"), "system").name] == ["old", "old:system"]


def test_sides_that_share_no_benchmark_are_told_how_to_be_named(run: SweepRun) -> None:
    with pytest.raises(UserError, match=r"^old and new share no system on the same benchmark; name them as SWEEP:SYS"):
        compare(Side(imported("old")), Side(imported("new", "other")))


def test_a_system_without_results_is_named_with_those_that_have_some(run: SweepRun) -> None:
    with pytest.raises(UserError, match=r"^toys:stronk: no such system with results; known: ask, middle, strong, weak"):
        compare(Side(run), Side(run, "stronk"))


def test_a_run_without_any_result_cannot_be_a_side(run: SweepRun, tmp_path: Path) -> None:
    empty = replace(run, store=replace(run.store, root=tmp_path))
    with pytest.raises(UserError, match=r"^toys: none of its cells has a result here"):
        compare(Side(run), Side(empty))


def test_what_was_imported_has_scores_and_no_samples_to_show(tmp_path: Path) -> None:
    side = Side(imported("old"))
    made = compare(side, side)
    assert [c.difference for c in made] == [0.0]
    with pytest.raises(UserError, match=r"^--open: old was imported with its scores alone"):
        write_comparison(side, side, made, tmp_path)


def page_of(path: Path) -> PageParts:
    return read_page(path.read_text(encoding="utf-8"))


def verdict(made: list[Comparison], label: str, word: Any, difference: float) -> list[Comparison]:
    """The comparisons as they would be had the system done so."""
    return [
        replace(c, verdict=word, difference=difference) if (c.label, c.metric) == (label, "digits") else c for c in made
    ]


def test_the_page_opens_at_what_lost_most(run: SweepRun, tmp_path: Path) -> None:
    made = verdict(compare(Side(run), Side(run)), "strong", "worse", -0.3)
    made = verdict(made, "middle", "worse", -0.1)
    index = page_of(write_comparison(Side(run), Side(run), made, tmp_path)).packs["samples-index"]
    # One sweep on both sides: its systems are told apart by letters.
    assert {name: index["view"][name] for name in ("metric", "system", "against")} == {
        "metric": "digits", "system": "B: strong", "against": "A: strong",
    }  # fmt: skip
    (table,) = index["tables"]
    assert [system["label"] for system in table["systems"]] == [
        f"{side}: {label}" for label in ("weak", "middle", "strong", "ask") for side in "AB"
    ]
    assert table["baseline"] is None, "each pair has its own side to be held against"


def test_two_systems_alone_have_the_first_as_their_baseline(run: SweepRun, tmp_path: Path) -> None:
    a, b = Side(run, "weak"), Side(run, "strong")
    (table,) = page_of(write_comparison(a, b, compare(a, b), tmp_path)).packs["samples-index"]["tables"]
    assert table["baseline"] == "toys: weak"
    assert [(system["label"], system["seeds"]) for system in table["systems"]] == [
        ("toys: weak", [0, 1]), ("toys: strong", [0, 1]),
    ]  # fmt: skip


def test_samples_that_no_page_holds_lie_beside_it(
    run: SweepRun, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sample_packs, "INSIDE", 0)
    a, b = Side(run, "weak"), Side(run, "strong")
    path = write_comparison(a, b, compare(a, b), tmp_path / "small")
    assert path == tmp_path / "small/compare.html"
    assert [name for name in page_of(path).packs if name.startswith("pack-")] == []
    assert (tmp_path / "small/samples/0.css").stat().st_size > 1000
