"""A test set from three documents, one of them Chinese."""

from __future__ import annotations

import json
import os
import signal
import sqlite3
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from seedbed.cli.main import main
from seedbed.errors import UserError
from seedbed.suites.rag_quality.cases import load, read_cases
from seedbed.suites.rag_quality.options import CaseOptions
from seedbed.suites.rag_quality.synth.gates import Written, failed_gate
from seedbed.suites.rag_quality.synth.prompts import Quote
from seedbed.suites.rag_quality.synth.scenarios import Sampler, Scenario
from seedbed.suites.rag_quality.synth.units import Document, Unit, read_documents, split

pytestmark = pytest.mark.slow

HARBOUR = """The port of Vellmar handles 3.2 million tonnes of cargo a year. The main quay was rebuilt in 2004.

Two tugs are stationed in Vellmar. The tug Alma has 3200 horsepower. The tug Brisa joined the port in 2017.

The harbour office opens at 7:30. Pilots must be ordered 6 hours before arrival. A pilot costs 480 euros.

The fish market of Vellmar was founded in 1923. About 55 traders sell there. Stalls cost 18 euros a day.

The breakwater was finished in 1969. The lamp of the breakwater flashes every 4 seconds.
"""
SCHOOL = """# Handbook

The Linden School has 412 pupils. Lessons last 45 minutes. The school year has 190 days.

Lunch at the Linden School costs 3.40 euros. The kitchen cooks for 260 children a day.

The Linden School library holds 9,500 volumes. Pupils may borrow 4 books. The library was renovated in 2019.

The music room owns 32 instruments. The choir has 48 members. The orchestra plays 6 concerts a year.

The gym of the Linden School is 27 metres long. The swimming course lasts 10 weeks.
"""
TEA = """云溪茶园位于海拔850米的山坡上。云溪茶园占地120亩。云溪茶园建于1978年。

春茶在每年3月开始采摘。熟练工人每天可以采摘12斤鲜叶。

云溪茶园的制茶车间有9台机器。车间每天可以加工600斤鲜叶。

游客参观茶园需要购买25元的门票。导览每场持续50分钟。

云溪茶园的茶叶销往14个省份。绿茶占全部销量的65%。
"""


