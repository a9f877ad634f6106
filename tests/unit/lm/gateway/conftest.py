from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from seedbed.lm.attempts import Binding
from seedbed.lm.gateway import Gateway, Grant, gateway_of
from seedbed.lm.runtime import LMRuntime
from tests.support import lm
from tests.support.loopback import Loopback
from tests.support.tool_model import say


@dataclass
class Place:
    """A runtime with its gateway, before a model with tools."""

    folder: Path
    server: Loopback
    runtime: LMRuntime

    @property
    def gateway(self) -> Gateway:
        return gateway_of(self.runtime)

    @property
    def root(self) -> str:
        return f"http://127.0.0.1:{self.gateway.port}"

    def bind(self, role: str) -> Binding:
        return Binding(lm.scope(role=role), lm.model(self.server))

    def grant(self, sample: str = "q1") -> Grant:
        return self.gateway.grant(self.bind, "task", (sample, 0))

    def books_agree(self) -> lm.Sums:
        return lm.assert_books_agree(self.folder, self.server)


@pytest.fixture
def place(tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[Place]:
    """`@pytest.mark.parametrize("place", [{...}], indirect=True)` gives the server faults."""
    settings = getattr(request, "param", {})
    with Loopback(say=say, **settings) as server, lm.runtime(tmp_path, server) as runtime:
        yield Place(tmp_path, server, runtime)
