"""Every command that README and docs show is one that the command line knows, with options it knows; and each is run by
a test, or says that it needs a key."""

from __future__ import annotations

import re

import pytest

from seedbed.cli.main import make_parser
from tests.support.documented import ROOT, Documented, documented

COMMANDS = documented("**/*.md")
_OF_A_PROVIDER = re.compile(r"\b(openai|anthropic|gemini|bedrock|openrouter|azure)/")


def test_there_are_commands_to_look_at() -> None:
    assert len(COMMANDS) > 60


@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: f"{command.page.stem}: {' '.join(command.words)}")
def test_a_documented_command_is_understood(command: Documented) -> None:
    # Options stand in brackets, alternatives beside a bar, numbers as a letter.
    plain = [word.strip("[]").split("|")[0] for word in command.words if word not in ("...", "…")]
    plain = ["1" if word in ("D", "N") else word for word in plain]
    _, rest = make_parser().parse_known_args(plain)
    assert not rest or plain[0] == "score", f"{command.page.name}: unknown: {rest}"


@pytest.mark.parametrize(
    "command",
    [command for command in documented() if command.elsewhere is not None],
    ids=lambda command: " ".join(command.words),
)
def test_a_command_that_is_said_to_be_run_elsewhere_is_in_that_test(command: Documented) -> None:
    text = (ROOT / "tests" / str(command.elsewhere)).read_text(encoding="utf-8")
    words = {"demo": ["run", "demo.yaml"], "demo --real": ["run", "local.yaml"]}.get(
        " ".join(command.words), command.words
    )
    name = words[1].rpartition("/")[2] if words[0] in ("run", "plan") else words[0]
    assert f'"{name}"' in text, f"{command.elsewhere} does not run {command.words}"


def test_what_asks_a_provider_says_that_it_needs_a_key() -> None:
    silent = [command.line for command in documented() if _OF_A_PROVIDER.search(command.line) and not command.needs_key]
    assert silent == []