@pytest.fixture(scope="module")
def documents(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    folder = tmp_path_factory.mktemp("documents")
    for name, text in (("harbour.txt", HARBOUR), ("school.md", SCHOOL), ("茶园.txt", TEA)):
        (folder / name).write_text(text, encoding="utf-8")
    return sorted(folder.iterdir())


def synth(documents: list[Path], out: Path, *, seed: int = 7, cases: int = 20) -> list[dict[str, Any]]:
    names = [str(path) for path in documents]
    options = ["--out", str(out), "--cases", str(cases), "--model", "offline/writer", "--seed", str(seed)]
    assert main(["synth", *names, *options]) == 0
    return [json.loads(line) for line in out.read_text(encoding="utf-8").splitlines()]


@pytest.fixture(scope="module")
def made(documents: list[Path], tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[dict[str, Any]]]:
    out = tmp_path_factory.mktemp("made") / "cases.jsonl"
    return out, synth(documents, out)


def test_as_many_cases_as_wanted_in_both_languages(made: tuple[Path, list[dict[str, Any]]]) -> None:
    languages = Counter(case["generation_params"]["language"] for case in made[1])
    assert len(made[1]) == 20
    assert min(languages["en"], languages["zh"]) >= 3


def test_every_quote_is_verbatim_in_its_unit_and_document(
    made: tuple[Path, list[dict[str, Any]]], documents: list[Path]
) -> None:
    texts = {path.name: path.read_text(encoding="utf-8") for path in documents}
    for case in made[1]:
        for unit in case["source_units"]:
            start, end = unit["span"]
            assert texts[unit["document_id"]][start:end] == unit["text"]
            assert unit["quotes"]
            assert all(quote in unit["text"] for quote in unit["quotes"])


def test_personas_are_balanced(made: tuple[Path, list[dict[str, Any]]]) -> None:
    counts = Counter(case["persona"]["name"] for case in made[1])
    assert len(counts) == 3
    assert max(counts.values()) - min(counts.values()) <= 1


def test_multi_hop_cases_quote_two_units(made: tuple[Path, list[dict[str, Any]]]) -> None:
    hops = [case for case in made[1] if case["generation_params"]["kind"] == "multi_hop"]
    assert len(hops) == 5
    assert all(len(case["source_units"]) == 2 for case in hops)


def test_no_unit_is_drawn_more_than_twice(made: tuple[Path, list[dict[str, Any]]]) -> None:
    uses = Counter(unit["unit_id"] for case in made[1] for unit in case["source_units"])
    rejects = [json.loads(line) for line in made[0].with_suffix(".rejects.jsonl").open(encoding="utf-8")]
    uses.update(unit for reject in rejects for unit in reject["units"])
    assert max(uses.values()) <= 2


def test_rejects_are_kept_with_their_reason_and_counted(made: tuple[Path, list[dict[str, Any]]]) -> None:
    rejects = [json.loads(line) for line in made[0].with_suffix(".rejects.jsonl").open(encoding="utf-8")]
    manifest = json.loads(made[0].with_suffix(".manifest.json").read_text(encoding="utf-8"))
    assert rejects
    assert all(reject["gate"] and reject["reason"] for reject in rejects)
    assert sum(manifest["counts"]["rejected"].values()) == len(rejects)
    assert [len(row["sha256"]) for row in manifest["documents"]] == [64] * 3


def test_the_suite_reads_what_was_made(made: tuple[Path, list[dict[str, Any]]]) -> None:
    benchmark = load(CaseOptions(path=made[0]))
    assert len(benchmark.test) == len(read_cases(made[0])) == 20
    assert benchmark.resources["passages"]


def test_the_same_seed_gives_the_same_cases_and_another_seed_others(
    made: tuple[Path, list[dict[str, Any]]], documents: list[Path], tmp_path: Path
) -> None:
    assert synth(documents, tmp_path / "same.jsonl") == made[1]
    assert synth(documents, tmp_path / "other.jsonl", seed=8) != made[1]


def test_a_killed_run_goes_on_and_ends_the_same(
    made: tuple[Path, list[dict[str, Any]]], documents: list[Path], tmp_path: Path
) -> None:
    out = tmp_path / "cases.jsonl"
    program = (
        "import sys; from pathlib import Path; from seedbed.sweep.model_config import ModelConfig, Limits\n"
        "from seedbed.suites.rag_quality.synth.command import synthesise\n"
        "from seedbed.suites.rag_quality.synth.generate import Wish\n"
        "model = ModelConfig(model='offline/writer', limits=Limits(concurrency=2), options={'latency_ms': 200})\n"
        "synthesise([Path(p) for p in sys.argv[2:]], Path(sys.argv[1]), Wish(20, 7), model)\n"
    )
    process = subprocess.Popen([sys.executable, "-c", program, str(out), *map(str, documents)])
    ledger = out.with_suffix(".ledger.sqlite")
    try:
        while _paid(ledger) < 6:
            assert process.poll() is None, "it ended before it could be killed"
            time.sleep(0.05)
    finally:
        os.kill(process.pid, signal.SIGKILL)
        process.wait()
    before = _paid(ledger)
    assert not out.exists()
    assert synth(documents, out) == made[1]
    usage = json.loads(out.with_suffix(".manifest.json").read_text(encoding="utf-8"))["usage"]
    assert usage["outcomes"]["reused"] >= before >= 6
    assert (
        usage["calls"]
        == json.loads(made[0].with_suffix(".manifest.json").read_text(encoding="utf-8"))["usage"]["calls"]
    )


def _paid(ledger: Path) -> int:
    if not ledger.exists():
        return 0
    try:
        with sqlite3.connect(f"file:{ledger}?mode=ro", uri=True) as connection:
            return connection.execute("SELECT count(*) FROM attempts WHERE outcome = 'paid'").fetchone()[0]
    except sqlite3.OperationalError:  # the table is not there yet
        return 0


def unit(text: str, language: str = "en") -> Unit:
    return Unit(text[:8], "d", 0, len(text), text, language)


ONE = Scenario(0, (unit("The port was rebuilt in 2004 by the city."),))
TWO = Scenario(0, (unit("The port was rebuilt in 2004."), unit("The tug has 3200 horsepower.")))
QUOTE = Quote(unit=1, text="rebuilt in 2004")


@pytest.mark.parametrize(
    ("scenario", "question", "quotes", "gate"),
    [
        (ONE, "When was the port rebuilt?", [QUOTE], None),
        (ONE, " ", [QUOTE], "written"),
        (ONE, "When was the port rebuilt?", [], "quotes"),
        (ONE, "When was the port rebuilt?", [Quote(unit=1, text="rebuilt in  2004")], "quotes"),
        (ONE, "When was the port rebuilt?", [Quote(unit=2, text="rebuilt in 2004")], "quotes"),
        (TWO, "When was the port rebuilt?", [QUOTE], "hops"),
        (TWO, "When was the port rebuilt?", [QUOTE, Quote(unit=2, text="3200 horsepower")], None),
        (ONE, "港口是什么时候重建的？", [QUOTE], "language"),
        (ONE, "According to the text, when was the port rebuilt?", [QUOTE], "self_contained"),
        (ONE, "When were the gates of the old mill opened?", [QUOTE], "duplicate"),
    ],
)
def test_gates(scenario: Scenario, question: str, quotes: list[Quote], gate: str | None) -> None:
    written = Written(question, "It was rebuilt in 2004.", quotes)
    failed = failed_gate(scenario, written, ["When were the gates of the old mill opened?"])
    assert (failed[0] if failed else None) == gate


@pytest.mark.parametrize(
    "question",
    ["根据文中内容，港口何时重建？", "本文によると、港はいつ再建されましたか？", "وفقا للنص، متى بني الميناء؟"],
)
def test_leaning_on_the_text_is_seen_in_other_languages(question: str) -> None:
    source = {"根": "港口于2004年重建。", "本": "港は2004年に再建されました。", "و": "بني الميناء عام 2004."}[
        question[0]
    ]
    written = Written(question, source, [Quote(unit=1, text=source)])
    failed = failed_gate(Scenario(0, (unit(source),)), written, [])
    assert failed is not None
    assert failed[0] == "self_contained"


def test_units_are_exact_pieces_and_headings_join_what_follows() -> None:
    document = Document("d", SCHOOL, "", "en")
    units = split([document], wanted=1)
    assert all(SCHOOL[u.start : u.end] == u.text for u in units)
    assert units[0].text.startswith("# Handbook\n\nThe Linden")
    assert len(split([document], wanted=50)) > len(units)
    assert split([document], wanted=1) == units


def test_the_sampler_uses_up_its_units_and_then_stops() -> None:
    sampler = Sampler([unit(f"unit number {i}") for i in range(3)], seed=1, multi_hop_share=0.0)
    drawn = [sampler.draw(slot, slot % 2) for slot in range(7)]
    assert [scenario is not None for scenario in drawn] == [True] * 6 + [False]


def test_too_few_documents_give_fewer_cases_and_say_so(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "tiny.txt").write_text("The bridge is 90 metres long.", encoding="utf-8")
    assert len(synth([tmp_path / "tiny.txt"], tmp_path / "out.jsonl", cases=9)) < 9
    assert "give more documents" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("content", "said"), [(b"  \n", "is empty"), (b"\xff\xfe\x00bad", "not UTF-8"), (None, "no such document")]
)
def test_documents_that_cannot_be_read(tmp_path: Path, content: bytes | None, said: str) -> None:
    path = tmp_path / "d.txt"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(UserError, match=said):
        read_documents([path])
