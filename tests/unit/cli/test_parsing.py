"""A slip on the command line is one sentence that names what was probably meant."""

from __future__ import annotations

import pytest

from seedbed.cli.main import main


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["rnu", "x.yaml"], "command 'rnu' is unknown; did you mean 'run'?"),
        (["run", "x.yaml", "--frsh"], "option --frsh is unknown; did you mean '--fresh'?"),
        (["plan", "x.yaml", "--jsno=1"], "option --jsno is unknown; did you mean '--json'?"),
        (["export", "x", "--format", "cvs"], "--format 'cvs' is unknown; did you mean 'csv'?"),
        (["ledger", "stat"], "action 'stat' is unknown; did you mean 'stats'?"),
        (["--vresion"], "option --vresion is unknown; did you mean '--version'?"),
        (["suites", "zzz"], "'zzz' is one word too many"),
    ],
)
def test_a_slip_is_told_with_what_was_meant(words: list[str], said: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as caught:
        main(words)
    assert caught.value.code == 2
    told = capsys.readouterr().err
    assert said in told
    assert told.count("\n") == 1
    assert "tells more." in told


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["explain", "a", "b", "--max-usd", "-1"], "--max-usd: '-1' is too small; give 0 or more"),
        (["explain", "a", "--max-usd", "nan"], "--max-usd: 'nan' is no number; give 0 or more"),
        (["synth", "a.txt", "--out", "o", "--model", "offline/x", "--max-usd", "nan"], "--max-usd: 'nan' is no number"),
        (["synth", "a.txt", "--out", "o", "--model", "offline/x", "--concurrency", "0"], "give 1 or more"),
        (["ledger", "prune", "--older-than", "-5"], "--older-than: '-5' is too small; give 0 or more"),
        (["server", "tidy", "--older-than", "inf"], "--older-than: 'inf' is no number"),
        (["report", "x", "--samples", "-1"], "--samples: '-1' is too small"),
        (["compare", "a", "b", "--margin", "nan"], "--margin: 'nan' is no number"),
        (["label", "x", "--metric", "m", "--port", "70000"], "--port: '70000' is too large; give 0 to 65535"),
        (["label", "x", "--metric", "m", "--port", "4.5"], "--port: '4.5' is no whole number; give 0 to 65535"),
        (["meta", "custom", "--judge", "offline/x", "--judge-ability", "7"], "--judge-ability: '7' is too large"),
    ],
)
def test_numbers_that_cannot_be_meant_are_refused_before_anything_is_done(
    words: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as caught:
        main(words)
    assert caught.value.code == 2
    told = capsys.readouterr().err
    assert said in told
    assert told.count("\n") == 1


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["score", "croslingual", "x"], "did you mean 'crosslingual'?"),
        (["score", "crosslingual", "x.jsonl", "--langauge", "en"], "--langauge: not an option of `seedbed score"),
    ],
)
def test_score_tells_it_too(words: list[str], said: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(words) == 2
    assert said in capsys.readouterr().err


def test_help_of_score_is_that_of_the_suite(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["score", "crosslingual", "--help"]) == 0
    assert "usage: seedbed score crosslingual FILE" in capsys.readouterr().out
