"""Every sample for the report: a light line each to list and search, and packed details that are opened one by one."""

from __future__ import annotations

import base64
import json
import re
import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import orjson

from seedbed.analysis.score_table import ScoreTable
from seedbed.report.curves import cases_of
from seedbed.report.transcript import received, sent
from seedbed.storage.store import Store
from seedbed.suite import Case
from seedbed.suites.kit.outcomes import TRUNCATED, UNREADABLE
from seedbed.sweep.plan import Plan

MAX_SAMPLES = 20_000
MAX_BYTES = 96_000_000
"""Of details before packing; further samples are listed without their prompts."""
_CHUNK = 100
_SNIPPET = 160
_READ = 1 << 20
_LONGEST = 20_000
_SAMPLE = re.compile(rb'"sample": ("(?:[^"\\]|\\.)*")')
_ID = re.compile(rb'\{"sample_id": ?("(?:[^"\\]|\\.)*")')
_LINE = 15
"""Characters in a row of packed data: shorter than any key, so that masking secrets never cuts into it."""
_SHOWN = ("phase", "role", "model", "outcome", "tokens_in", "tokens_out", "list_usd", "latency_s", "error")
"""What the page says of a call."""
STATES = ("ok", "error", "skipped", UNREADABLE, TRUNCATED)
"""By number, how a sample ended; the script of the page has the same list."""


@dataclass
class SampleBook:
    """Filled cell by cell; what it holds stays below the two limits above however many cells there are."""

    per_cell: int
    cells: list[list[Any]] = field(default_factory=list[list[Any]])
    lines: list[list[Any]] = field(default_factory=list[list[Any]])
    chunks: list[str] = field(default_factory=list[str])
    n_samples: int = 0
    """All there are, shown or not."""
    _open: list[bytes] = field(default_factory=list[bytes])
    _bytes: int = 0

    def add(self, store: Store, plan: Plan, table: ScoreTable) -> None:
        """All cells of a table; each shows the same samples, so that systems can be compared."""
        cases = cases_of(plan, table)
        chosen = Wanted(_spread(table.sample_ids, self.per_cell))
        primary = table.declared[0]
        for label, cells in table.cells.items():
            for cell in cells:
                place = len(self.cells)
                self.cells.append([cell.suite, cell.benchmark, label, cell.model, cell.seed, primary.label])
                folder = store.cell_dir(cell)
                calls = _calls(folder / "lm_history.jsonl", chosen) if self._bytes < MAX_BYTES else None
                n_rows, found = _rows(folder, chosen)
                self.n_samples += n_rows
                for row, prediction in found:
                    self._one(place, row, prediction, cases.get(row["sample_id"]), calls, primary.name)

    def _one(
        self,
        place: int,
        row: dict[str, Any],
        prediction: dict[str, Any],
        case: Case | None,
        calls: Mapping[str, list[Any]] | None,
        metric: str,
    ) -> None:
        sample = row["sample_id"]
        gold = case.gold if case else row["details"].get("gold")
        asked = case.inputs if case else {k: row["details"][k] for k in ("question",) if k in row["details"]}
        self.lines.append(
            [
                *(place, sample, STATES.index(_state(row)), row["scores"].get(metric)),
                *(
                    snippet(asked),
                    snippet(prediction.get("output") or row["reason"] or row["details"].get(UNREADABLE, "")),
                    snippet(gold),
                ),
            ]
        )
        detail = {
            "inputs": asked,
            "gold": gold,
            "meta": case.meta if case else {},
            "scores": row["scores"],
            "output": prediction.get("output"),
            "error": prediction.get("error"),
            "reason": row["reason"],
            "cluster": row["cluster"],
            "details": row["details"],
            "calls": None if calls is None else calls.get(sample, []),
        }
        raw = _packed(detail)
        self._open.append(raw if len(raw) <= _LONGEST else _packed(_cut(detail)))
        if len(self._open) == _CHUNK:
            self.close()

    def close(self) -> None:
        """Pack what is still open."""
        if self._open:
            raw = b"[" + b",".join(self._open) + b"]"
            self._bytes += len(raw)
            text = base64.b64encode(zlib.compress(raw, 6)).decode()
            self.chunks.append("\n".join(text[at : at + _LINE] for at in range(0, len(text), _LINE)))
            self._open = []

    def index(self) -> dict[str, Any]:
        """What the page lists and searches."""
        return {"cells": self.cells, "rows": self.lines, "chunk": _CHUNK, "n_samples": self.n_samples}


