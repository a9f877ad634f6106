"""Programs that are kept running: a case is a line of JSON, its answer another."""

from __future__ import annotations

import asyncio
import json
import os
import tempfile
from asyncio.subprocess import PIPE
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import IO, Any

from seedbed.suite import PhaseContext
from seedbed.suites.custom.command_options import CommandOptions
from seedbed.suites.custom.commands import (
    MOST_LOGGED,
    Child,
    ProgramFailed,
    answer_of,
    failed,
    for_sample,
    start,
    unless_killed,
    write_log,
)


@dataclass
class Kept:
    """One such program, and what it wrote on stderr so far."""

    child: Child
    errors: IO[bytes]

    read_to: int = 0

    def said(self) -> str:
        """What it wrote since it was asked last."""
        found = os.pread(self.errors.fileno(), MOST_LOGGED, self.read_to)
        self.read_to += len(found)
        return found.decode("utf-8", "replace")


@dataclass
class CommandServers:
    """As many programs as are asked at once; each answers one case at a time. One that died or took too long is
    replaced."""

    context: PhaseContext
    options: CommandOptions
    _idle: list[Kept] = field(default_factory=list[Kept])
    _turns: asyncio.Semaphore = field(init=False)

    def __post_init__(self) -> None:
        self._turns = asyncio.Semaphore(self.options.processes)

    async def __call__(self, **inputs: Any) -> Mapping[str, Any]:
        return await unless_killed(lambda: self._once(inputs))

    async def _once(self, inputs: Mapping[str, Any]) -> Mapping[str, Any]:
        async with self._turns, for_sample(self.context) as variables:
            kept = self._idle.pop() if self._idle else await self._start(variables)
            try:
                with tempfile.TemporaryDirectory(prefix="seedbed-", ignore_cleanup_errors=True) as work:
                    told = {**variables, "SEEDBED_WORKDIR": work}
                    answer = await self._ask(kept, {"inputs": inputs, "environment": told})
            except BaseException:
                kept.child.kill()
                write_log(self.context, kept.said())
                kept.errors.close()
                raise
            write_log(self.context, kept.said())
            self._idle.append(kept)
            if "error" in answer and len(answer) == 1:
                raise ProgramFailed(str(answer["error"]))
            return answer

    async def aclose(self) -> None:
        """End them all."""
        while self._idle:
            kept = self._idle.pop()
            kept.child.kill()
            await kept.child.ended()
            kept.errors.close()

    async def _start(self, variables: Mapping[str, str]) -> Kept:
        # Open as long as the program, read from the place where reading ended last.
        errors = tempfile.TemporaryFile()  # noqa: SIM115
        return Kept(await start(self.options, variables, PIPE, PIPE, errors), errors)

    async def _ask(self, kept: Kept, question: Mapping[str, Any]) -> Mapping[str, Any]:
        process = kept.child.process
        assert process.stdin is not None
        assert process.stdout is not None
        try:
            async with asyncio.timeout(self.options.timeout_s):
                process.stdin.write(json.dumps(question, ensure_ascii=False).encode() + b"\n")
                await process.stdin.drain()
                line = await process.stdout.readline()
        except TimeoutError:
            raise ProgramFailed(f"no answer within {self.options.timeout_s:g} s; the program was killed") from None
        except ConnectionError:
            raise failed(await kept.child.ended(), kept.said()) from None
        except ValueError as error:
            raise ProgramFailed(f"it cannot be asked ({type(error).__name__}: {error})") from None
        if not line.strip():
            code = await kept.child.ended()
            raise failed(code, kept.said())
        return answer_of(line.decode("utf-8", "replace").strip())
