"""The agent with three memories, each of which can be switched off."""

from __future__ import annotations

from typing import Any

import dspy

from seedbed.suite import PhaseContext
from seedbed.suites.finance_dialog.agents.base import DialogueAgent
from seedbed.suites.finance_dialog.agents.prompts import CONSTRAINT_LABELS, PREFERENCE_LABELS, NoteProfile
from seedbed.suites.finance_dialog.agents.store import MemoryStore, ProfileSlots
from seedbed.suites.finance_dialog.agents.turn import Recall, TurnInput, TurnOutput, Window
from seedbed.suites.finance_dialog.options import MemoryOptions


class MemoryAgent(DialogueAgent):
    """Short-term window, long-term store with search, profile slots noted by the model."""

    def __init__(self, context: PhaseContext, options: MemoryOptions) -> None:
        super().__init__(context, options)
        self.note = dspy.Predict(NoteProfile)
        self.memory = options

    def open_session(self) -> MemorySession:
        return MemorySession(self)


class MemorySession:
    def __init__(self, agent: MemoryAgent) -> None:
        self._agent = agent
        self._options = agent.memory
        self._window = Window(self._options.window)
        self._store = MemoryStore()
        self._slots = ProfileSlots()

    async def respond(self, turn: TurnInput) -> TurnOutput:
        if self._options.profile:
            self._slots.note(**await self._noted(turn))
        recall = self._recall(turn)
        reply, tools = await self._agent.reply(turn, recall)
        snapshot = self._slots.snapshot() if self._options.profile else None
        return TurnOutput(reply, recall, tools, snapshot, calls=1 + self._options.profile)

    def ended(self, turn: TurnInput, reply: str | None) -> None:
        self._window.add(turn.user_text, reply)
        self._store.add(f"用户说：{turn.user_text}", turn.turn_pair_id)

    def _recall(self, turn: TurnInput) -> Recall:
        on = self._options
        # What the window shows already is not searched for.
        shown = range(turn.turn_pair_id - on.window, turn.turn_pair_id) if on.short_term else ()
        return Recall(
            query=turn.user_text,
            short_term=self._window.turns() if on.short_term else (),
            items=self._store.search(turn.user_text, on.top_k, without_turns=shown) if on.long_term else (),
            profile_context=self._slots.context() if on.profile else "",
        )

    async def _noted(self, turn: TurnInput) -> dict[str, Any]:
        noted: Any = await self._agent.note.acall(
            constraint_labels=CONSTRAINT_LABELS, preference_labels=PREFERENCE_LABELS, user_message=turn.user_text
        )
        return dict(noted.items())
