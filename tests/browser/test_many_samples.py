"""300,000 answers in one page: it opens within seconds of CPU, scrolls, filters and opens any of them."""

from __future__ import annotations

import functools
import json
import random
import shutil
import threading
from collections.abc import Iterator
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from seedbed.report.page import assembled, page_header
from seedbed.report.sample_list import SampleBook, Source
from seedbed.report.sample_views import sample_views
from seedbed.storage.store import write_bytes, write_text
from seedbed.suite import Case, Metric
from tests.support.chromium import Browser, browser

pytestmark = pytest.mark.slow

SAMPLES, SYSTEMS, SEEDS = 50_000, ("weak", "strong"), (0, 1, 2)
METRICS = (Metric("f1", "F1"), Metric("right", "Right", kind="rate"))
CPU = 3.0


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("many")
    ids = [f"q{at:06d}" for at in range(SAMPLES)]
    systems = {
        label: [(seed, _cell(folder / f"{label}-{seed}", ids, 0.3 + 0.4 * place, seed)) for seed in SEEDS]
        for place, label in enumerate(SYSTEMS)
    }
    cases = {sample: Case(sample, {"question": f"Which is {sample}?"}, "yes", {"lang": "zh"}) for sample in ids}
    book = SampleBook(SAMPLES)
    book.take(Source(("custom", "many", "reader"), METRICS, "weak", systems, ids, cases))
    sections = {"samples": ("Samples", sample_views(book))}
    made = folder / "page"
    for name, text in book.packs.files().items():
        write_bytes(made / name, text.encode())
    write_text(made / "report.html", assembled("many", page_header("many", sections), sections, book))
    return made / "report.html"


@pytest.fixture(scope="module")
def tab(program: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    """A browser that has opened nothing else, so that what it has used was used for this."""
    with browser(program, tmp_path_factory.mktemp("profile")) as made:
        yield made


def _cell(folder: Path, ids: list[str], skill: float, seed: int) -> Path:
    folder.mkdir()
    rng = random.Random(f"{skill} {seed}")
    with (folder / "scores.jsonl").open("w") as scores, (folder / "predictions.jsonl").open("w") as predictions:
        for sample in ids:
            right = float(rng.random() < skill)
            row = {"sample_id": sample, "status": "ok", "scores": {"f1": round(rng.random(), 3), "right": right}}
            scores.write(json.dumps({**row, "details": {}, "reason": None, "cluster": None}) + "\n")
            said = f"The answer to {sample} is {'yes' if right else 'no'}, says {rng.random()}."
            predictions.write(json.dumps({"sample_id": sample, "output": {"answer": said}}) + "\n")
    return folder


def test_three_hundred_thousand_answers_open_within_seconds_and_scroll(tab: Browser, page: Path) -> None:
    tab.look()
    tab.open(page)
    assert tab.cpu_seconds() < CPU
    assert tab.run("document.getElementById('count').textContent") == "50,000 of 50,000 samples"
    assert page.stat().st_size < 20_000_000
    assert tab.run("document.querySelectorAll('.line').length") < 60
    tab.run("(() => { const g = document.getElementById('grid'); g.scrollTop = g.scrollHeight; })()")
    tab.wait("[...document.querySelectorAll('.line .id')].some((n) => n.textContent === 'q049999')")
    tab.wait("document.querySelector('.line:last-child .asked').textContent.startsWith('Which is q0499')")
    assert tab.run("document.querySelectorAll('.line').length") < 60


def test_any_of_them_is_found_compared_and_opened(tab: Browser, page: Path) -> None:
    tab.open(page, "#table=custom/many/reader&system=strong&against=weak&metric=right&differ=1")
    left = int(tab.run("document.getElementById('count').textContent").split()[0].replace(",", ""))
    assert 10_000 < left < SAMPLES
    tab.open(page, "#sample=q031415")
    tab.wait("document.getElementById('sample').dataset.shown === 'q031415'")
    assert "The answer to q031415 is" in tab.run("document.getElementById('sample').textContent")


def test_they_are_opened_from_a_server_as_from_a_disk(tab: Browser, page: Path) -> None:
    handler = functools.partial(SimpleHTTPRequestHandler, directory=str(page.parent))
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as serving:
        threading.Thread(target=serving.serve_forever, daemon=True).start()
        tab.open(f"http://127.0.0.1:{serving.server_port}/report.html", "#sample=q027182")
        tab.wait("document.getElementById('sample').dataset.shown === 'q027182'")
        serving.shutdown()


def test_packs_that_were_left_behind_are_missed_by_name(tab: Browser, page: Path, tmp_path: Path) -> None:
    shutil.copy(page, tmp_path / "report.html")
    tab.open(tmp_path / "report.html", "#sample=q000001")
    tab.wait("/samples\\/\\d+\\.css is not beside this page/.test(document.getElementById('sample').textContent)")
