"""`context.client`: OpenAI's clients without a socket."""

from __future__ import annotations

import asyncio
from typing import Any

import openai
import pytest

from seedbed.lm.current_sample import CURRENT_SAMPLE
from seedbed.lm.gateway.clients import async_client, sync_client
from tests.support import lm
from tests.unit.lm.gateway.conftest import Place

ASK: Any = [{"role": "user", "content": "Is 4 even?"}]


def test_on_the_runtimes_loop_under_the_sample_at_hand(place: Place) -> None:
    client = async_client(place.runtime, place.bind, "judge")

    async def one(sample: str) -> str | None:
        CURRENT_SAMPLE.set((sample, 0))
        stream = await client.chat.completions.create(
            model="m", messages=[{"role": "user", "content": sample}], stream=True
        )
        return "".join([chunk.choices[0].delta.content or "" async for chunk in stream])

    async def both() -> list[str | None]:
        return await asyncio.gather(asyncio.create_task(one("a")), asyncio.create_task(one("b")))

    assert all(place.runtime.run(both()))
    assert lm.sums(place.folder, "sample = 'a' AND role = 'judge'").outcomes == {"paid": 1}
    assert place.books_agree().calls == 2


def test_from_another_loop_and_from_a_thread(place: Place) -> None:
    asked = async_client(place.runtime, place.bind, "task")
    there = asyncio.run(asked.chat.completions.create(model="m", messages=ASK, temperature=0))
    here = sync_client(place.runtime, place.bind, "task").chat.completions.create(
        model="m", messages=ASK, temperature=0
    )
    assert here == there
    assert place.books_agree().outcomes == {"paid": 1, "reused": 1}


@pytest.mark.parametrize("place", [{"faults": {"rate_limit": 1.0}, "max_faults": 1}], indirect=True)
def test_the_clients_own_retries_work(place: Place) -> None:
    client = sync_client(place.runtime, place.bind, "task")
    assert client.chat.completions.create(model="m", messages=ASK).choices
    assert place.books_agree().outcomes == {"failed": 1, "paid": 1}


def test_its_answers_are_shared_with_dspy(place: Place) -> None:
    said = place.runtime.lm(lm.scope())("Is 4 even?")[0]
    answer = sync_client(place.runtime, place.bind, "task").chat.completions.create(model="m", messages=ASK)
    assert answer.choices[0].message.content == said
    assert place.books_agree().outcomes == {"paid": 1, "reused": 1}


def test_a_sync_client_on_the_loop_says_that_it_would_wait_for_itself(place: Place) -> None:
    client = sync_client(place.runtime, place.bind, "task").with_options(max_retries=0)

    async def wrong() -> None:
        client.chat.completions.create(model="m", messages=ASK)

    with pytest.raises(openai.APIConnectionError) as raised:
        place.runtime.run(wrong())
    assert "would wait for itself" in str(raised.value.__cause__)


def test_a_call_is_made_on_the_runtimes_loop_from_wherever_it_is_asked(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    loops: list[asyncio.AbstractEventLoop] = []
    attempt = place.runtime.attempt

    async def watched(query: Any) -> Any:
        loops.append(asyncio.get_running_loop())
        return await attempt(query)

    monkeypatch.setattr(place.runtime, "attempt", watched)
    elsewhere, here = (async_client(place.runtime, place.bind, "task") for _ in range(2))
    asyncio.run(elsewhere.chat.completions.create(model="m", messages=ASK, temperature=0))

    async def ask() -> None:
        await here.chat.completions.create(model="m", messages=ASK, temperature=0)

    place.runtime.run(ask())
    assert loops == [place.runtime.loop] * 2


def test_who_asks_the_same_again_draws_again(place: Place) -> None:
    client = sync_client(place.runtime, place.bind, "task")
    for _ in range(2):
        client.chat.completions.create(model="m", messages=ASK)
    assert place.books_agree().outcomes == {"paid": 2}
