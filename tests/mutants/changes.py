"""Small changes to the core, made by rule: another comparison, a condition turned round, a number one higher, a
statement left out. Each file is written once with all of its changes in it, each behind a switch."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

_CORE = ("seedbed/lm", "seedbed/phases", "seedbed/storage", "seedbed/nightly", "seedbed/analysis")
EQUIVALENT = Path(__file__).with_name("equivalent.md")
SWITCH = "seedbed._switch"
_ON = "_switched_on"

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
_SAID_ONLY = ("logger", "warnings")


@dataclass(frozen=True)
class Change:
    number: int
    """Of all changes of the core, from 1."""
    file: str
    what: str
    """The expression before and after, and the line it stands in."""
    at_import: bool
    """Whether it is already run when its module is imported: a default, the body of a class."""

    @property
    def name(self) -> str:
        return f"{self.file}: {self.what}"


def core_files(root: Path) -> list[str]:
    found = (path for part in _CORE for path in (root / part).rglob("*.py"))
    return sorted(str(path.relative_to(root)) for path in found)


def changes(root: Path) -> list[Change]:
    """Every change that can be made, in the order of files and lines."""
    found: list[Change] = []
    for file in core_files(root):
        source = (root / file).read_text(encoding="utf-8")
        found += [change for change, _, _ in _placed(file, source, ast.parse(source), len(found))]
    return found


def switched(file: str, source: str, before: int) -> tuple[str, int]:
    """The source with all its changes in it, each behind the switch of its number, and how many there are. `before`:
    how many the files before this one have."""
    tree = ast.parse(source)
    found = list(_placed(file, source, tree, before))
    made: dict[ast.AST, list[tuple[int, str]]] = {}
    for change, node, after in found:
        made.setdefault(node, []).append((change.number, after))
    _Switches(made).visit(tree)
    ahead = next((i for i, node in enumerate(tree.body) if not _must_be_first(node)), len(tree.body))
    tree.body[ahead:ahead] = ast.parse(f"from {SWITCH} import on as {_ON}").body
    return ast.unparse(ast.fix_missing_locations(tree)), len(found)


@lru_cache(maxsize=1)
def judged_equivalent() -> frozenset[str]:
    """Names of changes that nobody could notice, from the list that says why."""
    lines = EQUIVALENT.read_text(encoding="utf-8").splitlines() if EQUIVALENT.exists() else []
    return frozenset(line[3:].strip() for line in lines if line.startswith("## "))


class _Switches(ast.NodeTransformer):
    def __init__(self, made: dict[ast.AST, list[tuple[int, str]]]) -> None:
        self._made = made

    def visit(self, node: ast.AST) -> ast.AST:
        own = self._made.get(node, [])
        node = self.generic_visit(node)
        for number, after in own:
            test = ast.Call(ast.Name(_ON, ast.Load()), [ast.Constant(number)], [])
            if isinstance(node, ast.stmt):
                node = ast.If(test, ast.parse(after).body, [node])
            else:
                assert isinstance(node, ast.expr)
                node = ast.IfExp(test, ast.parse(after, mode="eval").body, node)
        return node


def _must_be_first(node: ast.stmt) -> bool:
    future = isinstance(node, ast.ImportFrom) and node.module == "__future__"
    return future or (isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant))


def _placed(file: str, source: str, tree: ast.Module, before: int) -> Iterator[tuple[Change, ast.AST, str]]:
    """Each change with the node it replaces and the text that stands there then."""
    lines, number = [line.encode() for line in source.splitlines()], before
    for node, at_import in _code(tree, at_import=True):
        for after in _changes(node):
            number += 1
            stands = lines[node.lineno - 1].decode().strip()
            what = f"`{_segment(lines, node)}` -> `{after}` in `{stands}`"
            yield Change(number, file, what, at_import), node, after


def _segment(lines: Sequence[bytes], node: ast.expr | ast.stmt) -> str:
    """The text of a node, in one line; what `ast` has for it goes through the whole file each time."""
    assert node.end_lineno is not None
    own = list(lines[node.lineno - 1 : node.end_lineno])
    own[-1] = own[-1][: node.end_col_offset]
    own[0] = own[0][node.col_offset :]
    return " ".join(b" ".join(own).decode().split())


def _code(node: ast.AST, *, at_import: bool) -> Iterator[tuple[ast.expr | ast.stmt, bool]]:
    """Every expression and statement that does something, and whether it does so at import: no annotations, decorators,
    patterns, messages of errors and logs."""
    if isinstance(node, ast.expr | ast.stmt):
        yield node, at_import
    inner = isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda)
    for name, value in ast.iter_fields(node):
        if name in ("annotation", "returns", "decorator_list", "type_params", "msg", "exc", "cause", "pattern"):
            continue
        for child in value if isinstance(value, list) else [value]:
            if isinstance(child, ast.AST) and not _only_said(child):
                yield from _code(child, at_import=at_import and not (inner and name == "body"))


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
