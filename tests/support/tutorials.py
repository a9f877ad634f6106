"""The files and commands of a tutorial, as they stand in it."""

from __future__ import annotations

import re
import shlex
from dataclasses import dataclass

from tests.support.snippets import DOCS

_BLOCK = re.compile(
    r"(?P<mark><!-- not run by the tests: [^>]+ -->\n)?"
    r'```(?P<kind>\w+)(?: title="(?P<title>[^"]+)")?\n(?P<text>.*?)```',
    re.DOTALL,
)


@dataclass(frozen=True)
class Tutorial:
    files: dict[str, str]
    commands: list[list[str]]
    """Those that a test can run; others are marked, with the reason, in a comment before their block."""


def tutorial(name: str) -> Tutorial:
    text = (DOCS / "tutorials" / f"{name}.md").read_text(encoding="utf-8")
    blocks = list(_BLOCK.finditer(text))
    shells = [block for block in blocks if block["kind"] == "sh" and not block["mark"]]
    lines = [line for block in shells for line in block["text"].splitlines() if line.strip()]
    return Tutorial(
        {block["title"]: block["text"] for block in blocks if block["title"]},
        [shlex.split(line, comments=True) for line in lines],
    )
