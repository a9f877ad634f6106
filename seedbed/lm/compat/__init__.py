"""What Seedbed takes from the insides of other libraries, which promise nothing about it: a module a library. An
upgrade that takes a name away is told in a sentence, by the module's test first and else where the name is used."""

from __future__ import annotations

import importlib
import importlib.metadata
import importlib.util
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from seedbed.errors import SeedbedError


class LibraryChanged(SeedbedError):
    """A library no longer has what is used of its insides."""


@dataclass(frozen=True, slots=True)
class PrivateName:
    """A name inside a library."""

    library: str
    owner: str
    """The module, or the class by its full name, that has it."""
    name: str
    used_in: str
    """The file that does not work without it."""

    def of(self, owner: object) -> Any:
        """What stands under the name in its owner, or in an object of that class."""
        try:
            return getattr(owner, self.name)
        except AttributeError:
            raise self.gone() from None

    def load(self) -> Any:
        """The same, from the module it lies in."""
        return self.of(self.module())

    def module(self) -> Any:
        """The owner, where that is a module."""
        try:
            return importlib.import_module(self.owner)
        except ModuleNotFoundError as error:
            if not f"{self.owner}.".startswith(f"{error.name}."):
                raise  # it is there, but something that it needs is not
            raise _gone(self.library, self.owner, self.used_in) from None

    def gone(self) -> LibraryChanged:
        """The sentence to raise where the name is missing."""
        return _gone(self.library, f"{self.owner}.{self.name}", self.used_in)


@dataclass(frozen=True, slots=True)
class PrivateFile:
    """A file or folder inside a library, found without importing it."""

    library: str
    path: str
    """Beneath the library's own folder."""
    used_in: str

    def find(self, library_folder: Path | None = None) -> Path:
        """Where it lies in the installed library, or in the folder given."""
        folder = library_folder or _folder(self.library)
        if folder is None or not (folder / self.path).exists():
            raise _gone(self.library, self.path, self.used_in)
        return folder / self.path


def _gone(library: str, name: str, used_in: str) -> LibraryChanged:
    try:
        release = f"{library} {importlib.metadata.version(library)}"
    except importlib.metadata.PackageNotFoundError:
        release = f"{library} (not installed)"
    return LibraryChanged(
        f"{release} has no {name}, which {used_in} needs; pin the release before it, or teach {used_in} the new way."
    )


def _folder(library: str) -> Path | None:
    spec = importlib.util.find_spec(library)
    if spec is None or not spec.submodule_search_locations:
        return None
    return Path(next(iter(spec.submodule_search_locations)))
