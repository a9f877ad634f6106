"""The vectors here are those everybody compares with."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.support.golden import VECTORS

ROOT = Path(__file__).resolve().parents[2]
SHARED = Path(os.environ.get("SEEDBED_SHARED") or ROOT.parent / "shared") / "golden"


@pytest.mark.skipif(not SHARED.is_dir(), reason="no shared copy of the golden vectors beside this clone")
def test_the_vectors_are_the_shared_ones_byte_for_byte() -> None:
    shared = {path.name: path.read_bytes() for path in SHARED.iterdir()}
    assert shared == {path.name: path.read_bytes() for path in VECTORS.iterdir()}


def test_every_file_of_vectors_is_read_by_a_golden_test() -> None:
    tests = "".join(path.read_text(encoding="utf-8") for path in Path(__file__).parent.glob("test_*.py"))
    assert [path.name for path in VECTORS.iterdir() if f'"{path.name}"' not in tests] == []
