"""Vectors with expected values, as files beside the golden tests."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

VECTORS = Path(__file__).resolve().parents[1] / "golden" / "vectors"


def lines(name: str) -> list[dict[str, Any]]:
    """The lines of a file of vectors; the first may be a header."""
    return [json.loads(line) for line in (VECTORS / name).read_text(encoding="utf-8").splitlines() if line.strip()]
