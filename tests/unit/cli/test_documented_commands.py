"""Every command that README and docs show is one that the command line knows, with options it knows."""

from __future__ import annotations

from pathlib import Path

import pytest

from seedbed.cli.main import make_parser
from tests.support.tutorials import documented_commands

COMMANDS = documented_commands()


def test_there_are_commands_to_look_at() -> None:
    assert len(COMMANDS) > 60


@pytest.mark.parametrize(("page", "words"), COMMANDS, ids=[f"{p.stem}: {' '.join(w)}" for p, w in COMMANDS])
def test_a_documented_command_is_understood(page: Path, words: list[str]) -> None:
    # Options stand in brackets, alternatives beside a bar, numbers as a letter.
    plain = [word.strip("[]").split("|")[0] for word in words if word not in ("...", "…")]
    plain = ["1" if word in ("D", "N") else word for word in plain]
    _, rest = make_parser().parse_known_args(plain)
    assert not rest or plain[0] == "score", f"{page.name}: unknown: {rest}"
