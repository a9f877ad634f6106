"""The same sweep on a Ray cluster of this machine; run where Ray is installed (pip install 'seedbed[ray]')."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.loopback import Loopback
from tests.support.sweeps import Sweep

pytest.importorskip("prefect_ray", reason="Ray is not installed (pip install 'seedbed[ray]')")


@pytest.mark.usefixtures("seedbed_home")
def test_ray_gives_the_figures_of_threads_and_pays_as_much(tmp_path: Path, calm: Sweep) -> None:
    with Loopback() as server:
        spread = Sweep(tmp_path, server)
        code, _, err = spread.run("--set", "runner.kind=ray")
        assert code == 0, err
        assert spread.usage() == calm.usage()
        assert server.books.requests == calm.server.books.requests
