"""Small changes to the core, made by rule and drawn by a seed: another comparison, a condition turned round, a number
one higher, a statement left out."""

from __future__ import annotations

import ast
import random
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from tests.mutants.reach import Reach, who_runs

_CORE = ("seedbed/lm", "seedbed/phases", "seedbed/storage", "seedbed/nightly", "seedbed/analysis")
EQUIVALENT = Path(__file__).with_name("equivalent.md")

_COMPARED: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq, ast.NotEq: ast.Eq,
    ast.Is: ast.IsNot, ast.IsNot: ast.Is, ast.In: ast.NotIn, ast.NotIn: ast.In,
}  # fmt: skip
_COMPUTED: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Div, ast.Div: ast.Mult, ast.FloorDiv: ast.Mult,
}  # fmt: skip
_SWAPPED = {"min": "max", "max": "min", "any": "all", "all": "any"}
_HARMLESS = ("strict", "nullable", "daemon", "repr", "compare", "exist_ok", "ensure_ascii", "slots", "frozen")
"""Arguments that guard against what does not happen, or say how a thing is shown."""
_SLOW = re.compile(r"mark\.slow|\b(each_ledger|postgres|s3|seedbed_home)\b")
_SAID_ONLY = ("logger", "warnings")
_BUDGET_S = 30.0
"""Of the tests that run a changed function, as long as they took when that was recorded."""


@dataclass(frozen=True)
class Mutant:
    file: str
    what: str
    """The expression before and after, and the line it stands in."""
    text: str
    """The whole file with the change in it."""
    tests: tuple[str, ...]

    @property
    def name(self) -> str:
        return f"{self.file}: {self.what}"


def draw(root: Path, reach: Reach, number: int, seed: int, only: str = "") -> list[Mutant]:
    """Some of all changes that can be made, each with the same chance. In the order they were drawn: the first of them
    are a sample too."""
    places = [(file, edit) for file in core_files(root) if only in file for edit in _edits(root / file)]
    chosen = random.Random(seed).sample(places, min(number, len(places)))
    return [_mutant(root, reach, file, *edit) for file, edit in chosen]


@lru_cache(maxsize=1)
def judged_equivalent() -> frozenset[str]:
    """Names of mutants that change nothing anybody could notice, from the list that says why."""
    lines = EQUIVALENT.read_text(encoding="utf-8").splitlines() if EQUIVALENT.exists() else []
    return frozenset(line[3:].strip() for line in lines if line.startswith("## "))


def tests_for(root: Path, reach: Reach, file: str, line: int) -> tuple[str, ...]:
    """The quick modules that name the changed one, then all other tests that run the changed function, wherever they
    lie; where nobody does, the quick ones of the folder."""
    module = file.removesuffix(".py").replace("/", ".").removesuffix(".__init__")
    package, _, name = module.rpartition(".")
    named = re.compile(rf"{module}\b|from {package} import [^\n]*\b{name}\b")
    near = [test for test, text in _quick_tests(root) if named.search(text)]
    running = who_runs(reach, file, _function_at(root / file, line), _BUDGET_S)
    found = [*near, *(test for test in running if test.partition("::")[0] not in near)]
    if found:
        return tuple(found)
    inner = Path(file).relative_to("seedbed")
    folder = next(f for f in inner.parents if (root / "tests/unit" / f).is_dir())
    return ("-m", "not slow", f"tests/unit/{folder}")


@lru_cache(maxsize=1)
def _quick_tests(root: Path) -> list[tuple[str, str]]:
    """Path and text of every module that is not slow and starts no server."""
    read = ((path, path.read_text(encoding="utf-8")) for path in sorted((root / "tests/unit").rglob("test_*.py")))
    return [(str(path.relative_to(root)), text) for path, text in read if not _SLOW.search(text)]


def core_files(root: Path) -> list[str]:
    found = (path for part in _CORE for path in (root / part).rglob("*.py"))
    return sorted(str(path.relative_to(root)) for path in found)


_Edit = tuple[str, str, tuple[int, int, int, int]]
"""The text before and after, and where it stands (of lines and bytes, as `ast` counts)."""


