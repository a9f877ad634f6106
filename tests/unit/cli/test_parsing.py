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
