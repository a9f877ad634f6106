"""A copy of the tree to plant bugs in, and a process for each: the tests run there, and nothing of the real tree is
touched, whatever happens meanwhile."""

from __future__ import annotations

import compileall
import importlib
import os
import shutil
import signal
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from py_compile import PycInvalidationMode
from typing import Literal

from tests.mutants.reach import Recorder, telling

ROOT = Path(__file__).resolve().parents[2]
Fate = Literal["killed", "survived", "broken"]

_NOT_COPIED = shutil.ignore_patterns(".git", ".venv", "out", "__pycache__", ".*_cache", ".hypothesis")
_HEAVY = ("pytest", "hypothesis.stateful", "sqlalchemy", "numpy", "scipy.stats", "pandas", "dspy", "aiohttp")
"""Imported once; each process of tests is a fork that has them already."""
_OPTIONS = ("-x", "-q", "--tb=line", "--hypothesis-profile=mutants", "-p", "no:cacheprovider", "--timeout=120")
_PATIENCE_S = 400.0
_RECORDING_S = 3600.0
_RECORDED = (
    *(f"tests/unit/{room}" for room in ("lm", "phases", "storage", "nightly", "analysis", "report", "sweep", "cli")),
    "tests/unit/suites/custom",
    "tests/unit/suites/kit",
    "tests/golden",
)
"""Whose tests may be asked about the core. Those of single suites, which need all of it, look at other rules;
what configs can add to any (repeats, scorers, rivals, agents) is tested by way of `custom` and `kit`."""
_LOOK_S = 0.05


@contextmanager
def copied() -> Iterator[Path]:
    """A copy of everything the tests need, compiled so that a changed file is known by its content."""
    with tempfile.TemporaryDirectory(prefix="seedbed-mutants-") as name:
        root = Path(name)
        shutil.copytree(ROOT, root, ignore=_NOT_COPIED, dirs_exist_ok=True)
        mode = PycInvalidationMode.CHECKED_HASH
        compileall.compile_dir(root, quiet=2, invalidation_mode=mode)
        for module in _HEAVY:
            importlib.import_module(module)
        yield root


@contextmanager
def changed(root: Path, file: str, text: str) -> Iterator[None]:
    """The file with another content, for as long as it takes."""
    path = root / file
    before = path.read_text(encoding="utf-8")
    path.write_text(text, encoding="utf-8")
    try:
        yield
    finally:
        path.write_text(before, encoding="utf-8")


def record(root: Path, files: Sequence[str], to: Path) -> None:
    """Runs the tests without a server once, to know which of them run which function of the files."""
    with ExitStack() as stack:
        for file in files:
            source = (root / file).read_text(encoding="utf-8")
            stack.enter_context(changed(root, file, telling(file, source)))
        words = _run(root, [*_OPTIONS[1:], *_RECORDED], [Recorder(to)], _RECORDING_S)[1]
    if not to.exists():
        raise SystemExit(f"which test runs what cannot be recorded: {words}")
    print(f"recorded which test runs what: {words}", flush=True)


def run_tests(root: Path, tests: Sequence[str]) -> tuple[Fate, str]:
    """Whether a test fails there, and the last words of the run. Tests that do not end are tests that fail."""
    return _run(root, [*_OPTIONS, *tests], [], _PATIENCE_S)


def _run(root: Path, arguments: list[str], plugins: list[object], patience_s: float) -> tuple[Fate, str]:
    log = root / "tests.log"
    pid = os.fork()
    if pid == 0:
        _be_pytest(root, log, arguments, plugins)
    deadline = time.monotonic() + patience_s
    while (ended := os.waitpid(pid, os.WNOHANG))[0] == 0:
        if time.monotonic() > deadline:
            os.killpg(pid, signal.SIGKILL)
            os.waitpid(pid, 0)
            return "killed", "did not end"
        time.sleep(_LOOK_S)
    code = os.waitstatus_to_exitcode(ended[1])
    said = log.read_text(encoding="utf-8", errors="replace").strip()
    # Tests that cannot even be imported notice; none found at all is a mistake of the list.
    failed = code in (1, 2) or code < 0 or "ERROR collecting" in said
    fate: Fate = "survived" if code == 0 else "killed" if failed else "broken"
    return fate, _last_words(said) if fate != "broken" else said[-2000:]


def _last_words(said: str) -> str:
    """The test that failed first, or pytest's summary."""
    failed = [line for line in said.splitlines() if line.startswith(("FAILED", "ERROR"))]
    return (failed or said.splitlines() or [""])[0 if failed else -1]


def _be_pytest(root: Path, log: Path, arguments: list[str], plugins: list[object]) -> None:
    """In the fork: forget the real tree, and become a run of pytest in the copy."""
    code = 4
    try:
        os.setsid()
        os.chdir(root)
        handle = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
        os.dup2(handle, 1)
        os.dup2(handle, 2)
        for name in [name for name in sys.modules if name.partition(".")[0] in ("seedbed", "flows", "tasks", "tests")]:
            del sys.modules[name]
        sys.path[:] = [str(root), *(entry for entry in sys.path if entry and Path(entry).resolve() != ROOT)]
        sys.dont_write_bytecode = True
        os.environ |= {"PYTHONPATH": str(root), "PYTHONDONTWRITEBYTECODE": "1", "DO_NOT_TRACK": "1"}
        os.environ["SEEDBED_HOME"] = str(root / "home")
        import pytest

        code = int(pytest.main(arguments, plugins))
        sys.stdout.flush()
    finally:
        os._exit(code)
