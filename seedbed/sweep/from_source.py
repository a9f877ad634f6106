"""Code of the user's own is imported from its source.

Python would read the bytecode beside it where size and second of the last change agree. So an edit within a second
would not be seen, and whoever sends results could send bytecode that is not that of the source which one reads before
trusting it. What runs is what is hashed; and nothing is left beside the user's files.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from importlib.machinery import (
    EXTENSION_SUFFIXES,
    SOURCE_SUFFIXES,
    ExtensionFileLoader,
    FileFinder,
    ModuleSpec,
    SourceFileLoader,
)
from pathlib import Path
from types import ModuleType
from typing import Any

_own: set[str] = set()
"""Folders that were made importable, and those of packages found in them. Others below them, as those of an
environment, keep their bytecode."""


class FromSource(SourceFileLoader):
    def path_stats(self, path: str) -> Mapping[str, Any]:  # type: ignore[override]
        # Without them bytecode is neither read nor written.
        raise OSError


class _Finder(FileFinder):
    def find_spec(self, fullname: str, target: ModuleType | None = None) -> ModuleSpec | None:
        found = super().find_spec(fullname, target)
        if found is not None and found.submodule_search_locations is not None:
            _own.update(found.submodule_search_locations)
        return found


def make_importable(folder: Path) -> None:
    """Modules beside a config, in a folder that is looked through after all others."""
    place = str(folder)
    if not _own:
        sys.path_hooks.insert(0, _finder)
    if place not in _own:
        _own.add(place)
        sys.path_importer_cache.pop(place, None)
    if place not in sys.path:
        sys.path.append(place)


def _finder(path: str) -> Any:
    if path not in _own:
        raise ImportError(path)
    return _Finder(path, (ExtensionFileLoader, EXTENSION_SUFFIXES), (FromSource, SOURCE_SUFFIXES))