def _mutant(root: Path, reach: Reach, file: str, before: str, after: str, at: tuple[int, int, int, int]) -> Mutant:
    lines = (root / file).read_bytes().splitlines(keepends=True)
    first, left, last, right = at
    stands = lines[first - 1].decode()
    head, tail = lines[first - 1][:left], lines[last - 1][right:]
    lines[first - 1 : last] = [head + after.encode() + tail]
    what = f"`{' '.join(before.split())}` -> `{after}` in `{stands.strip()}`"
    return Mutant(file, what, b"".join(lines).decode(), tests_for(root, reach, file, first))


def _function_at(path: Path, line: int) -> str | None:
    """The innermost function around a line."""
    nodes = ast.walk(ast.parse(path.read_text(encoding="utf-8")))
    around = [
        node
        for node in nodes
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.lineno <= line <= (node.end_lineno or 0)
    ]
    return max(around, key=lambda node: node.lineno).name if around else None


def _edits(path: Path) -> Iterator[_Edit]:
    source = path.read_text(encoding="utf-8")
    for node in _code(ast.parse(source)):
        for after in _changes(node):
            before = ast.get_source_segment(source, node)
            assert before is not None
            assert node.end_lineno is not None
            assert node.end_col_offset is not None
            yield before, after, (node.lineno, node.col_offset, node.end_lineno, node.end_col_offset)


def _code(node: ast.AST) -> Iterator[ast.expr | ast.stmt]:
    """Every expression and statement that does something: no annotations, decorators, messages of errors and logs."""
    if isinstance(node, ast.expr | ast.stmt):
        yield node
    for name, value in ast.iter_fields(node):
        if name in ("annotation", "returns", "decorator_list", "type_params", "msg", "exc", "cause"):
            continue
        for child in value if isinstance(value, list) else [value]:
            if isinstance(child, ast.AST) and not _only_said(child):
                yield from _code(child)


def _only_said(node: ast.AST) -> bool:
    if isinstance(node, ast.If):
        return ast.unparse(node.test) == "TYPE_CHECKING"
    if isinstance(node, ast.Expr):
        text = ast.unparse(node.value)
        return isinstance(node.value, ast.Constant) or text.startswith(_SAID_ONLY)
    if isinstance(node, ast.keyword):
        return node.arg in _HARMLESS
    # A name in capitals holds a limit, a pause or a table: a test would repeat it.
    return isinstance(node, ast.Assign | ast.AnnAssign | ast.JoinedStr) and (
        isinstance(node, ast.JoinedStr) or ast.unparse(node).lstrip("_").partition("=")[0].partition(":")[0].isupper()
    )


def _changes(node: ast.expr | ast.stmt) -> Iterator[str]:
    match node:
        case ast.Compare(left, [operator], [right]) if type(operator) in _COMPARED:
            yield _unparsed(ast.Compare(left, [_COMPARED[type(operator)]()], [right]))
        case ast.BoolOp(ast.And(), values):
            yield _unparsed(ast.BoolOp(ast.Or(), values))
        case ast.BoolOp(ast.Or(), values):
            yield _unparsed(ast.BoolOp(ast.And(), values))
        case ast.UnaryOp(ast.Not(), operand):
            yield _unparsed(operand)
        case ast.BinOp(left, operator, right) if type(operator) in _COMPUTED and not _is_text(left, right):
            yield _unparsed(ast.BinOp(left, _COMPUTED[type(operator)](), right))
        case ast.Constant(bool() as value):
            yield str(not value)
        case ast.Constant(int() as value):
            yield str(value + 1)
        case ast.Call(ast.Name(name), arguments, keywords) if name in _SWAPPED:
            yield _unparsed(ast.Call(ast.Name(_SWAPPED[name]), arguments, keywords))
        case ast.Expr(ast.Call() | ast.Await()) | ast.AugAssign():
            yield "pass"
        case _:
            pass


def _is_text(*sides: ast.expr) -> bool:
    """Texts are joined and paths put together by the same signs; with others they fail at once."""
    return any(isinstance(side, ast.JoinedStr) or isinstance(getattr(side, "value", None), str) for side in sides)


def _unparsed(node: ast.expr) -> str:
    return f"({ast.unparse(node)})"
