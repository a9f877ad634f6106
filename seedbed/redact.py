"""Keeps secrets out of everything that is written: files, logs, the ledger, Prefect.

A secret is the value of an environment variable that a config names as a key or whose name says so, or a text that
looks like a provider's key. Scrubbing happens where text leaves the process, so that no caller can forget it.
"""

from __future__ import annotations

import os
import re
from functools import lru_cache

MASK = "[redacted]"

_SECRET_NAME = re.compile(r"(API_?KEY|TOKEN|SECRET|PASSWORD|PASSWD|CREDENTIAL)S?(_|$)", re.IGNORECASE)
_MIN_LENGTH = 8
_SHAPES = re.compile(
    r"""
      # Keys with a known prefix; a digit or a capital tells them from names with underscores.
      (?<![A-Za-z0-9_])(?:sk|pk|rk|gsk|xai|hf|ghp|gho|glpat)[-_](?=[A-Za-z0-9_\-]*[A-Z0-9])[A-Za-z0-9_\-]{16,}
    | (?<![A-Za-z0-9])AIza[A-Za-z0-9_\-]{20,}
    | (?<![A-Za-z0-9])AKIA[A-Z0-9]{12,}
    | (?<=Bearer\ )[A-Za-z0-9._\-]{12,}
    | (?<=://)[^/\s:@]+:[^/\s@]+(?=@)                                                        # user:password in a URL
    """,
    re.VERBOSE,
)
_PREFIXES = ("sk", "pk", "rk", "gsk", "xai", "hf", "ghp", "gho", "glpat")
_BEFORE = ("Bearer ", "://")
"""What stands before a secret and is no part of it."""
_HINTS = (*(prefix + dash for prefix in _PREFIXES for dash in "-_"), "AIza", "AKIA", *_BEFORE)


def redact(text: str) -> str:
    """The text with every secret known to this process replaced by a mask."""
    values = _secret_values()
    # Looking for plain words first is many times faster than the expressions, and most texts hold none of them.
    if any(value in text for value in values) and (known := _known_secrets(tuple(sorted(values)))) is not None:
        text = known.sub(MASK, text)
    return _SHAPES.sub(MASK, text) if _has_shape(text) else text


def _has_shape(text: str) -> bool:
    """Whether the expression would find something; it is tried only where one of its hints stands."""
    for hint in _HINTS:
        at = text.find(hint)
        while at >= 0:
            if _SHAPES.match(text, at + len(hint) if hint in _BEFORE else at):
                return True
            at = text.find(hint, at + 1)
    return False


def _secret_values() -> set[str]:
    return {
        value.strip()
        for name, value in os.environ.items()
        if len(value.strip()) >= _MIN_LENGTH and _SECRET_NAME.search(name)
    }


@lru_cache(maxsize=8)
def _known_secrets(values: tuple[str, ...]) -> re.Pattern[str] | None:
    # Longest first, so that a secret that contains another is masked whole.
    return re.compile("|".join(re.escape(v) for v in sorted(values, key=len, reverse=True))) if values else None
