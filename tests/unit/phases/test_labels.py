"""Labels correct what a judge said, survive later runs, and are part of what is verified and given away."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from seedbed.errors import UserError
from seedbed.phases.aggregate import publish_again
from seedbed.phases.archive import write_archive
from seedbed.phases.context import read_run
from seedbed.phases.labelling import Labelling
from seedbed.phases.labels import LABELS, read_labels
from seedbed.phases.publish import Choices
from seedbed.phases.received import received
from seedbed.phases.verify import verify
from seedbed.storage.store import read_json
from tests.support.judged import judged_run, truth_of

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run of 150 samples with labels of the first 60 drawn, by a rater who knows the truth."""
    folder = judged_run(tmp_path_factory.mktemp("labels"), n=150)
    work = Labelling(read_run(folder), "kindness", "ann")
    _label(work, range(120))
    publish_again(read_run(folder), Choices())
    return folder


@pytest.fixture
def run(made: Path, tmp_path: Path) -> Path:
    """A copy to spoil."""
    shutil.copytree(made.parents[2], tmp_path / "out")
    shutil.copy(made.parents[3] / "judges.yaml", tmp_path)
    return tmp_path / "out" / made.relative_to(made.parents[2])


def _label(work: Labelling, places: range, *, off: int = 0) -> None:
    for at in places:
        mark = round(truth_of(work.items[at].answer.shown["answer"])) - 1
        work.label(at, max(0, min(4, mark + off)))


def _check(folder: Path) -> dict[str, Any]:
    publish_again(read_run(folder), Choices())
    (check,) = read_json(folder / "summary.json")["judges"]
    return check


def test_planted_leniency_and_favour_are_found_and_taken_out(made: Path) -> None:
    check = _check(made)
    bias = {entry["value"]: entry for entry in check["biases"] if entry["of"] == "system"}
    assert bias["gentle"]["bias"] > bias["harsh"]["bias"] + 0.1 > 0.3
    assert bias["gentle"]["ci_low"] > 0, "the judge is lenient beyond doubt"
    assert {entry["of"] for entry in check["biases"]} == {"system", "half"}, "a slice by a fact of the samples"
    truths = _truths(made)
    for mean in check["means"]:
        assert mean["ci_low"] <= truths[mean["label"]] <= mean["ci_high"]
        assert abs(mean["mean"] - truths[mean["label"]]) < abs(mean["judged"] - truths[mean["label"]])
        assert mean["worth"] > 1, "the judge is worth labels"
    (contest,) = check["contests"]
    assert contest["judged"] > contest["difference"]
    assert contest["ci_low"] <= truths["gentle"] - truths["harsh"] <= contest["ci_high"]
    assert contest["survives"] is (contest["verdict"] == contest["judged_verdict"])
    assert check["kappa"] is not None
    assert 0.5 < check["kappa"] < 0.97


def _truths(folder: Path) -> dict[str, float]:
    run = read_run(folder)
    values: dict[str, list[float]] = {}
    for cell in run.plan.cells:
        lines = (run.store.cell_dir(cell) / "predictions.jsonl").read_text(encoding="utf-8").splitlines()
        values.setdefault(cell.label, []).extend(truth_of(json.loads(line)["output"]["answer"]) for line in lines)
    return {label: float(np.mean(own)) for label, own in values.items()}


def test_the_page_and_the_tables_show_it(made: Path) -> None:
    _check(made)
    for name in ("report.html", "summary.md"):
        text = (made / name).read_text(encoding="utf-8")
        for shown in ("agreement", "could not tell", "corrected", "judge says"):
            assert shown in text, (name, shown)


def test_verify_computes_it_again_and_names_a_label_that_was_changed(run: Path) -> None:
    assert verify(read_run(run), again=False).differences == []
    path = run.parent / LABELS
    lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
    lines[5] = lines[5].replace('"value": ', '"value": 1.0, "was": ')
    path.write_text("".join(lines), encoding="utf-8")
    told = [str(difference) for difference in verify(read_run(run), again=False).differences]
    assert any("labels.jsonl" in line and "changed" in line for line in told)
    assert any("summary.json" in line and "judges" in line for line in told)


