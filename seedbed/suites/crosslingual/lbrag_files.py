"""Rows as LBRAG itself writes them, samples and answers, read as ours."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, cast

from seedbed.suites.kit.rows import Row

_OF_SAMPLES = {"id": "sample_id", "quid": "question_id", "question_lang": "lang", "answer": "gold"}
_OF_ANSWERS = {
    "sample_lang": "lang",
    "gold_answer": "gold",
    "pred_answer": "pred",
    "translate_tokens": "translation_tokens",
}
_CUT = 200
"""Characters that LBRAG keeps of a text, before three dots."""


def as_ours(row: Row) -> Row:
    """The row with the names that our fields have; a row of our own as it is."""
    if "question_lang" in row.data:
        names, lang = _OF_SAMPLES, row.data["question_lang"]
    elif "sample_lang" in row.data:
        names, lang = _OF_ANSWERS, row.data["sample_lang"]
    else:
        return row
    data = {names.get(name, name): value for name, value in row.data.items()}
    if isinstance(data.get("sample_id"), str) and data.get("question_id") is None:
        # 17_zh_cn is question 17: LBRAG tells it in the id alone.
        data["question_id"] = data["sample_id"].removesuffix(f"_{lang}")
    data["evidence"] = _texts(data.get("evidence"))
    return replace(row, data=data)


def _texts(blocks: Any) -> Any:
    """What the model was shown; nothing where LBRAG cut one of the texts off, for the answer may stand in the rest."""
    if not isinstance(blocks, list) or not all(isinstance(block, Mapping) for block in cast("list[Any]", blocks)):
        return blocks
    shown = cast("list[Mapping[str, Any]]", blocks)
    texts = [str(block.get("translated_text") or block.get("original_text") or "") for block in shown]
    return [] if any(len(text) == _CUT + 3 and text.endswith("...") for text in texts) else texts
