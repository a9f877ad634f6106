"""Every sample for the report: scores of all systems to list and filter by, texts to search, details to open."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import orjson

from seedbed.analysis.score_table import ScoreTable, TableKey
from seedbed.report.curves import cases_of
from seedbed.report.sample_packs import Packs
from seedbed.report.sample_rows import Answered, CellRows, Wanted, drop_copies
from seedbed.storage.store import Store
from seedbed.suite import Case, Metric
from seedbed.suites.kit.outcomes import TRUNCATED, UNREADABLE, told_reason
from seedbed.sweep.plan import Plan
from seedbed.sweep.registry import get_suite

MAX_SAMPLES = 300_000
MAX_BYTES = 200_000_000
"""Of details before packing; further samples are shown without their prompts."""
_AT_ONCE = 200
"""Samples of a table that memory holds with all their answers."""
_SNIPPET, _SHORT = 160, 90
"""Characters that are listed of a question, and of an answer."""
_LONGEST = 20_000
_FEW_VALUES = 40
"""A fact of the cases with more values than that is no filter."""
STATES = ("ok", "error", "skipped", UNREADABLE, TRUNCATED)
"""By number, how a sample ended; the script of the page has the same list."""
_NUMBERS = {state: str(number) for number, state in enumerate(STATES)}
_NONE = "-"
"""Where a system has no row of a sample under a seed."""


@dataclass(frozen=True)
class Source:
    """A table of samples and where the rows of its systems lie."""

    key: TableKey
    metrics: Sequence[Metric]
    baseline: str | None
    systems: Mapping[str, Sequence[tuple[int, Path]]]
    """By label: seeds and folders of cells."""
    sample_ids: Sequence[str]
    cases: Mapping[str, Case]


@dataclass
class SampleBook:
    """Filled table by table; memory holds what is listed, and the packed rest."""

    per_cell: int
    tables: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])
    packs: Packs = field(default_factory=Packs)
    n_samples: int = 0
    """Samples x systems x seeds: all there are, shown or not."""
    n_shown: int = 0
    view: dict[str, str] = field(default_factory=dict[str, str])
    """What is chosen in the grid before a reader chooses."""
    _bytes: int = 0

    def add(self, store: Store, plan: Plan, table: ScoreTable) -> None:
        """All cells of a table; each shows the same samples, so that systems can be compared."""
        systems = {label: [(cell.seed, store.cell_dir(cell)) for cell in own] for label, own in table.cells.items()}
        cases = cases_of(plan, table)
        self.take(Source(table.key, table.declared, table.baseline, systems, table.sample_ids, cases))

    def take(self, source: Source) -> None:
        """All samples of a table that there is room for."""
        chosen = _spread(source.sample_ids, self.per_cell)
        wanted, with_calls = Wanted(set(chosen)), self._bytes < MAX_BYTES
        rows = {
            label: [CellRows(folder, wanted, with_calls=with_calls) for _, folder in own]
            for label, own in source.systems.items()
        }
        entry = _Entry(source, chosen)
        for start in range(0, len(chosen), _AT_ONCE):
            self._some(source, entry, chosen[start : start + _AT_ONCE], rows)
        self.packs.close()
        for own in rows.values():
            for cell in own:
                cell.finish()
                self.n_samples += cell.n_rows
        self.n_shown += entry.n_rows
        self.tables.append(entry.listed(self._texts(entry)))
        drop_copies()

    def _some(
        self, source: Source, entry: _Entry, samples: Sequence[str], rows: Mapping[str, Sequence[CellRows]]
    ) -> None:
        taken = {label: [cell.take(samples) for cell in own] for label, own in rows.items()}
        for sample in samples:
            found = {label: [own.get(sample) for own in cells] for label, cells in taken.items()}
            entry.add(sample, found)
            with_calls = self._bytes < MAX_BYTES
            detail = _detail(source.cases.get(sample), found)
            for label, own in rows.items():
                for place, cell in enumerate(own):
                    if (shown := detail["answers"][label][place]) is not None:
                        shown["calls"] = cell.calls(sample) if with_calls else None
            raw = _readable(detail)
            self._bytes += len(raw)
            entry.details.append(self.packs.add(raw))

    def _texts(self, entry: _Entry) -> list[int]:
        numbers = [self.packs.add(_packed(text)) for text in entry.texts]
        self.packs.close()
        return numbers

    def close(self) -> None:
        """Pack what is still open."""
        self.packs.close()

    def index(self) -> dict[str, Any]:
        """What the page lists and filters by."""
        return {"tables": self.tables, "n_samples": self.n_samples, "view": self.view}


class _Entry:
    """A table as the page lists it, filled sample by sample."""

    def __init__(self, source: Source, chosen: Sequence[str]) -> None:
        self._source = source
        self._ids = list(chosen)
        self._rounded = [(metric.name, metric.digits + 2) for metric in source.metrics]
        self._states: dict[str, list[list[str]]] = {label: [[] for _ in own] for label, own in source.systems.items()}
        self._scores: dict[str, list[list[list[float | None]]]] = {
            label: [[[] for _ in source.metrics] for _ in own] for label, own in source.systems.items()
        }
        self._kinds: dict[str, int] = {}
        self._kind: dict[str, list[dict[str, int]]] = {
            label: [{} for _ in own] for label, own in source.systems.items()
        }
        self._at = 0
        self.texts: list[Any] = []
        self.details: list[int] = []
        self.n_rows = 0

    def add(self, sample: str, found: Mapping[str, Sequence[Answered | None]]) -> None:
        case = self._source.cases.get(sample)
        answers: list[str] = []
        for label, seeds in found.items():
            for place, answered in enumerate(seeds):
                self._row(label, place, answered)
            answers.append(_answer_text(seeds))
        row = next((a[0] for seeds in found.values() for a in seeds if a is not None), None)
        details: Mapping[str, Any] = row["details"] if row else {}
        asked = case.inputs if case else details.get("question")
        gold = case.gold if case else details.get("gold")
        self.texts.append([snippet(asked), snippet(gold, _SHORT), answers])
        self._at += 1

    def _row(self, label: str, place: int, answered: Answered | None) -> None:
        columns = self._scores[label][place]
        if answered is None:
            self._states[label][place].append(_NONE)
            for column in columns:
                column.append(None)
            return
        row = answered[0]
        state, scores = _state(row), row["scores"]
        self._states[label][place].append(_NUMBERS[state])
        for column, (name, digits) in zip(columns, self._rounded, strict=True):
            value = scores.get(name)
            column.append(None if value is None else round(value, digits))
        self.n_rows += 1
        if state in ("error", "skipped", UNREADABLE):
            told = row["details"].get(UNREADABLE) if state == UNREADABLE else told_reason(row)
            kind = str(told).partition(":")[0][:80] or "no reason given"
            self._kind[label][place][str(self._at)] = self._kinds.setdefault(kind, len(self._kinds))

    def listed(self, texts: Sequence[int]) -> dict[str, Any]:
        source, (suite, benchmark, model) = self._source, self._source.key
        return {
            "suite": suite,
            "title": get_suite(suite).title,
            "benchmark": benchmark,
            "model": model,
            "baseline": source.baseline,
            "metrics": [_metric(metric) for metric in source.metrics],
            "systems": [{"label": label, "seeds": [seed for seed, _ in own]} for label, own in source.systems.items()],
            "ids": self._ids,
            "facts": _facts(self._ids, source.cases),
            "states": [["".join(column) for column in own] for own in self._states.values()],
            "kinds": list(self._kinds),
            "kind": list(self._kind.values()),
            "scores": list(self._scores.values()),
            "details": _runs(self.details),
            "texts": _runs(texts),
        }


def _metric(metric: Metric) -> dict[str, Any]:
    return {
        "name": metric.name,
        "label": metric.label,
        "digits": metric.digits,
        "range": metric.range,
        "better": metric.higher_is_better,
    }


def _runs(numbers: Sequence[int]) -> list[list[int]]:
    """Where each pack begins: the place of its first sample, and its number."""
    return [[at, number] for at, number in enumerate(numbers) if at == 0 or numbers[at - 1] != number]


def _facts(ids: Sequence[str], cases: Mapping[str, Case]) -> dict[str, Any]:
    """Facts of the cases with a few values: the values, and by sample which of them, -1 for none."""
    found: dict[str, dict[str, int]] = {}
    places: dict[str, list[int]] = {}
    for at, sample in enumerate(ids):
        for fact, value in (cases[sample].meta if sample in cases else {}).items():
            if isinstance(value, str | bool | int):
                known, column = found.setdefault(fact, {}), places.setdefault(fact, [])
                column.extend([-1] * (at - len(column)))
                if len(known) <= _FEW_VALUES:
                    column.append(known.setdefault(str(value), len(known)))
    return {
        fact: {"values": list(known), "of": places[fact] + [-1] * (len(ids) - len(places[fact]))}
        for fact, known in found.items()
        if 2 <= len(known) <= _FEW_VALUES
    }


def _detail(case: Case | None, found: Mapping[str, Sequence[Answered | None]]) -> dict[str, Any]:
    """All there is of a sample, the calls left to be added."""
    rows = [answered[0] for seeds in found.values() for answered in seeds if answered is not None]
    details: Mapping[str, Any] = rows[0]["details"] if rows else {}
    return {
        "asked": case.inputs if case else {k: details[k] for k in ("question",) if k in details},
        "gold": case.gold if case else details.get("gold"),
        "meta": case.meta if case else {},
        "cluster": rows[0]["cluster"] if rows else None,
        "answers": {label: [_answer(answered) for answered in seeds] for label, seeds in found.items()},
    }


def _answer(answered: Answered | None) -> dict[str, Any] | None:
    if answered is None:
        return None
    row, prediction = answered
    return {
        "output": prediction.get("output"),
        "error": prediction.get("error"),
        "reason": told_reason(row) if row["status"] != "ok" or row["reason"] else None,
        "scores": row["scores"],
        "details": row["details"],
    }


def _answer_text(seeds: Sequence[Answered | None]) -> str:
    first = next((answered for answered in seeds if answered is not None), None)
    if first is None:
        return ""
    row, prediction = first
    return snippet(prediction.get("output") or told_reason(row) or row["details"].get(UNREADABLE, ""), _SHORT)


def _spread(ids: Sequence[str], at_most: int) -> list[str]:
    """Evenly over the benchmark where not all have room."""
    if len(ids) <= at_most:
        return list(ids)
    return [ids[int(place * len(ids) / at_most)] for place in range(at_most)]


def _state(row: Mapping[str, Any]) -> str:
    """An answer that was cut off and cannot be read is called unreadable; its details say the rest."""
    if row["status"] != "ok":
        return row["status"]
    if row["reason"]:
        return "error"
    return next((flaw for flaw in (UNREADABLE, TRUNCATED) if flaw in row["details"]), "ok")


def snippet(value: Any, length: int = _SNIPPET) -> str:
    """The beginning of a value as one line of text; of something nested, the texts inside it."""
    pieces: list[str] = []
    names: list[str] = []
    room = length
    for text in _pieces(value):
        piece = " ".join(text[: 4 * length].split())
        # Ids and codes beside a text say nothing of it.
        (names if re.fullmatch(r"[!-~]{0,24}", piece) else pieces).append(piece)
        room -= len(pieces[-1]) if pieces else 0
        if room < 0:
            break
    line = " · ".join(pieces or [name for name in names if name])
    return line if len(line) <= length else line[: length - 1] + "…"


def _pieces(value: Any) -> Iterator[str]:
    """Texts first: where a dialogue has any, its numbers say nothing."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        own = [v for v in value.values() if isinstance(v, str | Mapping | list | tuple)]
        for item in own or value.values():
            yield from _pieces(item)
    elif isinstance(value, list | tuple):
        for item in value:
            yield from _pieces(item)
    elif value is not None:
        yield str(value)


def _packed(value: Any) -> bytes:
    return orjson.dumps(value, option=orjson.OPT_NON_STR_KEYS, default=str)


def _readable(detail: dict[str, Any]) -> bytes:
    """A sample's details packed, with no text in them longer than anybody reads."""
    raw = _packed(detail)
    if len(raw) <= _LONGEST:
        return raw
    if _has_long_text(raw):
        return _packed(_cut(detail))
    # What a suite made of a case may hold what JSON does not; everything else was read from JSON and stays as it is.
    return _packed({**detail, **{name: _cut(detail[name]) for name in ("asked", "gold", "meta")}})


def _has_long_text(raw: bytes) -> bool:
    """Whether a text of this JSON may have to be cut: counts bytes, of which a text has at least as many as characters.
    Most samples are long by their many calls, and walking through all of them costs more than everything else."""
    plain = raw.replace(b"\\\\", b"..").replace(b'\\"', b"..")
    return max(map(len, plain.split(b'"'))) > _LONGEST


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
