"""A process that answers samples for the one that runs a sweep: `python -m seedbed.phases.helper`, by its parent only.

Requests come on standard input and replies go to standard output, each a length and JSON. The process ends with its
input, so also where its parent was killed; what it had in flight is then lost, as it is of any killed process.
"""

from __future__ import annotations

import asyncio
import json
import logging
import os
import queue
import signal
import struct
import sys
import threading
from collections.abc import Iterator, Mapping
from concurrent.futures import Future, wait
from dataclasses import asdict, dataclass, field
from functools import partial
from typing import IO, Any

from seedbed import errors
from seedbed.errors import SeedbedError, SweepStopped
from seedbed.lm.runtime import LMRuntime, close_runtimes
from seedbed.phases.answer import opened_system
from seedbed.phases.context import CellContext, open_run
from seedbed.phases.predict import predict
from seedbed.storage.redact import redact
from seedbed.suite import Case

LENGTH = struct.Struct("!I")
"""What stands before every request and reply."""

Message = dict[str, Any]


def packed(message: Mapping[str, Any]) -> bytes:
    """As it goes through a pipe. What a file of answers could not hold is refused here too."""
    body = json.dumps(message, allow_nan=False).encode()
    return LENGTH.pack(len(body)) + body


def stop_of(told: Mapping[str, str]) -> SeedbedError:
    """The reason of a stop that another process told of."""
    kind = getattr(errors, told["kind"], SweepStopped)
    return kind(told["message"])


def told_stop(reason: BaseException) -> dict[str, str]:
    return {"kind": type(reason).__name__, "message": str(reason)}


@dataclass
class _Job:
    """A cell whose samples are answered here, until its parent closes it."""

    number: int
    context: CellContext
    cases: Mapping[str, Case]
    asked: asyncio.Queue[Message | None] = field(default_factory=asyncio.Queue)

    def put(self, request: Message | None) -> None:
        """A portion of samples, or None: no more come."""
        self.context.runtime.loop.call_soon_threadsafe(self.asked.put_nowait, request)


class _Helper:
    def __init__(self, replies: IO[bytes]) -> None:
        self._replies = replies
        self._writing = threading.Lock()
        self._jobs: dict[int, _Job] = {}
        self._alive: dict[int, Future[None]] = {}
        self._processes = 1
        self._known = False

    def serve(self, requests: Iterator[Message]) -> None:
        for request in requests:
            match request["do"]:
                case "begin":
                    sys.path[:] = request["path"]
                    self._processes, self._known = request["processes"], request["known"]
                    self._reply(request, {"done": True})
                case "open":
                    self._open(request)
                case "ask" | "close" if (job := self._jobs.get(request["job"])) is not None:
                    job.put(request if request["do"] == "ask" else None)
                case "stop":
                    self._stop(request)
                case "end":
                    self._end()
                    return
                case _:
                    pass

    def _end(self) -> None:
        alive = [*self._alive.values()]  # a job that ends takes itself out
        for job in list(self._jobs.values()):
            job.put(None)
        # A job asks for its runtime when it ends, which it could not have while runtimes are closed.
        wait(alive)
        close_runtimes()

    def _open(self, request: Message) -> None:
        try:
            run = open_run(request["folder"])
            runtime = self._runtime(run.runtime)
            cell = run.plan.cell(request["cell"])
            context = CellContext(run, cell, "generate", execution=request["execution"], asked=request["asked"])
            cases = {case.sample_id: case for case in context.benchmark.test}
            job = self._jobs[request["job"]] = _Job(request["job"], context, cases)
            self._alive[job.number] = asyncio.run_coroutine_threadsafe(self._live(job, request), runtime.loop)
        except Exception as error:
            self._reply(request, {"failed": _sentence(error)})

    def _runtime(self, make: Any) -> LMRuntime:
        logging.disable(logging.WARNING)  # the parent has said what there is to say of models and ledger
        try:
            runtime: LMRuntime = make()
        finally:
            logging.disable(logging.NOTSET)
        runtime.help(self._processes, known=self._known)
        return runtime

    async def _live(self, job: _Job, opening: Message) -> None:
        tasks: set[asyncio.Task[None]] = set()
        try:
            async with opened_system(job.context) as system:
                self._reply(opening, {"done": True})
                while (request := await job.asked.get()) is not None:
                    own = [job.cases[sample] for sample in request["samples"]]
                    work = job.context.each_telling(own, partial(predict, system), lambda: None)
                    task = asyncio.create_task(self._answer(job, request, work))
                    tasks.add(task)
                    task.add_done_callback(tasks.discard)
                for task in tasks:
                    task.cancel()
                await asyncio.gather(*tasks, return_exceptions=True)
        except Exception as error:
            self._reply(opening, {"failed": _sentence(error)})
        finally:
            self._jobs.pop(job.number)
            self._alive.pop(job.number, None)
            job.context.close()

    async def _answer(self, job: _Job, request: Message, work: Any) -> None:
        try:
            rows = [asdict(prediction) for prediction in await work]
            self._reply(request, {"done": rows})
        except SweepStopped as reason:
            everything = job.context.runtime.stop_reason is not None
            self._reply(request, {"stopped": {**told_stop(reason), "everything": everything}})
        except Exception as error:
            self._reply(request, {"failed": _sentence(error)})

    def _stop(self, request: Message) -> None:
        for job in list(self._jobs.values()):
            if request["cell"] is None:
                job.context.runtime.stop(stop_of(request))
            elif request["cell"] == job.context.cell.id:
                job.context.runtime.stop_cell(request["cell"], stop_of(request))

    def _reply(self, request: Message, reply: Message) -> None:
        data = packed({"id": request["id"], **reply})
        with self._writing:
            self._replies.write(data)
            self._replies.flush()


def _sentence(error: BaseException) -> str:
    return redact(f"{type(error).__name__}: {error}")


def _received(source: IO[bytes]) -> Iterator[Message]:
    """Requests as they come. They are read in a thread, so that the end of the input is seen whatever is at work."""
    came: queue.SimpleQueue[Message] = queue.SimpleQueue()

    def read() -> None:
        while len(head := source.read(LENGTH.size)) == LENGTH.size:
            body = source.read(*LENGTH.unpack(head))
            if len(body) < LENGTH.unpack(head)[0]:
                break
            came.put(request := json.loads(body))
            if request["do"] == "end":
                return
        os._exit(1)  # the parent is gone

    threading.Thread(target=read, name="seedbed-requests", daemon=True).start()
    while True:
        yield came.get()


def main() -> None:
    # Systems may print: what goes to standard output must not get between the replies.
    with os.fdopen(os.dup(1), "wb") as replies:
        os.dup2(2, 1)
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            # The parent decides, and tells. To ignore a signal would be inherited by programs started from here.
            signal.signal(number, lambda *_: None)
        _Helper(replies).serve(_received(sys.stdin.buffer))


if __name__ == "__main__":
    main()
