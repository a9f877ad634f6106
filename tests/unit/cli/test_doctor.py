"""`seedbed doctor CONFIG`: what works is said, what does not is a problem with its remedy."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

import pytest

from seedbed.cli.main import main
from tests.support.loopback import Loopback

CONFIG = """\
name: tryout
seeds: [0]
models:
  own: {{model: openai/loop, api_base: "{url}", price: {{input: 1, output: 1}}}}
experiments:
  - {{suite: crosslingual, models: [own], benchmarks: [tiny], systems: [direct]}}
"""


@pytest.fixture(autouse=True)
def own_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SEEDBED_HOME", str(tmp_path / "home"))


def test_a_model_that_answers_is_told_with_what_it_takes(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with Loopback() as server:
        (tmp_path / "sweep.yaml").write_text(CONFIG.format(url=server.url), encoding="utf-8")
        assert main(["doctor", str(tmp_path / "sweep.yaml")]) == 0
        said = capsys.readouterr().out
        assert "model own: answers, keeps to the form, no JSON on request" in said
        assert server.books.requests == 3
        # Each visit asks anew: what held yesterday may not hold today.
        main(["doctor", str(tmp_path / "sweep.yaml")])
        assert server.books.requests == 6


def test_a_model_nobody_serves_is_a_problem_and_one_request(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with Loopback(faults={"auth": 1.0}, max_faults=9) as server:
        (tmp_path / "sweep.yaml").write_text(CONFIG.format(url=server.url), encoding="utf-8")
        assert main(["doctor", str(tmp_path / "sweep.yaml")]) == 1
    said = capsys.readouterr().out
    assert "problem: model own: openai/loop refused the key" in said
    assert server.books.requests == 1


def test_the_speed_is_that_of_the_first_answer(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = iter([100.0, 102.0])
    monkeypatch.setattr("seedbed.lm.probe.time", SimpleNamespace(monotonic=lambda: next(clock)))
    with Loopback(say=lambda *_: {"role": "assistant", "content": "word " * 400}) as server:
        (tmp_path / "sweep.yaml").write_text(CONFIG.format(url=server.url), encoding="utf-8")
        main(["doctor", str(tmp_path / "sweep.yaml")])
        tokens = server.books.tokens_out // server.books.answered
    assert f"{tokens / 2:.0f} tokens/s" in capsys.readouterr().out
