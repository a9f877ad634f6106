"""Each benchmark parted as its source does: sizes, and which row goes where."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

from seedbed.suite import Case
from seedbed.suites.prompt_optimization.benchmarks import (
    aime,
    hotpot,
    hover_claims,
    ifbench,
    livebench_math,
    papillon,
)
from seedbed.suites.prompt_optimization.options import (
    AimeOptions,
    HoverOptions,
    IfbenchOptions,
    LiveBenchOptions,
    PapillonOptions,
    SplitOptions,
)


def _sizes(benchmark: Any) -> tuple[int, int, int]:
    return len(benchmark.train), len(benchmark.val), len(benchmark.test)


def _ids(cases: list[Case]) -> list[str]:
    return [case.sample_id for case in cases]


def _lines(path: Path, rows: list[dict[str, Any]]) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def _shuffled(count: int) -> list[int]:
    order = list(range(count))
    random.Random(0).shuffle(order)
    return order


def _drawn(rows: list[int], most: int) -> list[int]:
    return random.Random(1).sample(rows, most)


def _livebench(path: Path) -> Path:
    """As many questions as the public release has, a file a task."""
    for task, count in (("AMPS_Hard", 150), ("math_comp", 146), ("olympiad", 72)):
        rows = [{"question_id": f"{task}{i}", "task": task, "turns": ["q"], "ground_truth": "1"} for i in range(count)]
        _lines(path / task / "question.jsonl", rows)
    return path


def test_livebench_is_shuffled_and_cut_into_thirds(tmp_path: Path) -> None:
    loaded = livebench_math(LiveBenchOptions(path=_livebench(tmp_path)))
    assert _sizes(loaded) == (121, 121, 126)
    whole = _ids(livebench_math(LiveBenchOptions(path=tmp_path, whole=True)).test)
    assert len(whole) == 368
    assert _ids([*loaded.train, *loaded.val, *loaded.test]) == [whole[i] for i in _shuffled(368)]
    for part in (loaded.train, loaded.val, loaded.test):
        assert {case.meta["task"] for case in part} == {"AMPS_Hard", "math_comp", "olympiad"}


def _pupa(path: Path, count: int, empty: int = -1) -> Path:
    rows = [
        {"id": i, "user_query": "q", "target_response": "r", "pii_units": "" if i == empty else "a"}
        for i in range(count)
    ]
    return _lines(path, rows)


def test_pupa_is_cut_by_position(tmp_path: Path) -> None:
    loaded = papillon(PapillonOptions(path=_pupa(tmp_path / "pupa.jsonl", 664)))
    assert _sizes(loaded) == (111, 111, 221)
    assert _ids([*loaded.train, *loaded.val, *loaded.test]) == [str(i) for i in range(443)]


def test_a_row_of_pupa_that_is_left_out_moves_no_other(tmp_path: Path) -> None:
    loaded = papillon(PapillonOptions(path=_pupa(tmp_path / "pupa.jsonl", 664, empty=5)))
    assert _sizes(loaded) == (110, 111, 221)
    assert loaded.val[0].sample_id == "111"


def test_a_shorter_pupa_keeps_the_shares(tmp_path: Path) -> None:
    assert _sizes(papillon(PapillonOptions(path=_pupa(tmp_path / "pupa.jsonl", 60)))) == (15, 15, 30)


def test_ifbench_trains_on_its_train_file(tmp_path: Path) -> None:
    def row(key: int) -> dict[str, Any]:
        return {"key": key, "prompt": "p", "instruction_id_list": ["punctuation:no_comma"], "kwargs": [{}]}

    _lines(tmp_path / "IFBench_train.jsonl", [row(i) for i in range(700)])
    _lines(tmp_path / "IFBench_test.jsonl", [row(i) for i in range(300)])
    loaded = ifbench(IfbenchOptions(path=tmp_path))
    assert _sizes(loaded) == (150, 300, 294)
    assert _ids(list(loaded.val)) == [f"train:{i + 1}" for i in range(300)]
    assert _ids(list(loaded.train)) == [f"train:{i + 1}" for i in _drawn(list(range(300, 600)), 150)]
    assert _sizes(ifbench(IfbenchOptions(path=tmp_path / "IFBench_test.jsonl"))) == (0, 0, 294)
    assert _sizes(ifbench(IfbenchOptions(path=tmp_path, whole=True))) == (700, 0, 300)


def test_aime_halves_earlier_years_and_repeats_the_test(tmp_path: Path) -> None:
    def row(number: int) -> dict[str, Any]:
        return {"id": number, "problem": f"p{number}", "answer": 7}

    _lines(tmp_path / "train.jsonl", [row(i) for i in range(90)])
    _lines(tmp_path / "test.jsonl", [row(i) for i in range(100, 130)])
    loaded = aime(AimeOptions(path=tmp_path))
    assert _sizes(loaded) == (45, 45, 150)
    assert _ids([*loaded.train, *loaded.val]) == [str(i) for i in _shuffled(90)]
    assert [case.repeat for case in loaded.test] == [n for n in range(5) for _ in range(30)]


def _facts(titles: int) -> list[list[Any]]:
    return [[f"T{i}", 0] for i in range(titles)]


def test_hotpot_is_cut_in_the_order_of_its_file_and_drawn_down(tmp_path: Path) -> None:
    rows = [{"id": i, "question": "q", "answer": "a", "supporting_facts": _facts(2)} for i in range(1000)]
    loaded = hotpot(SplitOptions(path=_lines(tmp_path / "hotpot.jsonl", rows)))
    assert _sizes(loaded) == (150, 300, 300)
    assert _ids(list(loaded.test)) == [str(i) for i in _drawn(list(range(400)), 300)]
    assert _ids(list(loaded.val)) == [str(i) for i in _drawn(list(range(400, 800)), 300)]
    assert _ids(list(loaded.train)) == [str(i) for i in _drawn(list(range(800, 1000)), 150)]


def test_hover_takes_claims_of_three_articles_shuffles_them_and_draws(tmp_path: Path) -> None:
    rows = [{"uid": i, "claim": "c", "supporting_facts": _facts(3 if i % 2 else 2)} for i in range(2000)]
    loaded = hover_claims(HoverOptions(path=_lines(tmp_path / "hover.jsonl", rows)))
    assert _sizes(loaded) == (150, 300, 300)
    mixed = [2 * i + 1 for i in _shuffled(1000)]
    assert _ids(list(loaded.test)) == [str(i) for i in _drawn(mixed[:400], 300)]
    assert _ids(list(loaded.val)) == [str(i) for i in _drawn(mixed[400:800], 300)]
    assert _ids(list(loaded.train)) == [str(i) for i in _drawn(mixed[800:], 150)]
