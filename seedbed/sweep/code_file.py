"""A function out of a file of the user's, named FILE.py:FUNCTION."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from seedbed.storage.hashing import hash_file, hash_json
from seedbed.sweep.code import user_files
from seedbed.sweep.from_source import FromSource, make_importable


def load_code(text: str, folder: Path) -> Callable[..., Any]:
    """The function, from the file as it is now: an edited one is another module. A ValueError says what is wrong."""
    name, colon, function = text.rpartition(":")
    if not colon or not name.endswith(".py") or not function.isidentifier():
        raise ValueError(f"{text!r} names no function; write FILE.py:FUNCTION")
    path = folder / name
    if not path.is_file():
        raise ValueError(f"{name} does not exist; paths are taken from the folder of the config file")
    found = getattr(_module(path.resolve()), function, None)
    if not callable(found):
        raise ValueError(f"{name} defines no function {function!r}")
    return found


def code_files(text: str, folder: Path) -> dict[str, Path]:
    """The file, and those of the user's that it imports, by their names beside the config."""
    name = text.rpartition(":")[0]
    module = _module((folder / name).resolve()).__name__
    imported = user_files([module])
    imported.pop(f"{module}.py", None)
    return {name: folder / name, **imported}


def _module(path: Path) -> Any:
    key = f"{path.stem}_{hash_json([str(path), hash_file(path)])[:12]}"
    if key in sys.modules:
        return sys.modules[key]
    make_importable(path.parent)
    loader = FromSource(key, str(path))
    spec = importlib.util.spec_from_file_location(key, path, loader=loader)
    assert spec is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[key] = module
    try:
        loader.exec_module(module)
    except Exception as error:
        del sys.modules[key]
        raise ValueError(f"{path.name} failed while it was imported ({type(error).__name__}: {error})") from error
    return module
