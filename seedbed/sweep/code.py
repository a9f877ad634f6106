"""The version of code: what a plugin's function is made of, as a hash that changes when it does and not otherwise.

A definition is hashed with everything it names, down through its own module and the user's other modules: functions,
classes, constants. So an edited scorer leaves the systems beside it in the same file as they were. What lies in
installed packages does not count, and neither do files that code reads or names made at run time: who depends on such
things declares `version=`.
"""

from __future__ import annotations

import ast
import importlib
import sys
import sysconfig
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from types import ModuleType
from typing import Any

from seedbed.storage.hashing import hash_json

_INSTALLED = tuple(
    str(Path(sysconfig.get_paths()[name]).resolve()) for name in ("stdlib", "platstdlib", "purelib", "platlib")
)
_PACKAGES = frozenset({"site-packages", "dist-packages"})
"""Folders of installed packages, also of another Python: of the system, or on PYTHONPATH."""
_OURS = str(Path(__file__).resolve().parent.parent)
_DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)


def code_version(target: Callable[..., Any] | str) -> str:
    """The hash of a definition and of all of the user's code that it names; a target may be "module:name"."""
    if isinstance(target, str):
        module_name, _, name = target.partition(":")
        module: ModuleType | None = importlib.import_module(module_name)
    else:
        module = sys.modules.get(getattr(target, "__module__", ""))
        name = getattr(target, "__qualname__", type(target).__qualname__).partition(".")[0]
    found: dict[str, str] = {}
    if module is not None:
        _collect(module, name, found)
    return hash_json(found or _fallback(target))


def is_built_in(target: Callable[..., Any] | str) -> bool:
    """Whether code is Seedbed's own, whose suites declare their version."""
    name = target.partition(":")[0] if isinstance(target, str) else getattr(target, "__module__", "")
    return name.partition(".")[0] == "seedbed"


def user_files(modules: Iterable[str]) -> dict[str, Path]:
    """The files of modules and of all of the user's that they import, by the place below which Python finds them."""
    found: dict[str, Path] = {}
    waiting = [sys.modules[name] for name in modules if name in sys.modules]
    while waiting:
        module = waiting.pop()
        source, file = _source_of(module), getattr(module, "__file__", None)
        if source is None or file is None or not is_users(module):
            continue
        path, parts = Path(file), module.__name__.split(".")
        name = "/".join(parts) + ("/__init__.py" if path.name == "__init__.py" else ".py")
        if name not in found:
            found[name] = path
            homes = [".".join(parts[:depth]) for depth in range(1, len(parts))]
            homes += [place for home, own in source.imports.values() for place in (home, f"{home}.{own}")]
            waiting += [sys.modules[home] for home in homes if home in sys.modules]
    return found


def _fallback(target: Any) -> Any:
    """Of code without a source file, such as a cell of a notebook."""
    from seedbed.sweep.live_code import live_parts

    if isinstance(target, str):
        return [target]
    return live_parts(target if hasattr(target, "__code__") or isinstance(target, type) else type(target))


@dataclass(frozen=True, slots=True)
class _Source:
    """A file, by its top-level names."""

    texts: dict[str, str]
    """Source of each; under "" what runs at import and makes no name."""
    used: dict[str, frozenset[str]]
    """What each names in turn."""
    imports: dict[str, tuple[str, str]]
    """Names that come from elsewhere: module, and name in it ("" for the module itself)."""


def _collect(module: ModuleType, name: str, found: dict[str, str]) -> None:
    """Add a name of a module and all it leads to; `found` maps MODULE:NAME to source."""
    source, place = _source_of(module), f"{module.__name__}:{name}"
    if source is None or place in found:
        return
    if name in source.imports:
        _follow(module, source, name, found)
        return
    if name not in source.texts:
        if name in vars(module):
            # Made by a loop or a call that cannot be followed: the module as a whole stands for it.
            found[place] = "\n".join(source.texts.values())
        return
    found[place] = source.texts[name]
    for other in sorted(source.used[name]):
        _follow(module, source, other, found)
    _collect(module, "", found)


