"""Keeps documents out of the index that were made from the questions they would be found for."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence

from seedbed.suite import Case
from seedbed.suites.crosslingual.retrieval import Document
from seedbed.suites.kit.answer_text import normalise

_LINE_LABEL = re.compile(r"^\s*(?:q(?:uestion)?|问题?|質問|frage|pregunta|سؤال)\s*[:：]\s*", re.IGNORECASE)


def without_leaks(documents: Iterable[Document], cases: Sequence[Case]) -> tuple[list[Document], dict[str, int]]:
    """The documents that may be indexed, and how many were left out, by reason.

    A document leaks where it says so (`built_from` names a question or sample of the benchmark), where one of its lines
    is a question of the benchmark (a page of questions with their answers), and where it is nothing but an answer.
    """
    asked = {normalise(case.inputs["question"]) for case in cases}
    accepted = {normalise(answer) for case in cases for answer in case.gold}
    ids = {name for case in cases for name in (case.sample_id, case.cluster) if name}
    kept: list[Document] = []
    excluded: Counter[str] = Counter()
    for document in documents:
        reason = _leak(document, asked, accepted, ids)
        if reason is None:
            kept.append(document)
        else:
            excluded[reason] += 1
    return kept, dict(excluded)


def _leak(document: Document, asked: set[str], accepted: set[str], ids: set[str]) -> str | None:
    if not document.built_from.isdisjoint(ids):
        return "document built from an answer"
    lines = (normalise(_LINE_LABEL.sub("", line)) for line in (document.title, *document.text.splitlines()))
    if any(line in asked for line in lines if line):
        return "document that quotes a question"
    text = normalise(document.text)
    return "document that is an answer" if text and text in accepted else None
