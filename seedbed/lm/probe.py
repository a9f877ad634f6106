"""Asking a model something small to see what works: the address, the key, the name, the form of its answers."""

from __future__ import annotations

import json
import time
import uuid
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from seedbed.errors import causes
from seedbed.lm.session import Session, open_session
from seedbed.storage.redact import redact
from seedbed.sweep.model_config import ModelConfig

if TYPE_CHECKING:
    from seedbed.lm.lm import SeedbedLM

COMMAND = "doctor"
_ROLE = "probe"
_ENOUGH_TOKENS = 200
_SCHEMA = {
    "type": "json_schema",
    "json_schema": {
        "name": "reply",
        "strict": True,
        "schema": {
            "type": "object",
            "properties": {"sum": {"type": "integer"}},
            "required": ["sum"],
            "additionalProperties": False,
        },
    },
}
JsonForm = Literal["schema", "json"]
_FORMATS: tuple[tuple[JsonForm, Any], ...] = (("schema", _SCHEMA), ("json", {"type": "json_object"}))


@dataclass(frozen=True, slots=True)
class Probe:
    """What a model did with three small requests at most."""

    error: str | None = None
    """Why it cannot be used; nothing else is known then."""
    readable: bool = False
    """Whether it kept to the form in which DSPy asks."""
    structured: JsonForm | None = None
    """The strictest form of JSON that it took and gave."""
    tokens_per_s: float | None = None
    calls: int = 0
    usd: float | None = None


def probe(model: ModelConfig, ledger: Path) -> Probe:
    """Ask a model; its calls are recorded under the command's name and the role `probe`."""
    # One try each, no cut before the end, and nothing from an earlier visit.
    plain = model.model_copy(update={"retries": 0, "max_tokens": model.max_tokens or _ENOUGH_TOKENS})
    nonce = uuid.uuid4().hex[:8]
    with open_session(COMMAND, nonce, plain, ledger) as session:
        began = time.monotonic()
        try:
            readable = session.run(_readable(session.lm(_ROLE), nonce))
        except Exception as error:
            return Probe(error=_sentence(session, error))
        speed = session.usage().tokens_out / (time.monotonic() - began)
        structured = _strictest(session, nonce)
        used = session.usage()
        return Probe(None, readable, structured, speed, used.calls, used.spent_usd)


async def _readable(lm: SeedbedLM, nonce: str) -> bool:
    import dspy

    from seedbed.lm.adapter import QuickChatAdapter

    once = QuickChatAdapter()
    once.use_json_adapter_fallback = False
    with dspy.context(lm=lm, adapter=once):
        try:
            await dspy.Predict("question -> answer").acall(question=f"What is 2 + 3? (check {nonce})")
        except dspy.AdapterParseError:
            return False
    return True


def _strictest(session: Session, nonce: str) -> JsonForm | None:
    for name, form in _FORMATS:
        if _takes(session, nonce, form):
            return name
    return None


def _takes(session: Session, nonce: str, form: Any) -> bool:
    """Whether the model takes this form of request and keeps to it."""
    asked = f'What is 2 + 3? Reply in JSON as {{"sum": NUMBER}}. (check {nonce})'
    try:
        said = session.run(session.lm(_ROLE).acall(asked, response_format=form))[0]
        return isinstance(json.loads(said)["sum"], int)
    except Exception:  # refused, cut short, or something else than JSON: it does not work
        return False


def _sentence(session: Session, error: BaseException) -> str:
    reason = session.runtime.stop_reason
    return redact(str(reason or list(causes(error))[-1]))
