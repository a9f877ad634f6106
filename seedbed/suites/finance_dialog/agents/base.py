"""What all agents share: playing a dialogue, asking the model for a reply, closing it as the options say."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import dspy

from seedbed.suite import TIMES, PhaseContext
from seedbed.suites.finance_dialog.agents.play import dialog_status, play
from seedbed.suites.finance_dialog.agents.prompts import NEVER, Advise
from seedbed.suites.finance_dialog.agents.safety import guarded, with_disclosures
from seedbed.suites.finance_dialog.agents.turn import Recall, Session, TurnInput
from seedbed.suites.finance_dialog.options import AgentOptions
from seedbed.suites.finance_dialog.traces import read_traces
from seedbed.suites.kit.program import Program

M1_IGNORED = "ignored_memory_required_keys"


class DialogueAgent(Program):
    """A system of this suite. Its answer to a case is what happened at every turn; gold is added by the evaluator."""

    ignore_memory_keys = False

    def __init__(self, context: PhaseContext, options: AgentOptions) -> None:
        super().__init__()
        instructions = str(Advise.instructions)  # type: ignore[attr-defined]
        signature: Any = Advise
        if options.compliance_guard:
            signature = signature.with_instructions(f"{instructions}\n{NEVER}")
        self.advise = dspy.Predict(signature)
        self.options = options
        self._earlier = _finished(options.resume_from)

    @abstractmethod
    def open_session(self) -> Session:
        """A fresh memory for one dialogue."""

    async def aforward(self, **inputs: Any) -> dspy.Prediction:
        """`dialog_id`, `session_id`, `user_id` and `user_turns` [{turn_pair_id, user_text}], as in every case."""
        dialog_id, session_id, user_id = (str(inputs[name]) for name in ("dialog_id", "session_id", "user_id"))
        user_turns: Sequence[Mapping[str, Any]] = inputs["user_turns"]
        earlier = self._earlier.get(dialog_id)
        turns = earlier["turns"] if earlier else await play(
            self.open_session,
            user_turns=user_turns,
            session_id=session_id,
            user_id=user_id,
            timeout_s=self.options.turn_timeout_s,
            attempts=self.options.turn_attempts,
        )  # fmt: skip
        times = {} if earlier else {TIMES: {"latency_ms": [turn.pop("latency_ms") for turn in turns]}}
        return dspy.Prediction(
            dialog_id=dialog_id,
            session_id=session_id,
            user_id=user_id,
            dialog_status=dialog_status(turns),
            m1_handling=M1_IGNORED if self.ignore_memory_keys else None,
            turns=turns,
            **times,
        )

    async def reply(self, turn: TurnInput, recall: Recall) -> tuple[str, list[dict[str, Any]]]:
        """The model's reply after guard and template, and the record of what they did."""
        answer: Any = await self.advise.acall(
            user_profile=recall.profile_context,
            memories=recall.memories,
            recent_dialogue=recall.short_term_context,
            user_message=turn.user_text,
        )
        text, tools = str(answer.reply), list[dict[str, Any]]()
        if self.options.compliance_guard:
            text, struck = guarded(text)
            tools += struck
        if self.options.risk_template:
            text, added = with_disclosures(turn.user_text, text)
            tools += added
        return text, tools


_OWN_FIELDS = (
    "turn_pair_id",
    "user_text",
    "pred_assistant_text",
    "latency_ms",
    "turn_status",
    "error",
    "recall",
    "tools",
    "profile_snapshot",
    "attempts",
    "usage",
)


def own_turn(turn: Mapping[str, Any]) -> dict[str, Any]:
    """The part of a turn's record that a system makes; gold and the evaluator's findings are left behind."""
    return {name: turn.get(name) for name in _OWN_FIELDS}


def _finished(path: Path | None) -> dict[str, dict[str, Any]]:
    """Dialogues of an earlier run that need not be played again."""
    if path is None:
        return {}
    return {
        str(trace["dialog_id"]): {"turns": [own_turn(turn) for turn in trace["turns"]]}
        for trace in read_traces(path)
        if trace.get("dialog_status") == "ok"
    }
