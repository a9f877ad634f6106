"""A copy of the tree to plant bugs in: the tests run there, in forks of this process, and nothing of the real tree is
touched, whatever happens meanwhile."""

from __future__ import annotations

import compileall
import importlib
import json
import os
import shutil
import signal
import struct
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from py_compile import PycInvalidationMode
from typing import Literal

from tests.mutants import switch
from tests.mutants.asking import Asker, Question
from tests.mutants.changes import SWITCH, core_files, switched
from tests.mutants.reach import Recorder

ROOT = Path(__file__).resolve().parents[2]
Fate = Literal["killed", "survived", "broken"]

_NOT_COPIED = shutil.ignore_patterns(
    ".git", ".venv", "out", "site", "node_modules", "bench_results", "__pycache__", ".*_cache", ".hypothesis"
)
_HEAVY = ("pytest", "hypothesis.stateful", "sqlalchemy", "numpy", "scipy.stats", "pandas", "dspy", "aiohttp")
"""Imported once; each process of tests is a fork that has them already."""
_OPTIONS = ("-q", "--tb=line", "--hypothesis-profile=mutants", "-p", "no:cacheprovider", "--timeout=120")
_PATIENCE_S = 400.0
_RECORDING_S = 3600.0
_LOOK_S = 0.05


@contextmanager
def copied() -> Iterator[Path]:
    """A copy of everything the tests need, compiled so that a changed file is known by its content."""
    with tempfile.TemporaryDirectory(prefix="seedbed-mutants-") as name:
        root = Path(name)
        shutil.copytree(ROOT, root, ignore=_NOT_COPIED, dirs_exist_ok=True)
        _compile(root)
        for module in _HEAVY:
            importlib.import_module(module)
        yield root


def _compile(root: Path) -> None:
    compileall.compile_dir(root, quiet=2, invalidation_mode=PycInvalidationMode.CHECKED_HASH)


def put_switches(root: Path) -> None:
    """Every change of the core into the copy, each behind its switch."""
    before = 0
    for file in core_files(root):
        source, own = switched(file, (root / file).read_text(encoding="utf-8"), before)
        (root / file).write_text(source, encoding="utf-8")
        before += own
    shutil.copy(switch.__file__, root / f"{SWITCH.replace('.', '/')}.py")
    _compile(root)


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


def record(root: Path, modules: Sequence[str], to: Sequence[Path]) -> None:
    """Runs test modules once, in as many processes as there are files to write, to know which change each test runs."""
    started = [_recording(root, modules[place :: len(to)], path) for place, path in enumerate(to)]
    for pid, log in started:
        if _waited(pid, _RECORDING_S) is None:
            raise SystemExit(f"the tests did not end that tell what they run: {_last_words(log)}")
    for path, (_, log) in zip(to, started, strict=True):
        if not path.exists():
            raise SystemExit(f"which test runs what cannot be recorded: {log.read_text(encoding='utf-8')[-2000:]}")
        print(f"recorded which test runs what: {_last_words(log)}", flush=True)


def _recording(root: Path, modules: Sequence[str], to: Path) -> tuple[int, Path]:
    folder = Path(tempfile.mkdtemp(dir=root))
    arguments = [*_OPTIONS, *modules]
    return _forked(root, arguments, lambda: [Recorder(to, folder)], {"SEEDBED_REACHED": str(folder)})


def ask(root: Path, questions: Sequence[Question], processes: int, tell: Callable[[int, str, str], None]) -> None:
    """Puts each to its tests; number, fate and the test that noticed are told as they come."""
    if not questions:
        return
    answers = Path(tempfile.mkstemp(dir=root)[1])
    numbers, end = os.pipe()
    modules = sorted({test.partition("::")[0] for question in questions for test in question.tests})
    by_number = {question.number: question for question in questions}
    started = [
        _forked(root, [*_OPTIONS, *modules], lambda: [Asker(by_number, numbers, answers)], {}, (end,))
        for _ in range(processes)
    ]
    os.close(numbers)
    for question in questions:
        os.write(end, struct.pack("i", question.number))
    os.close(end)
    told, running = 0, dict(started)
    while True:
        ended = [pid for pid in running if os.waitpid(pid, os.WNOHANG)[0]]
        lines = answers.read_text(encoding="utf-8").splitlines()
        for line in lines[told:]:
            answer = json.loads(line)
            tell(answer["number"], answer["fate"], answer["by"])
        told = len(lines)
        logs = [running.pop(pid) for pid in ended]
        if not running:
            break
        time.sleep(_LOOK_S)
    if told < len(questions):
        raise SystemExit(f"only {told} of {len(questions)} were put to their tests: {logs[-1].read_text()[-2000:]}")


def run_tests(root: Path, tests: Sequence[str], number: int = 0) -> tuple[Fate, str]:
    """Whether a test fails there, and the last words of the run. Tests that do not end are tests that fail. With a
    number, that change is on from the first import."""
    pid, log = _forked(root, ["-x", *_OPTIONS, *tests], list, {"SEEDBED_CHANGE": str(number)})
    code = _waited(pid, _PATIENCE_S)
    if code is None:
        return "killed", "did not end"
    said = log.read_text(encoding="utf-8", errors="replace").strip()
    # Tests that cannot even be imported notice; none found at all is a mistake of the list.
    failed = code in (1, 2) or code < 0 or "ERROR collecting" in said or "ImportError while loading conftest" in said
    fate: Fate = "survived" if code == 0 else "killed" if failed else "broken"
    return fate, _last_words(log) if fate != "broken" else said[-2000:]


def _last_words(log: Path) -> str:
    """The test that failed first, or pytest's summary."""
    said = log.read_text(encoding="utf-8", errors="replace").strip()
    failed = [line for line in said.splitlines() if line.startswith(("FAILED", "ERROR"))]
    return (failed or said.splitlines() or [""])[0 if failed else -1]


def _waited(pid: int, patience_s: float) -> int | None:
    deadline = time.monotonic() + patience_s
    while (ended := os.waitpid(pid, os.WNOHANG))[0] == 0:
        if time.monotonic() > deadline:
            os.killpg(pid, signal.SIGKILL)
            os.waitpid(pid, 0)
            return None
        time.sleep(_LOOK_S)
    return os.waitstatus_to_exitcode(ended[1])


def _forked(
    root: Path,
    arguments: list[str],
    plugins: Callable[[], list[object]],
    environment: dict[str, str],
    ends: Sequence[int] = (),
) -> tuple[int, Path]:
    """The number and the log of a fork that forgets the real tree and becomes a run of pytest in the copy."""
    log = Path(tempfile.mkstemp(dir=root, suffix=".log")[1])
    pid = os.fork()
    if pid:
        return pid, log
    code = 4
    try:
        for end in ends:
            os.close(end)
        os.setsid()
        os.chdir(root)
        handle = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
        os.dup2(handle, 1)
        os.dup2(handle, 2)
        made = plugins()
        for name in [name for name in sys.modules if name.partition(".")[0] in ("seedbed", "flows", "tasks", "tests")]:
            del sys.modules[name]
        sys.path[:] = [str(root), *(entry for entry in sys.path if entry and Path(entry).resolve() != ROOT)]
        sys.dont_write_bytecode = True
        os.environ |= {"PYTHONPATH": str(root), "PYTHONDONTWRITEBYTECODE": "1", "DO_NOT_TRACK": "1", **environment}
        os.environ["SEEDBED_HOME"] = str(root / "home")
        import pytest

        code = int(pytest.main(arguments, made))
        sys.stdout.flush()
    finally:
        os._exit(code)
