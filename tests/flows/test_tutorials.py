"""The tutorials of the docs, command by command as they stand there, in one folder outside the repository."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from seedbed.cli.main import main
from tests.support import forked
from tests.support.documented import ROOT, left_to_run
from tests.support.snippets import DOCS
from tests.support.tutorials import tutorial

ORDER = ("sweep", "own_data", "optimise", "nightly", "paper", "cluster")
"""Some go on where the first ended."""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("tutorials")


def test_all_tutorials_are_run() -> None:
    assert {path.stem for path in (DOCS / "tutorials").glob("*.md")} == set(ORDER)


@pytest.mark.usefixtures("seedbed_home")
@pytest.mark.parametrize("name", ORDER)
def test_the_commands_of_a_tutorial_run(
    name: str, folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(folder)
    found = tutorial(name)
    for file, text in found.files.items():
        (folder / file).write_text(text, encoding="utf-8")
    for words in found.commands:
        assert words[0] == "seedbed", f"{words}: only commands of Seedbed can be run here; mark the others"
        assert _run(words[1:]) == 0, f"{words}: {capsys.readouterr().err[-2000:]}"


@pytest.mark.usefixtures("seedbed_home")
def test_the_commands_of_all_other_pages_run(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """On what the tutorials made; support/documented.py has those that other tests run, or nobody."""
    monkeypatch.chdir(folder)
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    (folder / "mini.yaml").write_text(readme.partition("```yaml\n")[2].partition("```")[0], encoding="utf-8")
    for words in left_to_run():
        assert _run(words) == 0, f"{words}: {capsys.readouterr().err[-2000:]}"


def _run(words: list[str]) -> int:
    if words[0] != "run":
        return main(words)
    done = forked.run([sys.executable, "-m", "seedbed", *words], capture_output=True, text=True, env=os.environ)
    sys.stderr.write(done.stderr)
    return done.returncode
