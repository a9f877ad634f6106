"""Which of several choices a text names."""

from __future__ import annotations

import re
from collections.abc import Sequence


def choice_of(text: str, choices: Sequence[str]) -> str:
    """The choice that a reply names: the whole of it, or the only one in it, or the last line's; else the text as it
    is, which no choice equals."""
    said = text.strip()
    for part in (said, said.rpartition("\n")[2]):
        bare = part.strip(" .,:;!\"'`*()[]").casefold()
        whole = next((choice for choice in choices if choice.casefold() == bare), None)
        if whole is not None:
            return whole
        named = named_choices(part, choices)
        if len(named) == 1:
            return named[0]
    return said


def named_choices(text: str, choices: Sequence[str]) -> list[str]:
    """Choices that stand in a text as words; one inside a longer one that is named too does not count."""
    found = [choice for choice in choices if re.search(rf"(?<!\w){re.escape(choice)}(?!\w)", text, re.IGNORECASE)]
    return [one for one in found if not any(one != other and one.casefold() in other.casefold() for other in found)]
