from __future__ import annotations

from pathlib import Path

import pytest

from seedbed.cli.main import main
from seedbed.lm.attempts import Binding
from seedbed.lm.gateway.clients import sync_client
from tests.support import lm
from tests.support.loopback import Loopback


def test_the_first_request_that_differs_is_shown_as_a_diff(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with Loopback() as server, lm.runtime(tmp_path, server) as runtime:

        def run(execution: str, *prompts: str) -> None:
            from seedbed.lm.current_sample import CURRENT_SAMPLE

            def bind(role: str) -> Binding:
                return Binding(lm.scope(role=role, execution=execution), lm.model(server))

            client = sync_client(runtime, bind, "task")
            token = CURRENT_SAMPLE.set(("q1", 0))
            for prompt in prompts:
                client.chat.completions.create(model="m", messages=[{"role": "user", "content": prompt}])
            CURRENT_SAMPLE.reset(token)

        def why() -> tuple[int, str]:
            code = main(["ledger", "why", "q1", *lm.located(tmp_path)])
            told = capsys.readouterr()
            return code, told.out + told.err

        assert main(["ledger", "why", *lm.located(tmp_path)]) == 2
        run("e1", "first", "it is 12:30")
        code, told = why()
        assert code == 2
        assert "1 of its runs are on record" in told
        run("e2", "first", "it is 12:30")
        assert "asked nothing that the run before it had not asked" in why()[1]
        run("e3", "first", "it is 12:31", "and on")
        code, told = why()
        assert code == 0
        assert "q1: request 2 of generate in cell c is another" in told
        assert '-   "content": "it is 12:30"' in told
        assert '+   "content": "it is 12:31"' in told
        assert "first" not in told
