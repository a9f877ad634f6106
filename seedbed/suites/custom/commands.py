"""Systems that are programs: a case in, an answer out, the calls between them through the gateway."""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import json
import os
import signal
import sys
import tempfile
from asyncio.subprocess import Process
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any, TypeVar

from seedbed.errors import SeedbedError
from seedbed.lm.current_sample import CURRENT_SAMPLE
from seedbed.storage.paths import safe_name
from seedbed.storage.redact import masked_end
from seedbed.storage.store import write_text
from seedbed.suite import PhaseContext
from seedbed.suites.custom.command_options import CommandOptions

T = TypeVar("T")

_LEASH = Path(__file__).with_name("leash.py")
_MOST_SAID = 8_000_000
MOST_LOGGED = 1_000_000
_MARGIN = 10_000
"""Read beyond that, so that a secret is seen whole where the rest is cut off."""
_LAST_LINES, _LAST_CHARACTERS = 5, 500
_SIGNALS = 128
_RESTARTS = 3
_OWN_HOSTS = "127.0.0.1,localhost"


class ProgramFailed(SeedbedError):
    """A program that gave no answer."""


class ProgramKilled(ProgramFailed):
    """A program that somebody else ended: the system that ran out of memory, or a person."""


async def unless_killed(work: Callable[[], Awaitable[T]]) -> T:
    """Done again, some times, where the program was killed: that says nothing of its answer, and the calls that it made
    before are on record."""
    for _ in range(_RESTARTS):
        with contextlib.suppress(ProgramKilled):
            return await work()
    return await work()


def failed(code: int, said: str) -> ProgramFailed:
    """What an exit code means; those of a signal are below 0, or above 128 as the leash passes them on."""
    if code < 0 or code > _SIGNALS:
        return ProgramKilled(f"killed by signal {-code if code < 0 else code - _SIGNALS}{last_lines(said)}")
    return ProgramFailed(f"exit code {code}{last_lines(said)}")


@dataclass
class Child:
    """A program under way, and the pipe whose end ends it."""

    process: Process
    held: int

    def kill(self) -> None:
        """End it, with all that it started and that did not leave its group."""
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self.process.pid, signal.SIGKILL)

    async def ended(self) -> int:
        try:
            return await self.process.wait()
        finally:
            self.kill()  # children that it left behind
            with contextlib.suppress(OSError):
                os.close(self.held)


@dataclass
class Command:
    """Starts the program for every case."""

    context: PhaseContext
    options: CommandOptions
    _turns: asyncio.Semaphore = field(init=False)

    def __post_init__(self) -> None:
        self._turns = asyncio.Semaphore(self.options.processes)

    async def __call__(self, **inputs: Any) -> Mapping[str, Any]:
        return await unless_killed(lambda: self._once(inputs))

    async def _once(self, inputs: Mapping[str, Any]) -> Mapping[str, Any]:
        async with self._turns, for_sample(self.context) as variables:
            with tempfile.TemporaryDirectory(prefix="seedbed-", ignore_cleanup_errors=True) as place:
                return await self._run(Path(place), inputs, variables)

    async def _run(self, place: Path, inputs: Mapping[str, Any], variables: dict[str, str]) -> Mapping[str, Any]:
        work = place / "work"
        work.mkdir()
        (place / "in").write_text(json.dumps(inputs, ensure_ascii=False), encoding="utf-8")
        with (place / "in").open("rb") as given, (place / "out").open("wb") as out, (place / "err").open("wb") as err:
            try:
                child = await start(self.options, {**variables, "SEEDBED_WORKDIR": str(work)}, given, out, err)
                code = await within(self.options.timeout_s, child)
            finally:
                said = tail(place / "err")
                write_log(self.context, said)
        if code != 0:
            raise failed(code, said)
        return read_answer(place / "out", said)


async def start(
    options: CommandOptions,
    variables: Mapping[str, str],
    stdin: IO[bytes] | int,
    stdout: IO[bytes] | int,
    err: IO[bytes],
) -> Child:
    """The program on its leash, in the config's folder."""
    read, held = os.pipe()
    try:
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-I", "-S", str(_LEASH), str(read), *options.words),
            stdin=stdin,
            stdout=stdout,
            stderr=err,
            cwd=options.folder,
            env={**os.environ, **variables},
            pass_fds=(read,),
            start_new_session=True,
            limit=_MOST_SAID,
        )
    except BaseException:
        os.close(held)
        raise
    finally:
        os.close(read)
    return Child(process, held)


async def within(seconds: float, child: Child) -> int:
    """The exit code, or an error where it takes longer; whatever happens, nothing is left running."""
    try:
        async with asyncio.timeout(seconds):
            return await child.ended()
    except TimeoutError:
        raise ProgramFailed(f"no answer within {seconds:g} s; the program was killed") from None
    finally:
        child.kill()
        await child.process.wait()


@asynccontextmanager
async def for_sample(context: PhaseContext) -> AsyncIterator[dict[str, str]]:
    """The variables of a program that answers the sample at hand. Its key ends with it; calls that it left behind are
    paid for, and so waited for."""
    address = context.address()
    try:
        yield {
            **address.environment,
            "SEEDBED_SEED": str(context.seed),
            "SEEDBED_SAMPLE": CURRENT_SAMPLE.get()[0] or "",
            # A proxy cannot reach this machine.
            **{name: ",".join(filter(None, [os.environ.get(name), _OWN_HOSTS])) for name in ("NO_PROXY", "no_proxy")},
        }
        await context.release(address)
    except BaseException:
        context.revoke(address)
        raise


def read_answer(path: Path, said: str) -> Mapping[str, Any]:
    """What a program printed: an object of JSON, or a text."""
    if path.stat().st_size > _MOST_SAID:
        raise ProgramFailed(f"it printed more than {_MOST_SAID:,} bytes; the answer alone belongs on stdout")
    text = path.read_text(encoding="utf-8", errors="replace").strip()
    if not text:
        raise ProgramFailed(f"it ended without an answer on stdout{last_lines(said)}")
    return answer_of(text)


def answer_of(text: str) -> Mapping[str, Any]:
    try:
        found = json.loads(text)
    except ValueError:
        found = text
    if isinstance(found, dict):
        return found
    # A number that a program prints is a text to who compares it with the right answer.
    return {"answer": found if isinstance(found, str) else text}


def tail(path: Path) -> str:
    with path.open("rb") as file:
        file.seek(max(0, path.stat().st_size - MOST_LOGGED - _MARGIN))
        return masked_end(file.read().decode("utf-8", "replace"), MOST_LOGGED)


def last_lines(said: str) -> str:
    lines = [line for line in said.strip().splitlines() if line.strip()][-_LAST_LINES:]
    return f"; its last words: {masked_end(' | '.join(lines), _LAST_CHARACTERS)}" if lines else ""


def write_log(context: PhaseContext, said: str) -> None:
    """What a program wrote on stderr, in the cell's folder under the sample's name."""
    sample, repeat = CURRENT_SAMPLE.get()
    if not said:
        return
    name = f"{sample}-{repeat}" if repeat else str(sample)
    try:
        safe_name(name)
    except ValueError:
        name = hashlib.sha256(name.encode()).hexdigest()[:16]
    write_text(context.folder / "logs" / f"{name}.log", said)
