"""Examples of the docs, as they stand there."""

from __future__ import annotations

import re
from pathlib import Path

DOCS = Path(__file__).resolve().parents[2] / "docs"


def snippet(document: str, heading: str, language: str = "python") -> str:
    """The first code of a language in a section of a document."""
    section = (DOCS / document).read_text(encoding="utf-8").split(f"{heading}\n", 1)[1].split("\n## ")[0]
    found = re.search(rf"```{language}\n(.*?)```", section, re.DOTALL)
    assert found is not None, f"{document}: {heading} has no {language} example"
    return found[1]
