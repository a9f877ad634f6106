"""Asks another model without giving the user away, answers plain requests, and judges both."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import cast

from seedbed.offline.skill import PLAIN_INPUT, PLAIN_OUTPUT, Call, Skill, asks_for, texts, with_thought
from seedbed.suites.prompt_optimization.offline.advice import REDACT

_PRIVATE = re.compile(
    r"[\w.+-]+@[\w-]+\.[\w.]+|\d[\d ./-]*\d|\d|(?<![.!?]\s)(?<!^)\b[A-Z][\w’'-]+(?:,? (?:of )?[A-Z][\w’'-]+)*",
    re.MULTILINE,
)
_ORDINARY = frozenset(["I", "My", "Please", "Write", "Could", "Can", "The", "A", "An", "And", "Dear"])
_REQUEST = "Please help with this request: "
_AS_GOOD = 0.15
"""How much less of what was asked a response may cover and still pass for as good."""


# -- the trusted model -------------------------------------------------------------------------------------------------


def _craft(call: Call) -> Mapping[str, object]:
    query = call.prompt.inputs["user_query"]
    request = _REQUEST + query
    if REDACT.followed(call):
        request = _REQUEST + _PRIVATE.sub(lambda found: _masked(found[0], call), query)
    return with_thought(call.prompt, {"llm_request": request}, "The external model should know what is needed.")


def _masked(found: str, call: Call) -> str:
    """A private detail in general words; a slip leaves it in."""
    if found in _ORDINARY or call.chance.slips(f"mask {found}"):
        return found
    return "a number" if found[0].isdigit() else "an address" if "@" in found else "somebody"


def _respond(call: Call) -> Mapping[str, object]:
    """The other model's reply with what it could not know put back in."""
    query, told = call.prompt.inputs["user_query"], call.prompt.inputs["llm_response"]
    missing = [found for found in dict.fromkeys(_PRIVATE.findall(query)) if found not in told]
    if missing and not call.chance.slips("respond"):
        told = f"{told} This concerns {', '.join(missing)}."
    return {"response": told}


# -- the untrusted model -----------------------------------------------------------------------------------------------


def _assist(call: Call) -> Mapping[str, object]:
    asked = call.prompt.inputs[PLAIN_INPUT]
    return {PLAIN_OUTPUT: f"Here is a draft. {asked.removeprefix(_REQUEST)}"}


# -- the judge ---------------------------------------------------------------------------------------------------------


def _compare(call: Call) -> Mapping[str, object]:
    inputs = call.prompt.inputs
    first, second = (_coverage(inputs["user_query"], inputs[name]) for name in ("first_response", "second_response"))
    verdict = first >= second - _AS_GOOD
    said = {"first_is_at_least_as_good": verdict != call.chance.slips("compare", steps=1)}
    return with_thought(call.prompt, said, "Both responses are held beside the query.")


def _coverage(query: str, response: str) -> float:
    wanted = texts.terms(query)
    return len(wanted & texts.terms(response)) / max(1, len(wanted))


def _count(call: Call) -> Mapping[str, object]:
    try:
        loaded: object = json.loads(call.prompt.inputs["private_facts"])
    except ValueError:
        loaded = texts.passages(call.prompt.inputs["private_facts"])
    facts = [str(fact) for fact in cast("list[object]", loaded)] if isinstance(loaded, list) else []
    said = call.prompt.inputs["text"].casefold()
    given_away = sum(fact.casefold() in said for fact in facts)
    return with_thought(call.prompt, {"facts_given_away": given_away}, "Each fact is looked for in the text.")


PRIVACY: tuple[Skill, ...] = (
    Skill("craft", lambda p: asks_for(p, {"user_query"}, {"llm_request"}), _craft),
    Skill("respond", lambda p: asks_for(p, {"user_query", "llm_response"}, {"response"}), _respond),
    Skill("compare", lambda p: asks_for(p, set(), {"first_is_at_least_as_good"}), _compare),
    Skill("count leaks", lambda p: asks_for(p, set(), {"facts_given_away"}), _count),
    Skill("assist", lambda p: p.format == "plain" and p.inputs[PLAIN_INPUT].startswith(_REQUEST), _assist),
)
