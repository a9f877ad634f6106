"""Plays the scripted user turns of a dialogue to an agent, in order, and writes down what happened at each."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal

from seedbed.errors import ProviderError, causes, is_stop
from seedbed.storage.redact import redact
from seedbed.suites.finance_dialog.agents.turn import Session, TurnInput, TurnOutput

TurnStatus = Literal["ok", "timeout", "error"]


async def play(
    open_session: Callable[[], Session],
    *,
    user_turns: Sequence[Mapping[str, Any]],
    session_id: str,
    user_id: str,
    timeout_s: float,
    attempts: int = 1,
) -> list[dict[str, Any]]:
    """A record a turn. A turn that fails is recorded with its status and the dialogue goes on."""
    session = open_session()
    records: list[dict[str, Any]] = []
    for scripted in user_turns:
        turn = TurnInput(str(scripted["user_text"]), session_id, user_id, int(scripted["turn_pair_id"]))
        record = await _turn(session, turn, timeout_s, attempts)
        session.ended(turn, record["pred_assistant_text"] if record["turn_status"] == "ok" else None)
        records.append(record)
    return records


async def _turn(session: Session, turn: TurnInput, timeout_s: float, attempts: int) -> dict[str, Any]:
    started = time.perf_counter()
    status, error, output = "error", None, None
    tried = 0
    while output is None and tried < attempts:
        tried += 1
        try:
            async with asyncio.timeout(timeout_s):
                output = await session.respond(turn)
            status, error = "ok", None
        except Exception as failure:
            if is_stop(failure):
                raise  # the sweep stops here; that is no fault of the turn
            status, error = describe(failure)
    return _record(turn, output, status, error, 1000 * (time.perf_counter() - started), tried)


def describe(failure: BaseException) -> tuple[TurnStatus, str]:
    """The status of a failed turn and why, without secrets."""
    for cause in causes(failure):
        if isinstance(cause, TimeoutError):
            return "timeout", "turn_timeout"
        if isinstance(cause, ProviderError):
            text = f"{cause.kind}: {redact(cause.message)}"
            return "timeout" if cause.kind == "timeout" else "error", text[:500]
    return "error", f"{type(failure).__name__}: {redact(str(failure))}"[:500]


def dialog_status(turns: Sequence[Mapping[str, Any]]) -> str:
    """ok if every turn is, failed if none is, partial between."""
    good = sum(turn["turn_status"] == "ok" for turn in turns)
    return "ok" if good == len(turns) else "partial" if good else "failed"


def _record(
    turn: TurnInput, output: TurnOutput | None, status: str, error: str | None, latency_ms: float, tried: int
) -> dict[str, Any]:
    return {
        "turn_pair_id": turn.turn_pair_id,
        "user_text": turn.user_text,
        "pred_assistant_text": output.reply if output else "",
        "latency_ms": round(latency_ms, 3),
        "turn_status": status,
        "error": error,
        "recall": output.recall.to_json(turn.session_id) if output else None,
        "tools": [dict(tool) for tool in output.tools] if output else [],
        "profile_snapshot": dict(output.profile_snapshot) if output and output.profile_snapshot is not None else None,
        "attempts": tried,
        "usage": {"lm_calls": output.calls if output else None},
    }
