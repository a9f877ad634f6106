"""The offline translator and judge, and what is said of a translation's fidelity."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any

import pytest

from seedbed.lm.types import Attempt
from seedbed.offline import OfflineOptions, OfflineProvider
from seedbed.suites.crosslingual.documents import Document
from seedbed.suites.crosslingual.evidence import Block, ordered, shown, translated, untranslated
from seedbed.suites.crosslingual.fidelity import aligned_share, slot_consistency
from seedbed.suites.crosslingual.judge import JudgeAnswer
from seedbed.suites.crosslingual.retrieval import Candidate
from seedbed.suites.crosslingual.translation import Translate

FUJI = "Der Fuji ist 3776 Meter hoch. Der Fuji liegt auf der Insel Honshu."


def reply(signature: Any, inputs: Mapping[str, Any]) -> Any:
    """What the offline model answers to a prompt as DSPy writes it."""
    import dspy

    adapter = dspy.ChatAdapter()
    body = {"model": "offline/test", "messages": adapter.format(signature, [], dict(inputs)), "temperature": 0.0}
    provider = OfflineProvider("offline/test", OfflineOptions(ability=1.0, noise=0.0))
    completion = asyncio.run(provider.chat(body, Attempt("key", None, 0, 1, 5.0)))
    return adapter.parse(signature, completion["choices"][0]["message"]["content"])


@pytest.mark.parametrize(
    ("text", "source", "target", "expected"),
    [
        (
            f"Fuji\n{FUJI}",
            "German",
            "English",
            "Mount Fuji\nMount Fuji is 3776 metres high. Mount Fuji stands on the island of Honshu.",
        ),
        (FUJI, "German", "Chinese", "富士山高3776米。富士山位于本州岛。"),
        ("富士山", "Chinese", "German", "Fuji"),
    ],
)
def test_the_offline_model_translates_what_the_sample_data_know(
    text: str, source: str, target: str, expected: str
) -> None:
    found = reply(Translate, {"text": text, "source_language": source, "target_language": target})
    assert found["translation"] == expected


def test_the_offline_model_leaves_standing_what_it_does_not_know_but_for_names() -> None:
    text = "Quokkas leben nicht am Fuji."
    found = reply(Translate, {"text": text, "source_language": "German", "target_language": "English"})
    assert found["translation"] == "Quokkas leben nicht am Mount Fuji."


@pytest.mark.parametrize(
    ("gold", "pred", "low", "high"),
    [
        (["3776米"], "3776 metres", 0.9, 1.0),
        (["富士山"], "Mount Fuji", 0.9, 1.0),
        (["11.0 年份"], "大约11年左右", 0.8, 1.0),
        (["Khartoum", "Khartum"], "Khartum", 1.0, 1.0),
        (["1707"], "1708", 0.0, 0.0),
        (["地中海"], "我不知道。", 0.0, 0.2),
        (["Honshu"], "", 0.0, 0.0),
    ],
)
def test_the_offline_judge_knows_the_same_answer_in_another_language(
    gold: list[str], pred: str, low: float, high: float
) -> None:
    inputs = {"question": "?", "gold_answers": gold, "predicted_answer": pred, "answer_language": "Chinese"}
    found = reply(JudgeAnswer, inputs)
    assert low <= found["score"] <= high, found


def test_sentences_in_order_and_of_like_length_are_aligned() -> None:
    assert aligned_share(["Eins zwei drei.", "Vier fünf."], ["One two three.", "Four five."]) == 1.0
    assert aligned_share(["Eins zwei drei.", "Vier fünf sechs."], ["One two three."]) == 0.5
    assert (
        aligned_share(["Eins zwei drei.", "Vier fünf sechs."], ["One two three four five six seven eight.", "4"]) < 1.0
    )
    assert aligned_share([], []) == 1.0


@pytest.mark.parametrize(
    ("source", "translation", "expected"),
    [
        ("Es wurde 1889 für 6.500 Mark gebaut.", "It was built in 1889 for 6,500 marks.", 1.0),
        ("Es wurde 1889 für 6.500 Mark gebaut.", "It was built in 1888 for 6,500 marks.", 0.5),
        ("وصل عام ١٩٣٤", "He came in 1934", 1.0),
        ("NFL 的 CEO 来了", "The CEO of the NFL came", 1.0),
        ("NFL 的 CEO 来了", "The boss of the league came", 0.0),
        ("Ohne alles", "Without anything", 1.0),
    ],
)
def test_numbers_and_fixed_names_must_come_through(source: str, translation: str, expected: float) -> None:
    assert slot_consistency(source, translation) == expected


def test_evidence_is_ordered_by_score_alignment_and_slots() -> None:
    near = Candidate(Document("near", "de", "", "Es sind 5 Meter."), 2.0, 1.0)
    far = Candidate(Document("far", "de", "", "Es sind 5 Meter."), 1.9, 0.95)
    lost = translated(near, "There are some metres.", "en")
    kept = translated(far, "There are 5 metres.", "en")
    assert (lost.weight, kept.weight) == (pytest.approx(0.6 + 0.2), pytest.approx(0.57 + 0.4))
    assert ordered([lost, kept]) == [kept, lost]


def test_equal_weights_stay_in_the_order_of_retrieval() -> None:
    blocks = [untranslated(Candidate(Document(str(i), "de", "", "x"), 1.0)) for i in range(3)]
    assert ordered(blocks) == blocks


def test_no_evidence_says_so_in_the_prompt() -> None:
    assert shown([]) == "no external documents"
    block = Block(Candidate(Document("a", "de", "Fuji", FUJI), 1.0), f"Fuji\n{FUJI}")
    assert shown([block]) == f"[1] Fuji\n{FUJI}"
