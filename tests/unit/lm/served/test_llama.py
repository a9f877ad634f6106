"""How llama.cpp is started; the library itself is a stand-in that keeps what it is told, for tests without weights."""

from __future__ import annotations

import sys
from types import SimpleNamespace
from typing import Any

import pytest

from seedbed.lm.served import llama


class Serving(Exception):
    """Where the real one would go on for ever."""


def _started(monkeypatch: pytest.MonkeyPatch, *words: str) -> Any:
    told = SimpleNamespace(model=SimpleNamespace(), cpuparams=SimpleNamespace(), cpuparams_batch=SimpleNamespace())

    def serve(_: Any) -> None:
        raise Serving

    monkeypatch.setitem(sys.modules, "xllamacpp", SimpleNamespace(CommonParams=lambda: told, Server=serve))  # type: ignore[arg-type]
    with pytest.raises(Serving):
        llama.main(list(words))
    return told


def test_each_slot_has_the_whole_context_and_nobody_but_this_machine_is_served(monkeypatch: pytest.MonkeyPatch) -> None:
    told = _started(monkeypatch, "model.gguf", "8123")
    assert (told.model.path, told.port, told.hostnames) == ("model.gguf", 8123, ["127.0.0.1"])
    assert (told.n_parallel, told.n_ctx) == (2, 2 * 4096)
    assert told.cache_prompt is False, "a seeded answer must not depend on what was asked before"
    assert told.endpoint_metrics is True


def test_options_of_the_model_reach_it(monkeypatch: pytest.MonkeyPatch) -> None:
    told = _started(monkeypatch, "model.gguf", "8123", "slots=3", "context=512", "threads=1")
    assert (told.n_parallel, told.n_ctx) == (3, 3 * 512)
    assert told.cpuparams.n_threads == told.cpuparams_batch.n_threads == 1
