"""Completion in the shells themselves; zsh and fish where they are installed."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from seedbed.cli.main import main, make_parser
from tests.unit.cli.test_cli import loaded_by


@pytest.fixture
def here(tmp_path: Path) -> Path:
    for name in ("alpha", "beta"):
        (tmp_path / "experiment_runs_data" / "sweeps" / name).mkdir(parents=True)
    (tmp_path / "elsewhere" / "sweeps" / "gamma").mkdir(parents=True)
    return tmp_path


def script(shell: str, folder: Path, capsys: pytest.CaptureFixture[str]) -> Path:
    assert main(["completion", shell]) == 0
    path = folder / f"completion.{shell}"
    path.write_text(capsys.readouterr().out, encoding="utf-8")
    return path


def ask(shell: str, code: str, folder: Path) -> str:
    if shutil.which(shell) is None:
        pytest.skip(f"no {shell} here")
    return subprocess.run([shell, "-c", code], capture_output=True, text=True, cwd=folder, check=True).stdout


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("seedbed resc", "rescore"),
        ("seedbed run x.yaml --fr", "--fresh"),
        ("seedbed export alpha --format p", "parquet"),
        ("seedbed ledger st", "stats"),
        ("seedbed report ''", "alpha beta"),
        ("seedbed status --out elsewhere ''", "gamma"),
        ("seedbed run ''", ""),
    ],
)
def test_bash_completes(line: str, expected: str, here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    made = script("bash", here, capsys)
    code = (
        f"source {made}; COMP_WORDS=({line}); COMP_CWORD=$((${{#COMP_WORDS[@]}} - 1)); _seedbed; echo ${{COMPREPLY[*]}}"
    )
    assert ask("bash", code, here).strip() == expected


@pytest.mark.parametrize(
    ("line", "expected"),
    [("seedbed resc", "rescore"), ("seedbed export x --format p", "parquet"), ("seedbed report al", "alpha")],
)
def test_fish_completes(line: str, expected: str, here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    made = script("fish", here, capsys)
    told = ask("fish", f"source {made}; complete -C '{line}'", here)
    assert [row.split("\t")[0] for row in told.splitlines()] == [expected]


def test_zsh_reads_the_script(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    made = script("zsh", here, capsys)
    code = f"autoload -U compinit; compinit -u -D; source {made}; print $_comps[seedbed]"
    assert ask("zsh", code, here).strip() == "_seedbed"


def test_every_command_is_in_every_script(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    texts = [script(shell, here, capsys).read_text(encoding="utf-8") for shell in ("bash", "zsh", "fish")]
    assert all(name in text for text in texts for name in make_parser().commands)


def test_nothing_heavy_is_imported_for_it() -> None:
    assert loaded_by("completion", "bash") == set()
