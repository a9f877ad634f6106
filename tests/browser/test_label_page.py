"""The labelling page in Chromium: fifty keystrokes, nothing that tells the system or the judge, and no foreign page."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from seedbed.local.label_server import LabelServer
from seedbed.phases.context import open_run
from seedbed.phases.labelling import Labelling
from seedbed.phases.labels import LABELS, read_labels
from tests.support.chromium import Browser
from tests.support.judged import judged_run
from tests.support.toy import NASTY


@contextmanager
def served(run: Path, rater: str) -> Iterator[tuple[Labelling, LabelServer]]:
    work = Labelling(open_run(str(run)), "kindness", rater)
    with LabelServer(work, 0) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield work, server
        finally:
            server.shutdown()
            thread.join()


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return judged_run(tmp_path_factory.mktemp("judged"), n=40, said=NASTY)


def _type(tab: Browser, keys: str) -> None:
    """As a rater does: each key once the page shows what it is for."""
    for key in keys:
        before = tab.run("document.body.dataset.at + ' ' + document.body.dataset.done")
        tab.key({"<": "ArrowLeft"}.get(key, key))
        tab.wait(f"document.body.dataset.at + ' ' + document.body.dataset.done !== '{before}'")


def test_fifty_keystrokes_are_marks_in_the_file(tab: Browser, run: Path, tmp_path: Path) -> None:
    with served(run, "ann") as (work, server):
        tab.look(1100, 800)
        tab.open(server.link)
        # Forty-four marks, one of them 0 (cannot tell); one back, another mark in its place; four more.
        keys = "12345" * 8 + "0" + "555" + "<1" + "3333"
        assert len(keys) == 50
        _type(tab, keys)
        tab.picture(tmp_path / "labelling.png")
        assert tab.run("document.body.dataset.at") == "48"
        assert tab.run("location.hash") == "", "the address keeps no token"
        rows = read_labels(run.parent / LABELS).rows
        assert len(rows) == 49, "the key back is no mark"
        assert [row["value"] for row in rows[:5]] == [1.0, 2.0, 3.0, 4.0, 5.0]
        assert rows[40]["value"] is None
        assert rows[44]["answer"] == rows[43]["answer"]
        assert rows[44]["value"] == 1.0
        assert {row["rater"] for row in rows} == {"ann"}
        assert [row["sample_id"] for row in rows[:40]] == [item.case.sample_id for item in work.items[:40]]


def test_the_page_shows_question_and_answer_and_neither_system_nor_judge(tab: Browser, run: Path) -> None:
    with served(run, "blind") as (work, server):
        tab.open(server.link)
        text = tab.run("document.body.innerText")
        assert work.items[0].case.inputs["question"].splitlines()[0] in text
        whole = tab.run("document.documentElement.outerHTML")
        sent = json.dumps(work.page(0))
        for told in ("harsh", "gentle", "the judge's reason", '"seed"', '"score"'):
            assert told not in whole
            assert told not in sent


def test_what_a_model_said_is_text_and_does_not_run(tab: Browser, run: Path) -> None:
    with served(run, "careful") as (_, server):
        tab.open(server.link)
        assert "<script>document.title='planted'</script>" in tab.run("document.body.innerText")
        assert tab.run("document.title") == "Label · Seedbed"
        assert tab.run("document.querySelectorAll('img, main script').length") == 0
        planted = "const s = document.createElement('script'); s.textContent = \"document.title='planted'\"; "
        tab.run(f"(() => {{ {planted} document.body.append(s); }})()")
        assert tab.run("document.title") == "Label · Seedbed", "the policy lets no other script run"


def test_a_page_of_somebody_else_can_neither_read_nor_mark(tab: Browser, run: Path, tmp_path: Path) -> None:
    with served(run, "robbed") as (_, server):
        other = tmp_path / "other.html"
        other.write_text("<!doctype html><title>other</title><body data-ready=yes>", encoding="utf-8")
        tab.open(other)
        for options in ("{}", "{method: 'POST', mode: 'no-cors', body: '{\"at\": 0, \"mark\": 0}'}"):
            reply = f"fetch('{server.link.partition('#')[0]}label', {options}).then(r => r.type, () => 'refused')"
            assert tab.run(reply) in ("refused", "opaque")
        assert "robbed" not in {row["rater"] for row in read_labels(run.parent / LABELS).rows}