def _follow(module: ModuleType, source: _Source, dotted: str, found: dict[str, str]) -> None:
    head, _, rest = dotted.partition(".")
    if head not in source.imports:
        if head in source.texts:
            _collect(module, head, found)
        return
    home, name = source.imports[head]
    # `from package import module` names a module too.
    inside = sys.modules.get(f"{home}.{name}") if name else sys.modules.get(home)
    if inside is None:
        home_module = sys.modules.get(home)
        if home_module is not None and is_users(home_module):
            _collect(home_module, name, found)
    elif is_users(inside):
        for each in [rest.partition(".")[0]] if rest else (_source_of(inside) or _EMPTY).texts:
            _collect(inside, each, found)


def is_users(module: ModuleType) -> bool:
    """Whether a module is a file of the user's, neither installed nor Seedbed's."""
    file = getattr(module, "__file__", None)
    if file is None:
        return False
    path = Path(file).resolve()
    return not str(path).startswith((_OURS, *_INSTALLED)) and _PACKAGES.isdisjoint(path.parts)


def _source_of(module: ModuleType) -> _Source | None:
    file = getattr(module, "__file__", None)
    # A compiled module has no source to read.
    if file is None or not file.endswith(".py") or not Path(file).exists():
        return None
    return _parse(file, module.__package__ or "", Path(file).stat().st_mtime_ns)


_EMPTY = _Source({}, {}, {})


@lru_cache(maxsize=256)
def _parse(file: str, package: str, _changed: int) -> _Source:
    made = _Source({}, {}, {})
    tree = ast.parse(Path(file).read_text(encoding="utf-8"))
    for statement in tree.body:
        if not _is_idle(statement):
            for name in list(_names_made(statement)) or [""]:
                made.texts[name] = f"{made.texts.get(name, '')}{_source(statement)}\n"
                made.used[name] = made.used.get(name, frozenset()) | _names_used(statement)
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                made.imports[alias.asname or alias.name.partition(".")[0]] = (
                    alias.name if alias.asname else alias.name.partition(".")[0],
                    "",
                )
        elif isinstance(node, ast.ImportFrom):
            home = f"{'.'.join(package.split('.')[: len(package.split('.')) - node.level + 1])}." if node.level else ""
            for alias in node.names:
                made.imports[alias.asname or alias.name] = (f"{home}{node.module or ''}".rstrip("."), alias.name)
    return made


def _names_made(statement: ast.stmt) -> Iterator[str]:
    if isinstance(statement, _DEFINITIONS):
        yield statement.name
    elif isinstance(statement, ast.Assign | ast.AnnAssign | ast.AugAssign):
        targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
        for target in targets:
            yield from (node.id for node in ast.walk(target) if isinstance(node, ast.Name))


def _is_idle(statement: ast.stmt) -> bool:
    """A docstring, an import (it is followed where it is used), a registration, what runs the file by itself."""
    if isinstance(statement, ast.Import | ast.ImportFrom | ast.Pass):
        return True
    if isinstance(statement, ast.Expr):
        return isinstance(statement.value, ast.Constant) or _registers(statement.value)
    return isinstance(statement, ast.If) and "__name__" in ast.unparse(statement.test)


def _source(statement: ast.stmt) -> str:
    """Source without comments and layout. What registers a definition with Seedbed says how it is called and estimated,
    not what it does, and is left out."""
    if not isinstance(statement, _DEFINITIONS):
        return ast.unparse(statement)
    copy = ast.parse(ast.unparse(statement)).body[0]
    assert isinstance(copy, _DEFINITIONS)
    copy.decorator_list = [each for each in copy.decorator_list if not _registers(each)]
    return ast.unparse(copy)


_REGISTERING = {"benchmark", "optimizer", "provider", "register_suite", "scorer", "suite", "system"}


def _registers(expression: ast.expr) -> bool:
    called = expression.func if isinstance(expression, ast.Call) else expression
    name = called.attr if isinstance(called, ast.Attribute) else called.id if isinstance(called, ast.Name) else ""
    return name in _REGISTERING


def _names_used(statement: ast.stmt) -> frozenset[str]:
    """Names and dotted names (`tools.search`) that a statement reads."""
    found: set[str] = set()
    waiting: list[ast.AST] = [statement]
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            found.add(f"{node.value.id}.{node.attr}")
        elif isinstance(node, ast.Name):
            found.add(node.id)
        else:
            waiting.extend(ast.iter_child_nodes(node))
    return frozenset(found)
