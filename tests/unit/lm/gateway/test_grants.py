"""Who may call for whom, and which of several equal requests a call is."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import Any

from seedbed.lm.attempts import Binding
from seedbed.lm.gateway.grants import Grants, Turns
from seedbed.sweep.model_config import ModelConfig
from tests.support import lm

MODEL = ModelConfig.model_validate({"model": "openai/loop", "api_base": "http://127.0.0.1:9/v1"})


def bind(execution: str) -> Any:
    return lambda role: Binding(lm.scope(execution=execution, role=role), MODEL)


class Client:
    """May hang up."""

    def __init__(self) -> None:
        self.hung_up = False

    def __call__(self) -> bool:
        return self.hung_up


def taken(turns: Turns, client: Client, count: int = 1, key: str = "k") -> list[tuple[int, int]]:
    """Place and tries of the turns of a request that is answered."""
    with turns.taken(key, count, client) as mine:
        return [(turn.place, turn.tries) for turn in mine]


def failed(turns: Turns, client: Client, count: int = 1) -> list[tuple[int, int]]:
    """Of one that fails."""
    found: list[tuple[int, int]] = []
    with suppress(ZeroDivisionError), turns.taken("k", count, client) as mine:
        found += [(turn.place, turn.tries) for turn in mine]
        raise ZeroDivisionError
    return found


def test_who_asks_the_same_again_after_an_answer_has_the_next_turn() -> None:
    turns, client = Turns(), Client()
    assert taken(turns, client) == [(0, 1)]
    assert taken(turns, client) == [(1, 1)]
    assert taken(turns, client, 2) == [(2, 1), (3, 1)]
    assert taken(turns, client, key="other") == [(0, 1)]


def test_who_tries_again_after_a_failure_has_the_turn_that_failed() -> None:
    turns, client = Turns(), Client()
    assert failed(turns, client, 2) == [(0, 1), (1, 1)]
    assert failed(turns, client) == [(0, 2)]
    assert taken(turns, client, 3) == [(0, 3), (1, 2), (2, 1)]
    assert taken(turns, client) == [(3, 1)]


def test_who_hung_up_before_the_answer_has_not_used_his_turn() -> None:
    turns, client = Turns(), Client()
    client.hung_up = True
    assert taken(turns, client) == [(0, 1)]
    assert taken(turns, Client()) == [(0, 2)]
    assert taken(turns, Client()) == [(1, 1)]


def test_who_hangs_up_after_the_answer_has_used_his_turn() -> None:
    turns, client = Turns(), Client()
    assert taken(turns, client) == [(0, 1)]
    client.hung_up = True
    assert taken(turns, Client()) == [(1, 1)]


def test_the_turn_of_a_call_on_its_way_is_for_who_asks_after_its_client_hung_up() -> None:
    turns, first, second = Turns(), Client(), Client()
    with turns.taken("k", 1, first) as [mine]:
        assert (mine.place, mine.tries) == (0, 1)
        assert taken(turns, Client()) == [(1, 1)], "as long as its client waits it is his"
        first.hung_up = True
        with turns.taken("k", 1, second) as [theirs]:
            assert theirs is mine
    assert (theirs.place, theirs.tries) == (0, 2)
    assert taken(turns, Client()) == [(2, 1)], "it was answered to the second"


def test_who_lost_his_turn_to_another_does_not_give_it_back() -> None:
    turns, first, second = Turns(), Client(), Client()
    with turns.taken("k", 1, first):
        first.hung_up = True
        taking = turns.taken("k", 1, second)
        taking.__enter__()
    assert taken(turns, Client()) == [(1, 1)], "the second still waits for the turn"
    taking.__exit__(None, None, None)
    assert taken(turns, Client()) == [(2, 1)]


def test_a_role_in_a_sample_of_an_execution_has_one_grant_and_one_key() -> None:
    grants = Grants()
    first = grants.give(bind("e1"), "task", ("q1", 0))
    assert grants.give(bind("e1"), "task", ("q1", 0)) is first
    others = [
        grants.give(bind("e2"), "task", ("q1", 0)),
        grants.give(bind("e1"), "judge", ("q1", 0)),
        grants.give(bind("e1"), "task", ("q2", 0)),
        grants.give(bind("e1"), "task", ("q1", 1)),
    ]
    assert len({grant.key for grant in (first, *others)}) == len(grants) == 5
    assert grants.find(first.key) is first
    assert grants.find("sk-seedbed-none") is None
    assert first.key.startswith("sk-seedbed-")
    assert len(first.key) == len("sk-seedbed-") + 48
    assert (first.role, first.sample, first.execution) == ("task", ("q1", 0), "e1")


def test_a_grant_that_ended_is_given_anew_under_another_key() -> None:
    grants = Grants()
    first = grants.give(bind("e1"), "task", ("q1", 0))
    grants.end(first)
    assert (grants.find(first.key), len(grants)) == (None, 0)
    grants.end(first)
    again = grants.give(bind("e1"), "task", ("q1", 0))
    assert again is not first
    assert again.key != first.key


def test_the_end_of_an_execution_ends_its_grants_and_no_others() -> None:
    grants = Grants()
    mine = [grants.give(bind("e1"), role, ("q1", 0)) for role in ("task", "judge")]
    other = grants.give(bind("e2"), "task", ("q1", 0))
    assert grants.end_execution("e1") == mine
    assert [grants.find(grant.key) for grant in mine] == [None, None]
    assert grants.find(other.key) is other
    assert grants.end_execution("e1") == []
    assert len(grants) == 1


def test_what_a_program_left_behind_is_waited_for() -> None:
    async def go() -> list[str]:
        grant, done, free = Grants().give(bind("e1"), "task", ("q1", 0)), list[str](), asyncio.Event()

        async def call(name: str) -> None:
            await free.wait()
            done.append(name)

        for name in "ab":
            task = asyncio.create_task(call(name))
            grant.running.add(task)
            task.add_done_callback(grant.running.discard)
        settled = asyncio.create_task(grant.settled())
        await asyncio.sleep(0)
        assert not settled.done()
        free.set()
        await settled
        await grant.settled()
        return done

    assert sorted(asyncio.run(go())) == ["a", "b"]
