"""Advice for the suite's programs: what its feedback shows to be missing in a query, a request or a response."""

from __future__ import annotations

import re

from seedbed.offline.skill import Advice, Lesson

_MISSING = re.compile(r"never retrieved by any query: (.*?)\.(?:\s|$)")
_UNMET = re.compile(r"NOT met: ")
_LEAK = re.compile(r"(\d+)% of the user's private facts")


def _missed_a_name(lesson: Lesson) -> bool:
    """Whether an article that was never found is named in what the query was written from, and not in the query."""
    missing = _MISSING.search(lesson.feedback)
    if not missing or "query" not in lesson.outputs:
        return False
    given, query = " ".join(lesson.inputs.values()), lesson.outputs["query"]
    return any(name in given and name not in query for name in re.findall(r"'([^']+)'", missing[1]))


def _met_too_little(lesson: Lesson) -> bool:
    return bool(_UNMET.search(lesson.feedback)) and any("response" in name for name in lesson.outputs)


def _told_too_much(lesson: Lesson) -> bool:
    leak = _LEAK.search(lesson.feedback)
    return leak is not None and int(leak[1]) > 0 and "llm_request" in lesson.outputs


BRIDGE = Advice(
    "bridge",
    "Search for the names that the summary mentions and the question or claim does not; what was found already need "
    "not be searched again.",
    wording=(
        r"(?:names?|entit\w+|titles?|people|places?)\b.{0,60}\bsummar|summar\w+.{0,40}\b(?:names?|entit\w+|titles?)"
        r"|not (?:yet )?(?:been )?(?:found|retrieved|searched|looked up)|bridg\w+|next hop"
        r"|missing (?:article|document|piece)"
    ),
    by_nature=0.2,
    helps=("query", "queries"),
    lacked=_missed_a_name,
)
REDACT = Advice(
    "redact",
    "Leave out names, places, addresses, numbers and other private details of the user; describe the task in general "
    "words.",
    wording=(
        r"(?:remov|leav\w* out|redact|replac|without|omit|mask|(?:never|not) (?:reveal|includ|mention|share))"
        r".{0,80}(?:names?\b|private|personal|identif|sensitive)"
    ),
    by_nature=0.15,
    helps=("request",),
    lacked=_told_too_much,
)
CHECK = Advice(
    "check",
    "List every constraint that the query puts on the response (length, words, format, order) and make sure that the "
    "response meets each of them exactly.",
    wording=(
        r"(?:every|each|all)(?: of)?(?: the)? (?:\w+ ){0,2}(?:constraint|requirement|instruction|condition)"
        r"|(?:constraint|requirement)s?.{0,60}(?:meet|met|satisf|follow|exact)"
        r"|exactly as (?:the )?(?:query|user|prompt)"
    ),
    by_nature=0.3,
    helps=("response",),
    lacked=_met_too_little,
)