class Wanted:
    """Sample ids, told apart as they stand in a file: most lines are not worth reading whole."""

    def __init__(self, ids: set[str]) -> None:
        self._raw = {json.dumps(sample, ensure_ascii=plain).encode() for sample in ids for plain in (True, False)}
        self._ids = ids

    def __contains__(self, quoted: bytes) -> bool:
        # The same id can be written with escapes in more than one way.
        return quoted in self._raw or (b"\\" in quoted and orjson.loads(quoted) in self._ids)


def _rows(folder: Path, wanted: Wanted) -> tuple[int, list[tuple[dict[str, Any], dict[str, Any]]]]:
    """How many samples there are, and the scores of those wanted with the predictions they belong to. Both files have a
    line a case in the same order."""
    found: list[tuple[dict[str, Any], dict[str, Any]]] = []
    count = 0
    with (folder / "scores.jsonl").open("rb") as scores, (folder / "predictions.jsonl").open("rb") as predictions:
        for line, answered in zip(scores, predictions, strict=False):
            count += 1
            match = _ID.match(line)
            if match is None or match[1] in wanted:
                found.append((orjson.loads(line), orjson.loads(answered)))
    return count, found


def _spread(ids: Sequence[str], at_most: int) -> set[str]:
    """Evenly over the benchmark where not all have room."""
    if len(ids) <= at_most:
        return set(ids)
    return {ids[int(place * len(ids) / at_most)] for place in range(at_most)}


def _calls(path: Path, wanted: Wanted) -> dict[str, list[Any]]:
    """The calls made for some samples after any optimising: what was sent and what came back."""
    found: dict[str, list[Any]] = {}
    if not path.exists():
        return found
    with path.open("rb") as handle:
        # Whole lines, many at a time.
        while data := handle.read(_READ) + handle.readline():
            for call in map(orjson.loads, _lines_about(data, wanted)):
                if call["phase"] != "optimise":
                    shown = {name: call[name] for name in _SHOWN}
                    ends = [choice.get("finish_reason") for choice in (call["response"] or {}).get("choices") or []]
                    known = {**shown, "ended": ends, "sent": sent(call), "received": received(call)}
                    found.setdefault(call["sample"], []).append(known)
    return found


def _lines_about(data: bytes, wanted: Wanted) -> Iterator[bytes]:
    """Lines that name a wanted sample. Quotes inside texts are escaped, so the key is not found in what was said."""
    end = -1
    for match in _SAMPLE.finditer(data):
        if match.start() > end and match[1] in wanted:
            start = data.rfind(b"\n", 0, match.start()) + 1
            end = data.find(b"\n", match.end())
            end = len(data) if end < 0 else end
            yield data[start:end]


def _state(row: Mapping[str, Any]) -> str:
    """An answer that was cut off and cannot be read is called unreadable; its details say the rest."""
    if row["status"] != "ok":
        return row["status"]
    if row["reason"]:
        return "error"
    return next((flaw for flaw in (UNREADABLE, TRUNCATED) if flaw in row["details"]), "ok")


def snippet(value: Any) -> str:
    """The beginning of a value as one line of text."""
    if isinstance(value, Mapping):
        texts = [v for v in value.values() if isinstance(v, str)]
        value = " · ".join(texts) if texts else value
    elif isinstance(value, list | tuple):
        value = " | ".join(str(v) for v in value[:5])
    text = " ".join(("" if value is None else str(value)).split())
    return text if len(text) <= _SNIPPET else text[: _SNIPPET - 1] + "…"


def _packed(value: Any) -> bytes:
    return orjson.dumps(value, option=orjson.OPT_NON_STR_KEYS, default=str)


def _cut(value: Any) -> Any:
    """Texts cut where they are longer than anybody reads; said so at the cut."""
    if isinstance(value, str):
        left = len(value) - _LONGEST
        return value if left <= 0 else f"{value[:_LONGEST]} […{left} characters more in the cell's files]"
    if isinstance(value, Mapping):
        return {str(key): _cut(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_cut(item) for item in value]
    return value
