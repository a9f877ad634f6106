"""What `seedbed run` says at its end."""

from __future__ import annotations

from pathlib import Path

import pytest

from seedbed.cli.run import show_summary


@pytest.mark.parametrize(
    ("terminal", "whole", "of_seeds"), [(True, False, False), (True, True, True), (False, False, True)]
)
def test_lines_of_each_seed_are_not_broken_by_a_terminal(
    toy_run: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    terminal: bool,
    whole: bool,
    of_seeds: bool,
) -> None:
    monkeypatch.setattr("sys.stdout.isatty", lambda: terminal)
    monkeypatch.setenv("COLUMNS", "80")
    show_summary(toy_run, whole=whole)
    said = capsys.readouterr().out
    assert ("of each seed (± is the spread over samples)" in said) == of_seeds
    assert ("± std over seeds, [95% interval over samples]" in said) != whole
    if not of_seeds:
        assert max(map(len, said.splitlines())) <= 80
