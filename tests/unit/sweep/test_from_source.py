"""Code of the user's own is what its source says, whatever bytecode lies beside it."""

from __future__ import annotations

import importlib
import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from seedbed.sweep.code_file import load_code
from seedbed.sweep.from_source import make_importable


@pytest.fixture(autouse=True)
def _with_bytecode(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    monkeypatch.setattr(sys, "path", [*sys.path])
    before = set(sys.modules)
    yield
    for name in set(sys.modules) - before:
        del sys.modules[name]


def _write(path: Path, text: str) -> None:
    """As if all edits fell into one second."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    os.utime(path, (1_700_000_000, 1_700_000_000))


def test_an_edit_within_a_second_is_seen_and_nothing_is_left_behind(tmp_path: Path) -> None:
    seen: list[str] = []
    for word in ("cat", "dog"):
        _write(tmp_path / "own_animal.py", f"NAME = '{word}'\n")
        make_importable(tmp_path)
        seen.append(importlib.import_module("own_animal").NAME)
        del sys.modules["own_animal"]
    assert seen == ["cat", "dog"]
    assert [path.name for path in tmp_path.iterdir()] == ["own_animal.py"]


def test_so_it_is_in_packages_and_in_functions_from_files(tmp_path: Path) -> None:
    seen: list[object] = []
    for number in (1, 2):
        _write(tmp_path / "own_zoo/__init__.py", "")
        _write(tmp_path / "own_zoo/birds/__init__.py", "")
        _write(tmp_path / "own_zoo/birds/owl.py", f"EYES = {number}\n")
        _write(tmp_path / "eyes.py", f"from own_zoo.birds.owl import EYES\ndef eyes(): return EYES, {number}\n")
        seen.append(load_code("eyes.py:eyes", tmp_path)())
        for name in [name for name in sys.modules if name.startswith("own_zoo")]:
            del sys.modules[name]
    assert seen == [(1, 1), (2, 2)]
    assert list(tmp_path.rglob("__pycache__")) == []


def test_another_folder_below_keeps_its_bytecode(tmp_path: Path) -> None:
    """As an environment beside a config does, whose libraries would have to be compiled at each start."""
    _write(tmp_path / "env/lib/own_library.py", "")
    make_importable(tmp_path)
    sys.path.append(str(tmp_path / "env/lib"))
    importlib.import_module("own_library")
    assert (tmp_path / "env/lib/__pycache__").is_dir()
