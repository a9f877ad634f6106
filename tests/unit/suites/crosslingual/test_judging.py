"""The judge's replies: what is taken, what is sent back, what is given up."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

import dspy
import pytest

from seedbed.suites.crosslingual.judge import Judgement, Unjudged, judge
from tests.support.rag import AsyncScripted, Scripted

GOOD = "[[ ## explanation ## ]]\nsame\n\n[[ ## score ## ]]\n0.9\n\n[[ ## completed ## ]]"


def ask(replies: Sequence[str]) -> tuple[Judgement, list[str]]:
    left = list(replies)
    engine = Scripted(lambda _: left.pop(0))
    lm = dspy.LM("test/scripted", engine=engine, async_engine=AsyncScripted(engine), cache=False, num_retries=0)
    return asyncio.run(judge(lm, "世贸双塔建造用时多长", ["11.0 年份"], "大约11年左右", "zh")), engine.prompts


def test_a_good_reply_is_one_call() -> None:
    found, prompts = ask([GOOD])
    assert (found.score, found.explanation) == (0.9, "same")
    assert len(prompts) == 1
    assert all(part in prompts[0] for part in ("11.0 年份", "大约11年左右", "世贸双塔建造用时多长"))


@pytest.mark.parametrize(
    "bad", ["no idea", GOOD.replace("0.9", "7"), GOOD.replace("0.9", "nan"), GOOD.replace("0.9", "very")]
)
def test_a_reply_that_cannot_be_used_is_asked_for_once_more_with_the_reason(bad: str) -> None:
    found, prompts = ask([bad, GOOD])
    assert found.score == 0.9
    assert "Reply again" in prompts[1]


def test_two_bad_replies_are_given_up_and_never_a_score() -> None:
    with pytest.raises(Unjudged, match="nor its repair"):
        ask(["no idea", GOOD.replace("0.9", "-1")])


def test_the_words_of_a_failed_provider_are_kept() -> None:
    with pytest.raises(Unjudged, match="pop from empty list"):
        ask([])
