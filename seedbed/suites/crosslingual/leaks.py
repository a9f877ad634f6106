"""Keeps documents out of the index that were made from the questions they would be found for."""

from __future__ import annotations

import re
from collections.abc import Sequence

from seedbed.storage.hashing import hash_json
from seedbed.suite import Case
from seedbed.suites.crosslingual.documents import Document
from seedbed.suites.kit.answer_text import normalise

_LINE_LABEL = re.compile(r"^\s*(?:q(?:uestion)?|问题?|質問|frage|pregunta|سؤال)\s*[:：]\s*", re.IGNORECASE)


class Leaks:
    """What the questions of a benchmark forbid.

    A document leaks where it says so (`built_from` names a question or sample of the benchmark), where one of its lines
    is a question of the benchmark (a page of questions with their answers), and where it is nothing but an answer.
    """

    def __init__(self, cases: Sequence[Case]) -> None:
        self._asked = {normalise(case.inputs["question"]) for case in cases}
        self._accepted = {normalise(answer) for case in cases for answer in case.gold}
        self._ids = {name for case in cases for name in (case.sample_id, case.cluster) if name}

    @property
    def version(self) -> str:
        """Of what is forbidden."""
        return hash_json([sorted(self._asked), sorted(self._accepted), sorted(self._ids)])

    def reason(self, document: Document) -> str | None:
        """Why the document may not be indexed; None if it may."""
        if not document.built_from.isdisjoint(self._ids):
            return "document built from an answer"
        lines = (normalise(_LINE_LABEL.sub("", line)) for line in (document.title, *document.text.splitlines()))
        if any(line in self._asked for line in lines if line):
            return "document that quotes a question"
        text = normalise(document.text)
        return "document that is an answer" if text and text in self._accepted else None
