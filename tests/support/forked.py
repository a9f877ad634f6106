"""Python programs as processes of their own, without the seconds of CPU that their imports take.

`Popen` and `run` are those of `subprocess`. A command `[sys.executable, "-m", MODULE, ...]` is forked from a process
that has imported what all of them need: large libraries, and what of Seedbed every run imports. Prefect reads the
environment when it is imported, and that must be the command's: a fork finds it as if it were imported then. The fork
is a child of this process: it has a number, gets signals, is killed and waited for like any other. Where that cannot be
had (not Linux), and for any other command, it is `subprocess` itself.
"""

from __future__ import annotations

import copy
import ctypes
import gc
import importlib
import inspect
import json
import os
import runpy
import signal
import socket
import subprocess
import sys
import threading
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import ModuleType
from typing import Any

_ROOT = Path(__file__).parents[2]
_IMPORTED = (
    "dspy",
    "sqlalchemy.dialects.sqlite",
    "sqlalchemy.ext.asyncio",
    "aiohttp",
    "matplotlib.figure",
    "matplotlib.backends.backend_svg",
    "scipy.special",
    "fastapi",
    "griffe",
    "graphviz",
    "h2.connection",
    "httpcore",
    "httpx",
    "anyio.from_thread",
    "fsspec",
    "coolname",
    "humanize",
    "prometheus_client",
    "websockets.asyncio.client",
    "pydantic_settings",
    "pendulum",
    "opentelemetry.trace",
    "prefect.main",
    "rich.console",
    "seedbed.cli.run",
    "seedbed.lm.lm",
    "seedbed.lm.providers.openai_http",
    "seedbed.local.links",
    "seedbed.local.pages",
    "seedbed.phases.aggregate",
    "seedbed.phases.run",
    "seedbed.report.cells",
)
_BECOME_PARENT_OF_ORPHANS = 36
"""PR_SET_CHILD_SUBREAPER of prctl(2)."""
_UNUSUAL = ("preexec_fn", "pass_fds", "shell", "startupinfo", "creationflags", "gid", "gids", "uid")
_READ_AT_START = ("LD_PRELOAD", "PYTHONHASHSEED")
"""Variables that are too late for a fork."""
_LONGEST = 1 << 20


class Popen(subprocess.Popen[Any]):
    """`subprocess.Popen`."""

    def _execute_child(self, *given: Any, **named: Any) -> None:
        ordinary: Any = super()._execute_child  # type: ignore[misc]
        asked = inspect.signature(ordinary).bind(*given, **named).arguments
        if not _can_be_forked(asked):
            ordinary(*given, **named)
            return
        ends = [asked[name] for name in ("p2cread", "c2pwrite", "errwrite")]
        request = {
            "words": [str(word) for word in asked["args"][2:]],
            "cwd": str(asked["cwd"] or Path.cwd()),
            "env": dict(asked["env"] if asked["env"] is not None else os.environ),
            "session": bool(asked["start_new_session"]),
        }
        self.pid = _Nursery.of_this_process().bear(request, [end if end >= 0 else n for n, end in enumerate(ends)])
        self._child_created = True
        self._close_pipe_fds(*(asked[n] for n in ("p2cread", "p2cwrite", "c2pread", "c2pwrite", "errread", "errwrite")))  # type: ignore[attr-defined]


