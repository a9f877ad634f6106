"""Whatever is done to a data file: it is read, or a sentence says what is wrong with it. SEEDBED_FUZZ=300 tries that
many files."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path
from random import Random
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from seedbed.cli.main import main
from seedbed.sweep.config import load_config
from seedbed.sweep.plan import make_plan
from seedbed.sweep.registry import get_suite
from tests.support.mutations import mutated

SUITES = ("contract_risk", "crosslingual", "finance_dialog", "prompt_optimization", "rag_quality")
CONFIG = """\
name: fuzz
seeds: [0]
models: {{m: {{model: offline/m}}}}
experiments:
  - {{suite: {suite}, models: [m], benchmarks: [{{name: {name}, path: data}}], systems: [{system}]}}
"""
ANSWERS: dict[str, list[dict[str, Any]]] = {
    "contract_risk": [{"case_id": "labor-01-high", "output": "风险等级：高", "rule_ids": ["R1"], "latency": 1.5}],
    "crosslingual": [
        {"sample_id": n, "lang": "en", "question": "How high?", "gold": "3776 m", "system": "direct", "pred": "3776 m"}
        for n in "ab"
    ],
    "finance_dialog": [
        {
            "dialog_id": "d1",
            "profile_gt": {"risk_level_gt": "保守", "constraints_gt": ["不买股票"]},
            "turns": [
                {
                    "turn_pair_id": 1,
                    "turn_status": "ok",
                    "user_text": "您好",
                    "pred_assistant_text": "股票有风险。",
                    "gt_turn_tags": {"risk_disclosure_required_gt": ["市场风险"], "compliance_label_gt": "compliant"},
                    "recall": {"items": []},
                }
            ],
        }
    ],
    "prompt_optimization": [
        {"sample_id": "ai042#0", "answer": "368"},
        {"sample_id": "ai043#0", "error": "timeout"},
    ],
    "rag_quality": [{"question": "How long?", "answer": "Long.", "retrieved_contexts": ["It is long."]}],
}
OPTIONS = {
    "prompt_optimization": ["--benchmark", "AIMEBench"],
    "rag_quality": ["--judge", "offline/judge"],
}
EXAMPLES = int(os.environ.get("SEEDBED_FUZZ", "60"))
fuzzed = settings(
    max_examples=EXAMPLES,
    deadline=None,
    derandomize=EXAMPLES == 60,
    phases=[Phase.explicit, Phase.generate],  # a smaller seed is no simpler file
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)


def _shipped() -> Iterator[tuple[str, str, Path, str]]:
    """Every data file of every benchmark: suite, benchmark, folder, and its name there."""
    for name in SUITES:
        for benchmark, spec in get_suite(name).benchmarks.items():
            if spec.data is not None:
                for file in sorted(spec.data.iterdir()):
                    yield name, benchmark, spec.data, file.name


SHIPPED = list(_shipped())


def _config(folder: Path, suite: str, benchmark: str) -> Path:
    path = folder / "sweep.yaml"
    path.write_text(
        CONFIG.format(suite=suite, name=benchmark, system=next(iter(get_suite(suite).systems))), encoding="utf-8"
    )
    return path


def _types(value: Any) -> str:
    """The type of a value, and of what a list holds."""
    if isinstance(value, list | tuple):
        return f"list[{' '.join(sorted({_types(item) for item in value}))}]"  # pyright: ignore[reportUnknownVariableType]
    return type(value).__name__


def _inputs(config: Path) -> dict[str, set[str]]:
    """What systems are given: the types by name."""
    loaded, source = load_config(config)
    plan = make_plan(loaded, source)
    found: dict[str, set[str]] = {}
    for cell in plan.cells:
        for case in plan.benchmark(cell).test:
            for name, value in case.inputs.items():
                found.setdefault(name, set()).add(_types(value))
    return found


@lru_cache
def _meant(suite: str, benchmark: str, data: Path) -> dict[str, set[str]]:
    import tempfile

    with tempfile.TemporaryDirectory() as name:
        shutil.copytree(data, Path(name) / "data")
        return _inputs(_config(Path(name), suite, benchmark))


def _assert_a_sentence(told: str, file: Path) -> None:
    """One line that says where, for a person."""
    lines = [line for line in told.splitlines() if not line.startswith("warning: ")]
    assert len(lines) == 1, told
    assert lines[0].startswith("seedbed: "), told
    assert file.name in lines[0] or file.parent.name in lines[0], told
    assert len(lines[0]) < 3000


@pytest.mark.slow
@fuzzed
@given(target=st.sampled_from(SHIPPED), seed=st.integers(0, 2**32))
def test_a_mutated_benchmark_is_read_as_what_it_is_or_refused_in_a_sentence(
    tmp_path_factory: pytest.TempPathFactory, capsys: pytest.CaptureFixture[str], target: Any, seed: int
) -> None:
    suite, benchmark, data, name = target
    folder = tmp_path_factory.mktemp("fuzz")
    shutil.copytree(data, folder / "data")
    file = folder / "data" / name
    file.write_bytes(mutated(file.read_bytes(), Random(seed)))
    config = _config(folder, suite, benchmark)
    capsys.readouterr()
    code = main(["plan", str(config), "--out", str(folder / "out")])
    told = capsys.readouterr().err
    if code == 0:
        meant = _meant(suite, benchmark, data)
        for field, types in _inputs(config).items():
            assert types <= meant[field] | {"list[]"}, f"{field}: {types - meant[field]}"
    else:
        assert code == 2
        _assert_a_sentence(told, file)
    shutil.rmtree(folder)


def _answers(suite: str) -> bytes:
    return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in ANSWERS[suite]).encode()


def _score(suite: str, file: Path) -> int:
    return main(["score", suite, str(file), "--out", str(file.parent / "out"), *OPTIONS.get(suite, [])])


@pytest.mark.parametrize("suite", SUITES)
def test_the_files_that_are_mutated_can_be_read_as_they_are(tmp_path: Path, suite: str) -> None:
    file = tmp_path / "answers.jsonl"
    file.write_bytes(_answers(suite))
    assert _score(suite, file) == 0
    assert (tmp_path / "out").is_dir()


@pytest.mark.slow
@fuzzed
@given(suite=st.sampled_from(sorted(ANSWERS)), seed=st.integers(0, 2**32))
def test_a_mutated_file_of_answers_is_scored_or_refused_in_a_sentence(
    tmp_path_factory: pytest.TempPathFactory, capsys: pytest.CaptureFixture[str], suite: str, seed: int
) -> None:
    folder = tmp_path_factory.mktemp("fuzz")
    file = folder / "answers.jsonl"
    file.write_bytes(mutated(_answers(suite), Random(seed)))
    capsys.readouterr()
    code = _score(suite, file)
    told = capsys.readouterr().err
    if code != 0:
        assert code == 2
        _assert_a_sentence(told, file)
        assert not (folder / "out" / "metrics.json").exists()
    shutil.rmtree(folder)
