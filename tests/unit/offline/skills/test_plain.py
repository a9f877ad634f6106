"""Plain prompts: the question in them, what there is to read, and the wishes around both."""

from __future__ import annotations

import pytest

from seedbed.lm.types import Attempt
from seedbed.offline import OfflineModel, OfflineOptions
from seedbed.offline.skills.plain import take_apart

PASSAGE = "The tower of Corby was opened in 1934 and is 120 metres high. It was designed by Ada Quill."


def reply(*messages: tuple[str, str], ability: float = 1.0, **body: object) -> str:
    model = OfflineModel("offline/test", OfflineOptions(ability=ability))
    asked = [{"role": role, "content": text} for role, text in messages]
    return model.reply({"messages": asked, **body}, Attempt("key", None, 0, 1, 5.0, None))


@pytest.mark.parametrize(
    "prompt",
    [
        f"Context: {PASSAGE}\n\nQuestion: How high is the tower of Corby?\n\nAnswer with the shortest span.",
        f"{PASSAGE}\n\nHow high is the tower of Corby? Answer with the shortest span.",
        f"Answer with the shortest span.\n\n## Question:\nHow high is the tower of Corby?\n\nDocument: {PASSAGE}",
    ],
)
def test_it_reads_what_there_is(prompt: str) -> None:
    assert reply(("user", prompt)) == "120 metres"


def test_it_follows_wishes_wherever_they_stand() -> None:
    question = "What is the capital of France?"
    assert reply(("user", question)) == "The answer is Paris."
    assert reply(("user", f"{question} Answer with the name only.")) == "Paris"
    assert reply(("system", "Give only the answer."), ("user", question)) == "Paris"
    assert reply(("user", "What is the capital of Peru?"), ("assistant", "Lima"), ("user", question)) == "Paris"


def test_wishes_do_not_change_its_luck() -> None:
    lands = ("France", "Japan", "Kenya", "Peru", "Norway", "Egypt", "Canada", "Chile", "Greece", "Poland")
    plain = [reply(("user", f"What is the capital of {land}?"), ability=0.5) for land in lands]
    brief = [reply(("user", f"What is the capital of {land}? Name only."), ability=0.5) for land in lands]
    known = ["know" not in text for text in plain]
    assert known == ["know" not in text for text in brief]
    assert len(set(known)) == 2


def test_a_schema_is_kept_to() -> None:
    schema = {"type": "object", "properties": {"capital": {"type": "string"}}, "required": ["capital"]}
    wanted = {"type": "json_schema", "json_schema": {"name": "answer", "schema": schema}}
    said = reply(("user", "What is the capital of France? Name only."), response_format=wanted)
    assert said == '{"capital": "Paris"}'


def test_a_text_without_a_question_is_taken_as_one() -> None:
    found = take_apart("Name the capital of France.")
    assert (found.question, found.context) == ("Name the capital of France.", "")