def run(command: list[str], *, timeout: float = 600.0, check: bool = False, **options: Any) -> Any:
    """`subprocess.run`, as far as tests use it."""
    if options.pop("capture_output", False):
        options |= {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    with Popen(command, **options) as process:
        try:
            out, err = process.communicate(timeout=timeout)
        except BaseException:
            process.kill()
            raise
    done = subprocess.CompletedProcess(command, process.returncode, out, err)
    if check:
        done.check_returncode()
    return done


def _can_be_forked(asked: dict[str, Any]) -> bool:
    words = asked["args"]
    module = isinstance(words, list | tuple) and list(words[:2]) == [sys.executable, "-m"]
    environment = asked["env"] if asked["env"] is not None else os.environ
    plain = not any(asked.get(name) for name in _UNUSUAL) and not any(name in environment for name in _READ_AT_START)
    return sys.platform == "linux" and module and plain


class _Nursery:
    """The process that is forked, from here."""

    _made: _Nursery | None = None
    _lock = threading.Lock()

    def __init__(self) -> None:
        self.owner = os.getpid()
        self._channel, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tests.support.forked", str(theirs.fileno())],
            pass_fds=[theirs.fileno()],
            cwd=_ROOT,
            # Threads do not survive a fork.
            env={**os.environ, "OPENBLAS_NUM_THREADS": "1", "DO_NOT_TRACK": "1"},
            stdout=subprocess.DEVNULL,
        )
        theirs.close()

    @classmethod
    def of_this_process(cls) -> _Nursery:
        with cls._lock:
            if cls._made is None or cls._made.owner != os.getpid():
                cls._made = cls()
            return cls._made

    def bear(self, request: dict[str, Any], ends: list[int]) -> int:
        prctl = ctypes.CDLL(None).prctl
        with self._lock:
            # An orphan falls to its next ancestor that asks for orphans; this process does for a moment only.
            prctl(_BECOME_PARENT_OF_ORPHANS, 1, 0, 0, 0)
            try:
                socket.send_fds(self._channel, [json.dumps(request).encode()], ends)
                pid = int(self._channel.recv(64))
                assert self._channel.recv(64) == b"orphaned"
            finally:
                prctl(_BECOME_PARENT_OF_ORPHANS, 0, 0, 0, 0)
        return pid


class _Kept(MetaPathFinder, Loader):
    """Prefect as it was imported before the fork. Until somebody imports it, it is not there; then it reads the
    environment anew."""

    def __init__(self) -> None:
        names = [name for name in sys.modules if name.partition(".")[0] == "prefect"]
        self._modules = {name: sys.modules.pop(name) for name in names}

    def find_spec(self, name: str, *_: object) -> ModuleSpec | None:
        if name != "prefect" or not self._modules:
            return None
        self._spec = self._modules[name].__spec__
        assert self._spec is not None
        spec = copy.copy(self._spec)
        spec.loader = self
        return spec

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        return self._modules.pop(spec.name)

    def exec_module(self, module: ModuleType) -> None:
        module.__spec__ = self._spec
        sys.modules.update(self._modules)
        self._modules.clear()
        sys.modules["prefect.context"].refresh_global_settings_context()
        sys.modules["prefect.logging.configuration"].setup_logging(incremental=False)


def main() -> None:
    """In the process that is forked, until nobody asks any more."""
    channel = socket.socket(fileno=int(sys.argv[1]))
    for name in _IMPORTED:
        importlib.import_module(name)
    gc.freeze()  # or each fork's collector would walk through all of it, and copy it by that
    # Libraries do something at each fork; an interrupt would break it off, and be heard by nobody.
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    while True:
        data, ends, _, _ = socket.recv_fds(channel, _LONGEST, 3)
        if not data:
            return
        between = os.fork()
        if between == 0:
            if (pid := os.fork()) != 0:
                channel.send(str(pid).encode())
                os._exit(0)
            channel.close()
            _become(json.loads(data), ends)
            return
        os.waitpid(between, 0)
        channel.send(b"orphaned")
        for end in ends:
            os.close(end)


def _become(request: dict[str, Any], ends: list[int]) -> None:
    """Be `python -m MODULE ...`."""
    _hear()
    if request["session"]:
        os.setsid()
    for number, end in enumerate(ends):
        os.dup2(end, number)
    for end in ends:
        os.close(end)
    os.chdir(request["cwd"])
    os.environ.clear()
    os.environ.update(request["env"])
    for name in [name for name in sys.modules if name.partition(".")[0] == "tests"]:
        del sys.modules[name]
    sys.meta_path.insert(0, _Kept())
    extra = [entry for entry in request["env"].get("PYTHONPATH", "").split(os.pathsep) if entry]
    sys.path[:] = [request["cwd"], *extra, *(entry for entry in sys.path[1:] if entry not in extra)]
    module, *sys.argv[1:] = request["words"]
    runpy.run_module(module, run_name="__main__", alter_sys=True)


def _hear() -> None:
    """An interrupt that came meanwhile ends the process, as it does one in which Python has not started yet."""
    handler = signal.getsignal(signal.SIGINT)
    if handler is signal.default_int_handler:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
    signal.signal(signal.SIGINT, handler)


if __name__ == "__main__":
    main()
