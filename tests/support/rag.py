"""What the tests of rag_quality share: counts from the ledger, and judges that misbehave at the network's edge."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable
from typing import Any

import dspy
from dspy.lm15 import Message, Response, TextPart, Usage
from sqlalchemy import select

from seedbed.lm.ledger.schema import attempts
from seedbed.lm.session import Session
from seedbed.suites.rag_quality import EvalCase, EvalResult
from seedbed.suites.rag_quality.evaluate import evaluate
from seedbed.suites.rag_quality.judge import Judge


def calls_by_sample(session: Session) -> Counter[str]:
    """Rows of the ledger that were answered, by sample."""
    with session.runtime.ledger.engine.connect() as connection:
        rows = connection.execute(select(attempts.c.sample).where(attempts.c.outcome.in_(("paid", "reused"))))
        return Counter(row.sample for row in rows)


class Scripted:
    """An engine that answers as a script says: `reply` gets the text of the prompt."""

    def __init__(self, reply: Callable[[str], str]) -> None:
        self.reply = reply
        self.prompts: list[str] = []

    def complete(self, request: Any) -> Response:
        text = "\n".join("".join(part.text for part in message.parts) for message in request.messages)
        self.prompts.append(f"{request.system}\n{text}")
        reply = self.reply(self.prompts[-1])
        usage = Usage(input_tokens=10, output_tokens=5, total_tokens=15)
        return Response(
            id=None,
            model="test/scripted",
            message=Message.assistant([TextPart(reply)]),
            finish_reason="stop",
            usage=usage,
        )


class AsyncScripted:
    def __init__(self, engine: Scripted) -> None:
        self.engine = engine

    async def complete(self, request: Any) -> Response:
        return self.engine.complete(request)


def scripted_judge(reply: Callable[[str], str]) -> tuple[Judge, Scripted]:
    engine = Scripted(reply)
    lm = dspy.LM("test/scripted", engine=engine, async_engine=AsyncScripted(engine), cache=False, num_retries=0)
    return Judge(lm), engine


def assess_with(judge: Judge, **fields: Any) -> dict[str, EvalResult]:
    return asyncio.run(evaluate(EvalCase(**fields), judge))
