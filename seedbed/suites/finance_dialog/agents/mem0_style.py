"""An agent in the manner of mem0: facts are extracted, added, updated or deleted in its memory, and searched."""

from __future__ import annotations

from typing import Any

import dspy

from seedbed.suite import PhaseContext
from seedbed.suites.finance_dialog.agents.base import DialogueAgent
from seedbed.suites.finance_dialog.agents.prompts import ExtractFacts, MemoryOperation, UpdateMemory
from seedbed.suites.finance_dialog.agents.store import MemoryStore
from seedbed.suites.finance_dialog.agents.turn import Recall, TurnInput, TurnOutput
from seedbed.suites.finance_dialog.options import Mem0Options


class Mem0Style(DialogueAgent):
    """Keeps facts, not turns, and no profile: M2 has to be read from its replies."""

    def __init__(self, context: PhaseContext, options: Mem0Options) -> None:
        super().__init__(context, options)
        self.extract = dspy.Predict(ExtractFacts)
        self.update = dspy.Predict(UpdateMemory)
        self.top_k = options.top_k

    def open_session(self) -> Mem0Session:
        return Mem0Session(self)


class Mem0Session:
    def __init__(self, agent: Mem0Style) -> None:
        self._agent = agent
        self.store = MemoryStore()

    async def respond(self, turn: TurnInput) -> TurnOutput:
        changed = await self._remember(turn)
        recall = Recall(query=turn.user_text, items=self.store.search(turn.user_text, self._agent.top_k, pad=True))
        reply, tools = await self._agent.reply(turn, recall)
        return TurnOutput(reply, recall, tools, {}, calls=3 if changed else 2)

    def ended(self, turn: TurnInput, reply: str | None) -> None:
        """Nothing: what was worth keeping was kept before the reply."""

    async def _remember(self, turn: TurnInput) -> bool:
        """Whether there was anything to remember, which takes a second call."""
        found: Any = await self._agent.extract.acall(user_message=turn.user_text)
        facts = [str(fact).strip() for fact in found.facts if str(fact).strip()]
        if not facts:
            return False
        memories = "\n".join(f"{item_id} | {text}" for item_id, text in self.store.all().items())
        decided: Any = await self._agent.update.acall(memories=memories, new_facts="\n".join(facts))
        for operation in decided.operations:
            self.apply(operation, turn.turn_pair_id)
        return True

    def apply(self, operation: MemoryOperation, turn_index: int) -> None:
        """An update of a memory that does not exist is an addition: models mistake ids."""
        if operation.event == "DELETE":
            self.store.delete(operation.id)
        elif operation.text and (
            operation.event == "ADD"
            or (operation.event == "UPDATE" and not self.store.update(operation.id, operation.text, turn_index))
        ):
            self.store.add(operation.text, turn_index)
