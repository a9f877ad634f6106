"""What the page holds of a sample: short texts whole, long ones cut, found without walking through every call."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import orjson
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from seedbed.report import sample_list
from seedbed.report.sample_list import _cut, _packed, _readable
from seedbed.report.sample_rows import CellRows, Wanted

LIMIT = 30
OTHER = 'b"文'
_TEXTS = st.text(alphabet='ab"\\\n\té文😀', max_size=2 * LIMIT)
_JSON = st.recursive(
    _TEXTS | st.integers(-9, 9) | st.none() | st.booleans(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_TEXTS, inner, max_size=3),
    max_leaves=8,
)
_CASE = st.recursive(
    _TEXTS | st.integers(-9, 9),
    lambda inner: (
        st.dictionaries(st.booleans() | st.none() | st.integers(0, 3), inner, max_size=2)
        | st.tuples(inner)
        | st.frozensets(st.integers(0, 9), max_size=1)
    ),
    max_leaves=4,
)


@settings(max_examples=300, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(asked=_CASE, answers=st.dictionaries(_TEXTS, st.lists(_JSON, max_size=2), max_size=2))
def test_the_short_way_to_cut_texts_gives_the_bytes_of_the_long_one(
    monkeypatch: pytest.MonkeyPatch, asked: Any, answers: dict[str, Any]
) -> None:
    monkeypatch.setattr(sample_list, "_LONGEST", LIMIT)
    detail = {"asked": asked, "gold": None, "meta": {}, "cluster": None, "answers": answers}
    whole = _packed(detail)
    assert _readable(detail) == (whole if len(whole) <= LIMIT else _packed(_cut(detail)))


def test_a_sample_of_many_short_calls_is_not_walked_through(monkeypatch: pytest.MonkeyPatch) -> None:
    walked: list[Any] = []
    monkeypatch.setattr(sample_list, "_cut", lambda value: walked.append(value) or value)
    calls = [{"received": [["received", 'said "so" \\ ' * 9]]}] * 900
    detail = {"asked": "why", "gold": "so", "meta": {}, "cluster": None, "answers": {"direct": [{"calls": calls}]}}
    assert len(_readable(detail)) > sample_list._LONGEST
    assert walked == ["why", "so", {}]


def test_calls_are_read_from_their_places_and_no_file_stays_open(tmp_path: Path) -> None:
    call = {"phase": "generate", "role": "task", "model": "m", "outcome": "paid", "tokens_in": 1, "tokens_out": 1}
    call |= {"list_usd": 0.0, "latency_s": 0.1, "error": None, "request": None}
    said = [("a", "generate", "one"), (OTHER, "generate", "two")]
    said += [("a", "optimise", "left out"), ("a", "score", "three")]
    with (tmp_path / "lm_history.jsonl").open("wb") as history:
        for sample, phase, text in said:
            response = {"choices": [{"finish_reason": "stop", "message": {"content": text}}]}
            line = orjson.dumps({**call, "phase": phase, "response": response})
            # As Python writes it: a space after the colon, and other letters escaped.
            name = b'"b\\"\\u6587"' if sample != "a" else b'"a"'
            history.write(b'{"sample": ' + name + b", " + line[1:] + b"\n")
    rows = CellRows(tmp_path, Wanted({"a", OTHER, "c"}), with_calls=True)
    before = _open_files()
    found = {sample: [c["received"][0][1] for c in rows.calls(sample) or ()] for sample in ("a", OTHER, "c")}
    assert found == {"a": ["one", "three"], OTHER: ["two"], "c": []}
    assert _open_files() == before


def _open_files() -> int:
    own = Path("/proc/self/fd")
    return len(list(own.iterdir())) if own.exists() else 0
