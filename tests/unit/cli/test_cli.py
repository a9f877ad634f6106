"""The command line: light to start, clear when it refuses."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from seedbed.cli.main import main

ROOT = Path(__file__).resolve().parents[3]
HEAVY = ("prefect", "litellm", "dspy", "pandas", "scipy", "matplotlib", "torch", "aiohttp", "openai")


def loaded_by(*arguments: str) -> set[str]:
    """Which of the heavy packages a command imports, in a process of its own."""
    code = (
        "import sys; from seedbed.cli.main import main\n"
        "try: main(sys.argv[1:])\n"
        "except SystemExit: pass\n"
        "print('LOADED', *[m for m in sys.modules if '.' not in m])"
    )
    command = [sys.executable, "-c", code, *arguments]
    done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, check=True)
    line = next(line for line in done.stdout.splitlines() if line.startswith("LOADED"))
    return set(line.split()) & set(HEAVY)


@pytest.mark.parametrize(
    "arguments",
    [
        ["--help"],
        ["run", "--help"],
        ["plan", "configs/demo.yaml"],
        ["suites"],
        ["schema"],
        ["prices", "openai/gpt-4.1-mini"],
    ],
    ids=" ".join,
)
def test_light_commands_import_nothing_heavy(arguments: list[str]) -> None:
    assert loaded_by(*arguments) == set()


def test_a_users_mistake_is_one_sentence_and_exit_code_2(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["plan", "no/such/file.yaml"]) == 2
    error = capsys.readouterr().err
    assert error.count("\n") == 1
    assert error.startswith("seedbed: no/such/file.yaml: no such file")


def test_plan_lists_cells_with_estimates(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["plan", str(ROOT / "configs/demo.yaml"), "--set", "seeds=[0]", "--out", str(tmp_path)]) == 0
    out = capsys.readouterr().out
    assert "multi · tiny · reader · seed 0" in out
    assert "calls" in out.splitlines()[-2]


def test_suites_lists_what_is_registered(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["suites"]) == 0
    assert "direct, multi" in capsys.readouterr().out


def test_an_unknown_price_is_a_mistake_to_mend_not_zero(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["prices", "acme/unheard-of"]) == 2
    assert "not in litellm's bundled list" in capsys.readouterr().err


def test_prices_are_per_million_tokens(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["prices", "openai/gpt-4.1-mini"]) == 0
    assert "input 0.4 " in capsys.readouterr().out


def test_prices_tell_what_a_usage_costs_at_a_tier(capsys: pytest.CaptureFixture[str]) -> None:
    usage = '{"prompt_tokens": 1000, "completion_tokens": 500}'
    assert main(["prices", "openai/gpt-5-mini", "--usage", usage, "--service-tier", "priority"]) == 0
    out = capsys.readouterr().out
    assert "priority tier: input 0.45" in out
    assert "this usage costs $0.00225" in out
    assert main(["prices", "openai/gpt-5-mini", "--usage", "no/such/file"]) == 2
    assert capsys.readouterr().err.startswith("seedbed: --usage: neither JSON nor a file")


def test_status_of_an_unknown_sweep_names_the_known_ones(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["status", "nothing", "--out", str(tmp_path)]) == 2
    assert "there is no sweep 'nothing'; known: none yet" in capsys.readouterr().err


def test_an_unknown_option_of_score_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as caught:
        main(["plan", "x.yaml", "--frsh"])
    assert caught.value.code == 2


@pytest.mark.parametrize("ignored", [False, True])
def test_before_a_command_listens_ctrl_c_ends_it_without_a_traceback(ignored: bool) -> None:
    """A shell lets what runs in its background ignore it; that stays so."""
    before = "import signal; signal.signal(signal.SIGINT, signal.SIG_IGN); " if ignored else ""
    asked = "import seedbed.__main__, signal; print(signal.getsignal(signal.SIGINT).name)"
    done = subprocess.run(
        [sys.executable, "-c", before + asked], capture_output=True, text=True, timeout=280, check=True
    )
    assert done.stdout.strip() == ("SIG_IGN" if ignored else "SIG_DFL")


@pytest.mark.parametrize("words", [["plan", str(ROOT / "configs/demo.yaml"), "--set", "seeds=[0]"], ["suites"]])
def test_a_narrow_terminal_breaks_no_figure(
    words: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    monkeypatch.setenv("COLUMNS", "80")
    assert main([*words, *(["--out", str(tmp_path)] if words[0] == "plan" else [])]) == 0
    assert max(map(len, capsys.readouterr().out.splitlines())) <= 80
