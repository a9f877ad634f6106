"""The version of a plugin's code: changed by an edit of what it uses, and by no other."""

from __future__ import annotations

import importlib
import os
import sys
from pathlib import Path
from types import ModuleType

import pytest

from seedbed.sweep.code import code_version, user_files

PLUGIN = '''
"""Experiments of our own."""
from code_helpers import WIDTH, widen
import code_helpers
from seedbed import Options, scorer, system

LIMIT = 5


class Choice(Options):
    depth: int = 1


def cut(text):
    return text[:LIMIT]


@system("crosslingual", "one", options=Choice)
def one(context, options):
    # a remark
    return lambda question, **_: cut(question)


@system("crosslingual", "two")
def two(context, options):
    return lambda question, **_: code_helpers.widen(question)


def score(context, case, output, options):
    return float(len(output["answer"]) > WIDTH)
'''
HELPERS = "WIDTH = 3\n\n\ndef widen(text):\n    return text + text\n\n\ndef unused():\n    return 1\n"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "code_plugin.py").write_text(PLUGIN)
    (tmp_path / "code_helpers.py").write_text(HELPERS)
    monkeypatch.syspath_prepend(str(tmp_path))
    return tmp_path


def versions(folder: Path) -> dict[str, str]:
    for name in ("code_plugin", "code_helpers"):
        sys.modules.pop(name, None)
    importlib.invalidate_caches()
    module = importlib.import_module("code_plugin")
    return {name: code_version(getattr(module, name)) for name in ("one", "two", "score")}


def edited(folder: Path, file: str, old: str, new: str) -> set[str]:
    """Names whose version an edit changes."""
    before = versions(folder)
    path = folder / file
    text = path.read_text()
    assert old in text
    changed_at = path.stat().st_mtime_ns + 1_000_000_000
    path.write_text(text.replace(old, new))
    os.utime(path, ns=(changed_at, changed_at))
    after = versions(folder)
    return {name for name in before if before[name] != after[name]}


@pytest.mark.parametrize(
    ("file", "old", "new", "changes"),
    [
        ("code_plugin.py", "# a remark", "# another remark", set()),
        ("code_plugin.py", '"""Experiments of our own."""', '"""Ours."""', set()),
        ("code_plugin.py", '@system("crosslingual", "two")', '@system("crosslingual", "two", calls_per_case=2)', set()),
        ("code_plugin.py", "cut(question)", "cut(question + '?')", {"one"}),
        ("code_plugin.py", "LIMIT = 5", "LIMIT = 6", {"one"}),
        ("code_plugin.py", "depth: int = 1", "depth: int = 2", {"one"}),
        ("code_plugin.py", "return float(len", "return float(1 + len", {"score"}),
        ("code_helpers.py", "text + text", "text + ' ' + text", {"two"}),
        ("code_helpers.py", "WIDTH = 3", "WIDTH = 4", {"score"}),
        ("code_helpers.py", "return 1", "return 2", set()),
        ("code_plugin.py", "LIMIT = 5", "LIMIT = 5\nprint('at import')", {"one", "two", "score"}),
    ],
    ids=lambda value: value[:24] if isinstance(value, str) else None,
)
def test_an_edit_changes_what_uses_it(folder: Path, file: str, old: str, new: str, changes: set[str]) -> None:
    assert edited(folder, file, old, new) == changes


def test_a_target_by_name_has_the_version_of_what_it_names(folder: Path) -> None:
    found = versions(folder)
    assert code_version("code_plugin:one") == found["one"]


def test_code_without_a_file_has_a_version_too() -> None:
    first: dict[str, object] = {}
    exec("def f(): return 1\ndef g(): return 2", first)
    assert code_version(first["f"]) != code_version(first["g"])  # type: ignore[arg-type]


@pytest.mark.parametrize("place", ["fast.so", "site-packages/fast.py", "dist-packages/fast.py"])
def test_neither_a_compiled_module_nor_a_package_of_another_python_is_among_the_users_files(
    folder: Path, monkeypatch: pytest.MonkeyPatch, place: str
) -> None:
    file = folder / place
    file.parent.mkdir(exist_ok=True)
    file.write_bytes(b"\x7fELF\x90" if file.suffix == ".so" else b"SPEED = 1")
    fast = ModuleType("code_fast")
    fast.__file__ = str(file)
    monkeypatch.setitem(sys.modules, "code_fast", fast)
    (folder / "code_helpers.py").write_text(f"import code_fast\n{HELPERS}")
    versions(folder)
    assert set(user_files(["code_plugin"])) == {"code_plugin.py", "code_helpers.py"}
