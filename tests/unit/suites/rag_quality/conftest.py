"""An offline judge on a real ledger."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from seedbed.lm.session import Session, model_of, open_session
from seedbed.suites.rag_quality import EvalCase, EvalResult
from seedbed.suites.rag_quality.evaluate import evaluate
from seedbed.suites.rag_quality.judge import Judge


@pytest.fixture
def session(tmp_path: Path) -> Iterator[Session]:
    with open_session("score", "test", model_of("offline/judge"), tmp_path / "ledger.sqlite") as opened:
        yield opened


@pytest.fixture
def assess(session: Session) -> Callable[..., dict[str, EvalResult]]:
    """Evaluate one case with the offline judge; calls go to the ledger under `key`."""

    def run(key: str = "case", **fields: Any) -> dict[str, EvalResult]:
        judge = Judge(session.lm("judge"))
        return session.run(session.each({key: EvalCase(**fields)}, lambda case: evaluate(case, judge)))[0]

    return run
