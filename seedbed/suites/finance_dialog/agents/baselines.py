"""Agents whose whole memory is the dialogue itself, or a part of it, or nothing."""

from __future__ import annotations

from seedbed.suite import PhaseContext
from seedbed.suites.finance_dialog.agents.base import DialogueAgent
from seedbed.suites.finance_dialog.agents.turn import Recall, TurnInput, TurnOutput, Window
from seedbed.suites.finance_dialog.options import AgentOptions, LlmOnlyOptions, WindowOptions


class WindowOnly(DialogueAgent):
    """Sees the last few pairs."""

    def __init__(self, context: PhaseContext, options: WindowOptions) -> None:
        super().__init__(context, options)
        self._pairs = options.window

    def open_session(self) -> TranscriptSession:
        return TranscriptSession(self, self._pairs)


class FullContext(DialogueAgent):
    """Sees the whole dialogue: an upper bound for what a memory can bring back."""

    def open_session(self) -> TranscriptSession:
        return TranscriptSession(self, None)


class LlmOnly(DialogueAgent):
    """Sees the message alone."""

    def __init__(self, context: PhaseContext, options: LlmOnlyOptions | AgentOptions) -> None:
        super().__init__(context, options)
        self.ignore_memory_keys = getattr(options, "ignore_memory_keys", False)

    def open_session(self) -> TranscriptSession:
        return TranscriptSession(self, 0)


class TranscriptSession:
    """`pairs` of the dialogue before the model: None is all of it, 0 nothing."""

    def __init__(self, agent: DialogueAgent, pairs: int | None) -> None:
        self._agent = agent
        self._window = Window(pairs)
        self._blind = pairs == 0

    async def respond(self, turn: TurnInput) -> TurnOutput:
        recall = Recall(query=turn.user_text, short_term=() if self._blind else self._window.turns())
        reply, tools = await self._agent.reply(turn, recall)
        return TurnOutput(reply, recall, tools)

    def ended(self, turn: TurnInput, reply: str | None) -> None:
        self._window.add(turn.user_text, reply)
