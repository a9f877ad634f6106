"""What is published of a run, forged one file at a time: what is told of each, and what may be otherwise."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from seedbed.errors import UserError
from seedbed.lm.ledger.answerers import answerers
from seedbed.lm.ledger.read_only import ledger_to_read
from seedbed.lm.ledger.reads import call_span, cost_rows
from seedbed.phases.context import read_run
from seedbed.phases.verification import published_files
from seedbed.phases.verification.checker import Checker
from seedbed.phases.verification.published_files import Accounted, check_published, missing_cases
from seedbed.report.canvas import cjk_font
from seedbed.report.sample_packs import packed
from seedbed.sweep.manifest import package_versions
from tests.support.forgeries.copies import RUN, Copy, copy_of, renew
from tests.support.forgeries.edits import edited, more, put, replaced

Rendered = dict[str, Any]


@pytest.fixture(scope="module")
def accounted(toy_run: Path) -> Accounted:
    run = read_run(toy_run)
    with ledger_to_read(run.ledger_url) as engine:
        sweep = (engine, run.plan.config.name, run.generation)
        return Accounted(cost_rows(*sweep), answerers(*sweep), call_span(*sweep))


@pytest.fixture(scope="module")
def rendered() -> Rendered:
    """What the stored rows give, rendered by the first test that asks: drawing it is what costs."""
    return {}


class Published:
    def __init__(self, copy: Copy, accounted: Accounted, rendered: Rendered, patch: pytest.MonkeyPatch) -> None:
        self.copy, self.run = copy, read_run(copy.run)
        self.finished = {cell.id for cell in self.run.plan.cells}
        self.also: Rendered = {}
        """What the rows give beside what they do give; None for what they do not."""
        self._accounted, own = accounted, published_files.render

        def render(*given: Any) -> Rendered:
            if not rendered:
                rendered.update(own(*given))
            return {name: text for name, text in {**rendered, **self.also}.items() if text is not None}

        patch.setattr(published_files, "render", render)

    def check(self, *, with_cases: bool = True) -> Checker:
        check = Checker(self.copy.root)
        with check.reading(self.copy.run / "manifest.json"):
            check_published(check, self.run, self._accounted, self.finished, with_cases=with_cases)
        return check

    def __call__(self, *, renewed: bool = True, with_cases: bool = True) -> tuple[list[str], list[str]]:
        if renewed:
            renew(self.copy)
        check = self.check(with_cases=with_cases)
        own = f"{self.copy.run.relative_to(self.copy.root)}/"
        return [str(one).removeprefix(own) for one in check.differences], list(check.unchecked)


@pytest.fixture
def told(
    toy_run: Path, tmp_path: Path, accounted: Accounted, rendered: Rendered, monkeypatch: pytest.MonkeyPatch
) -> Published:
    return Published(copy_of(toy_run, tmp_path / "out"), accounted, rendered, monkeypatch)


def test_what_is_as_it_was_published_has_no_difference(told: Published) -> None:
    assert told(renewed=False) == ([], [])
    assert told(with_cases=False) == ([], [])
    own = f"{told.copy.run.relative_to(told.copy.root)}/"
    named = {name.removeprefix(own) for name in told.check().files}
    there = {path.relative_to(told.copy.run).as_posix() for path in told.copy.run.rglob("*") if path.is_file()}
    assert there <= named


def test_every_file_and_every_drawing_is_counted(told: Published) -> None:
    before = told.check().figures
    for name in ("digits-seeds.svg", "digits-seeds.png"):
        drawing = next(p for p in told.copy.run.glob(f"plots/*{Path(name).suffix}"))
        told.also = {f"plots/{drawing.name}": None}
        assert told.check().figures == before - 2, "one as a name with a hash, one as a drawing"
        assert told(renewed=False)[0] == [
            f"plots/{drawing.name}: is not expected: the stored rows give no such drawing"
        ]


@pytest.mark.parametrize(
    ("name", "change", "said"),
    [
        ("summary.json", edited(f"{RUN}/summary.json", put("rows", 0, "n", to=more)), "rows[0].n is "),
        ("summary.csv", replaced(f"{RUN}/summary.csv", r"0\.\d{2}", "7.00"), "line 2 is '"),
        ("costs.csv", replaced(f"{RUN}/costs.csv", "5184", "5185"), "line 2 is '"),
        ("report.html", replaced(f"{RUN}/report.html", "search samples", "find samples"), "section 'samples' has '"),
        ("manifest.json", edited(f"{RUN}/manifest.json", put("status", to="odd")), "status "),
        ("manifest.json", edited(f"{RUN}/manifest.json", put("config_hash", to="0")), "config_hash is '0', the stored"),
        ("manifest.json", edited(f"{RUN}/manifest.json", put("run", to="0")), "run is '0', the stored rows give '"),
    ],
)  # fmt: skip
def test_what_is_forged_is_told(told: Published, name: str, change: Callable[[Copy], None], said: str) -> None:
    change(told.copy)
    found, unchecked = told()
    if said == "status ":
        assert found == [], "how it ended is the run's to say"
        return
    assert [one[: len(f"{name}: {said}")] for one in found] == [f"{name}: {said}"]
    assert unchecked == []


def test_without_the_cases_the_samples_of_a_report_are_not_compared(told: Published) -> None:
    replaced(f"{RUN}/report.html", "search samples", "find samples")(told.copy)
    assert told(with_cases=False) == ([], [])


def a_drawing(told: Published) -> Path:
    """An SVG with another coordinate."""
    path = min(told.copy.run.glob("plots/*-pareto.svg"))
    replaced(f"{RUN}/plots/{path.name}", r"(\d+)\.\d{4,}", r"\g<1>.5")(told.copy)
    return path


def test_a_drawing_must_be_the_same_where_it_is_drawn_alike(told: Published) -> None:
    path = a_drawing(told)
    picture = min(told.copy.run.glob("plots/*.png"))
    data = picture.read_bytes()
    picture.write_bytes(data[:-30] + bytes([data[-30] ^ 1]) + data[-29:])
    found, unchecked = told()
    assert sorted(one.partition(" of the SVG")[0].rpartition(" ")[0] for one in found) == sorted(
        [f"plots/{path.name}: line", f"plots/{picture.name}: is another picture than the stored rows"]
    )
    assert unchecked == []


@pytest.mark.parametrize("what", ["matplotlib", "font"])
def test_a_drawing_that_was_drawn_elsewhere_may_differ(told: Published, what: str) -> None:
    if what == "matplotlib":
        edited(f"{RUN}/manifest.json", put("packages", "matplotlib", to="0.1"))(told.copy)
        here = dict(package_versions())["matplotlib"]
        said = f"drawings that differ from those made here: they were drawn with matplotlib 0.1, here is {here}"
    else:
        edited(f"{RUN}/manifest.json", put("cjk_font", to="Odd"))(told.copy)
        said = f"drawings that differ from those made here: they were drawn with the font 'Odd', here is {cjk_font()!r}"
    assert told() == ([], []), "none differs yet"
    a_drawing(told)
    assert told() == ([], [said])


def test_what_is_beside_the_published_files_is_told_or_said(told: Published) -> None:
    for name in ("plots/more.svg", "samples/9.css", "notes.txt", "deep/er.txt"):
        (told.copy.run / name).parent.mkdir(exist_ok=True)
        (told.copy.run / name).write_text("x", encoding="utf-8")
    loose = "files in the run's folder that a report does not consist of: deep/er.txt, notes.txt"
    assert told() == (
        [
            "plots/more.svg: is not expected: the stored rows give no such drawing",
            "samples/9.css: is not expected: the stored rows give no such pack of samples",
        ],
        [loose],
    )
    assert told(with_cases=False) == ([], [loose])


def test_a_pack_of_samples_beside_the_page_is_compared_sample_by_sample(told: Published) -> None:
    def sheet(*samples: Any) -> str:
        return f'#pack{{--n:1;--d0:"{packed(json.dumps(samples).encode())}"}}\n'

    told.also = {"samples/0.css": sheet({"a": 1}, {"a": 2}).encode()}
    (told.copy.run / "samples").mkdir(exist_ok=True)
    (told.copy.run / "samples/0.css").write_text(sheet({"a": 1}, {"a": 7}), encoding="utf-8")
    unnamed = "manifest.json: files does not name samples/0.css"
    assert told() == ([unnamed, "samples/0.css: sample 1.a is 7, the stored rows give 2"], [])
    assert told(with_cases=False) == ([unnamed], [])


def test_a_file_that_is_gone_is_missing_once(told: Published) -> None:
    for name in ("summary.tex", "report.html"):
        (told.copy.run / name).unlink()
    assert sorted(told(renewed=False)[0]) == ["report.html: is missing", "summary.tex: is missing"]
    assert sorted(told()[0]) == [
        "manifest.json: files does not name report.html",
        "manifest.json: files does not name summary.tex",
        "report.html: is missing",
        "summary.tex: is missing",
    ]


def test_a_manifest_holds_the_hash_of_every_file_and_of_itself(told: Published) -> None:
    result = "experiment_runs/seed_1/sums_strong_Baseline_reader/toy_answers.jsonl"
    changed = "has changed since it was written (its hash differs)"
    for path in (told.copy.root / result, told.copy.run / "plan.json"):
        path.write_bytes(path.read_bytes() + b"\n")
    assert told(renewed=False)[0] == [f"plan.json: {changed}", f"{result}: {changed}"]
    edited(f"{RUN}/manifest.json", put("digest", to="0"))(told.copy)
    assert f"manifest.json: {changed}" in told(renewed=False)[0]

    def unnamed(data: Any) -> None:
        del data["files"]["plan.json"]
        del data["results"][result]

    edited(f"{RUN}/manifest.json", unnamed)(told.copy)
    assert told()[0] == [
        "manifest.json: files does not name plan.json",
        f"manifest.json: results does not name {result}",
    ]


def test_a_cell_has_a_result_or_is_said_to_have_none(told: Published) -> None:
    first, second = told.run.plan.cells[:2]
    told.finished -= {first.id}
    silent = f"summary.json: says nothing of {first.title!r}, which has no whole result here"
    assert told() == ([silent], [])
    missing = [{"cell": first.title, "reason": "out of luck"}]
    edited(f"{RUN}/summary.json", put("missing", to=missing))(told.copy)
    reasons = "why cells have no result: the reasons are as the run gives them"
    rendered = "summary.json: missing has 1 entries, the stored rows give 0"
    assert told() == (["manifest.json: status is 'completed', but 1 cells have no result", rendered], [reasons])
    edited(f"{RUN}/manifest.json", put("status", to="failed"))(told.copy)
    assert told() == ([rendered], [reasons])
    missing += [{"cell": second.title, "reason": ""}, {"cell": "nobody", "reason": ""}]
    edited(f"{RUN}/summary.json", put("missing", to=missing))(told.copy)
    assert told()[0][:2] == [
        f"summary.json: missing names {second.title!r}, which has a result",
        "summary.json: missing names 'nobody', which is no cell of this sweep",
    ]


def test_labels_are_those_that_the_report_was_made_with(told: Published) -> None:
    path = told.copy.run.parent / "labels.jsonl"
    path.write_bytes(b"one\ntwo\nthr")
    used = {"bytes": 4, "sha256": hashlib.sha256(b"one\n").hexdigest()}
    edited(f"{RUN}/manifest.json", put("labels", to=used))(told.copy)
    later = "labels that were given after the report was written; `seedbed report` puts them in"
    given = "whether raters gave the labels that labels.jsonl holds"
    assert told() == ([], [later, given])
    assert str(path.relative_to(told.copy.root)) in told.check().files
    path.write_bytes(b"one\n")
    assert told() == ([], [given])
    path.write_bytes(b"two\n")
    changed = "sweeps/toys/labels.jsonl: is not what the report was made with: lines have been changed or are missing"
    found, unchecked = told()
    assert found[0] == changed
    assert "manifest.json: labels.sha256 is " in found[1]
    assert unchecked == [given]


def test_benchmarks_that_cannot_be_read_are_named_once_with_the_reason() -> None:
    asked: list[str] = []

    def benchmark(cell: Any) -> None:
        asked.append(cell.benchmark)
        if cell.benchmark == "gone":
            raise FileNotFoundError("no such file")
        if cell.benchmark == "bad":
            raise UserError("not ours")

    names = ((0, "gone"), (0, "fine"), (0, "gone"), (1, "gone"), (0, "bad"))
    cells = [SimpleNamespace(experiment=experiment, benchmark=name) for experiment, name in names]
    run: Any = SimpleNamespace(plan=SimpleNamespace(cells=cells, benchmark=benchmark))
    assert missing_cases(run) == {(0, "gone"): "no such file", (1, "gone"): "no such file", (0, "bad"): "not ours"}
    assert asked == ["gone", "fine", "gone", "bad"]