def test_labels_given_after_the_report_leave_it_as_true_as_it_was(run: Path) -> None:
    _label(Labelling(read_run(run), "kindness", "ann"), range(120, 140))
    checked = verify(read_run(run), again=False)
    assert checked.differences == []
    assert any("after the report was written" in sentence for sentence in checked.unchecked)
    before = read_json(run / "summary.json")["judges"][0]["n_labels"]
    assert _check(run)["n_labels"] > before


def test_an_archive_carries_the_labels_and_verifies(run: Path, tmp_path: Path) -> None:
    write_archive(read_run(run), tmp_path / "sent.zip")
    with received(str(tmp_path / "sent.zip"), "", trust_plugins=True) as found:
        assert (found.run.folder.parent / LABELS).exists()
        assert verify(found.run, again=False, archive=found.archive).differences == []


def test_only_what_was_drawn_counts_and_the_rest_waits(run: Path) -> None:
    path = run.parent / LABELS
    lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
    path.write_text("".join([lines[0], *lines[11:]]), encoding="utf-8")
    check = _check(run)
    assert check["n_labels"] == 0
    assert check["n_waiting"] >= 110, "an answer that two systems gave is a label of both"
    assert check["means"][0]["mean"] is None
    assert check["contests"][0]["reason"] == "too few labels"


def test_two_raters_are_held_against_each_other_and_a_later_mark_replaces_an_earlier(run: Path) -> None:
    bob = Labelling(read_run(run), "kindness", "bob")
    assert bob.page(None)["at"] == 0, "a second rater begins where the first did"
    _label(bob, range(30), off=1)
    _label(bob, range(5))
    check = _check(run)
    assert check["raters"] == {"ann": 120, "bob": 30}
    assert check["n_both"] == 30
    assert 0.3 < check["rater_kappa"] < 1


def test_an_answer_that_changed_has_no_label_any_more(run: Path) -> None:
    found = read_run(run)
    work = Labelling(found, "kindness", "ann")
    item = work.items[0]
    cell = next(c for c in found.plan.cells if c.label == item.systems[0] and c.seed == item.answer.seed)
    path = found.store.cell_dir(cell) / "predictions.jsonl"
    old = item.answer.shown["answer"]
    path.write_text(path.read_text(encoding="utf-8").replace(f'"{old}"', f'"{old} new"'), encoding="utf-8")
    again = Labelling(found, "kindness", "ann")
    assert again.page(None)["at"] in (0, 1), "it comes first again"
    assert again.items[again.page(None)["at"]].answer.shown["answer"] == f"{old} new"


def test_a_line_that_a_crash_cut_off_is_dropped_and_a_broken_one_is_named(run: Path) -> None:
    path = run.parent / LABELS
    whole = path.read_bytes()
    path.write_bytes(whole + b'{"schema_version": 1, "kind": "lab')
    assert len(read_labels(path).rows) == 120
    _label(Labelling(read_run(run), "kindness", "ann"), range(120, 121))
    assert len(read_labels(path).rows) == 121
    path.write_bytes(whole + b'{"schema_version": 1, "kind": "lab"}\n')
    with pytest.raises(UserError, match=r"labels.jsonl:122: is no draw and no label"):
        read_labels(path)
    path.write_bytes(whole + b'{"schema_version": 7}\n')
    with pytest.raises(UserError, match="schema_version is 7"):
        read_labels(path)


def test_a_metric_that_no_model_judges_is_refused_with_those_that_are(run: Path) -> None:
    with pytest.raises(UserError, match=r"--metric 'kindnes': no model judges it.*kindness"):
        Labelling(read_run(run), "kindnes", "ann")
    with pytest.raises(UserError, match="--system 'nobody'"):
        Labelling(read_run(run), "kindness", "ann", ["nobody"])
