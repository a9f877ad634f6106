"""Reads cases from a user's file: columns to inputs, answers and ids; filtered, sampled, split."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from datetime import date, datetime, time
from decimal import Decimal
from pathlib import Path
from typing import Any, cast

from seedbed.errors import UserError
from seedbed.suite import Benchmark, Case
from seedbed.suites.custom.choosing import drawn, holds, split_by_column, split_by_share
from seedbed.suites.custom.options import CaseOptions, Splitting
from seedbed.suites.kit.data_sets import data_set_rows, is_data_set
from seedbed.suites.kit.images import read_image
from seedbed.suites.kit.repeats import repeated
from seedbed.suites.kit.rows import Row, UniqueIds, read_rows
from seedbed.suites.kit.text_files import is_texts, text_rows
from seedbed.sweep.registry import nearest


def load(options: CaseOptions) -> Benchmark:
    """Rows are numbered as they stand in the file, then filtered, sampled and split."""
    assert options.path is not None
    path = options.path
    rows = list(_rows(path))
    kept = [(number, row) for number, row in enumerate(rows, start=1) if holds(options.where, row)]
    ids, placed = UniqueIds("id"), list[tuple[Case, Row]]()
    reader = _Reader(options, path, rows[0])
    for number, row in kept:
        placed.append((reader.case(row, number, ids), row))
    chosen = drawn(placed, options.sample) if options.sample else placed
    if not chosen:
        raise UserError(f"{path}: none of its {len(rows)} rows meets `where`; change the conditions.")
    train, val, test = _splits(options, chosen)
    if not test:
        raise UserError(f"{path}: no case is left for the test split; change `split`.")
    asked = test[: options.limit]
    return Benchmark(
        name=path.stem,
        test=repeated(asked, options.repeats.n) if options.repeats else asked,
        train=train,
        val=val,
        excluded={
            reason: count
            for reason, count in (("where", len(rows) - len(kept)), ("sample", len(kept) - len(chosen)))
            if count
        },
        warnings=list(_warnings(options, asked)),
    )


def _rows(path: Path) -> Iterator[Row]:
    if is_data_set(path):
        return data_set_rows(path)
    return text_rows(path) if is_texts(path) else read_rows(path)


def _splits(options: CaseOptions, chosen: Sequence[tuple[Case, Row]]) -> tuple[list[Case], list[Case], list[Case]]:
    split = Splitting() if options.split is True else options.split
    if not split:
        return [], [], [case for case, _ in chosen]
    if split.by is not None:
        return split_by_column(chosen, split.by)
    return split_by_share([case for case, _ in chosen], split)


def _warnings(options: CaseOptions, test: Sequence[Case]) -> Iterator[str]:
    blank = sum(case.gold is None for case in test)
    if options.answer is not None and blank:
        yield f"{blank} of {len(test)} test cases have no answer; scorers that compare with it leave them out."


class _Reader:
    """Turns rows into cases. Values are texts, whatever the format of the file: 3 in JSON is 3 in CSV."""

    def __init__(self, options: CaseOptions, path: Path, first: Row) -> None:
        self._options = options
        self._answers = [options.answer] if isinstance(options.answer, str) else options.answer or []
        split = options.split
        by = split.by if isinstance(split, Splitting) else None
        self._id = options.id or ("id" if "id" in first.data and not self._is_input("id") else None)
        taken = {*self._answers, self._id, options.cluster, by}
        inputs = options.inputs
        if inputs is None:
            inputs = [name for name in first.data if name not in taken]
        self._inputs = dict(inputs) if isinstance(inputs, dict) else {name: name for name in inputs}
        self._used = {*taken, *self._inputs.values()}
        if not self._inputs:
            raise first.error("has no column left for the inputs; name them under `inputs`.")
        self._images = [options.images] if isinstance(options.images, str) else options.images or []
        self._folder = path if path.is_dir() else path.parent
        apart = next((name for name in self._images if name not in self._inputs.values()), None)
        if apart is not None:
            raise first.error(f"the column {apart!r}, which `images` names, is no input; name it under `inputs` too.")

    def case(self, row: Row, number: int, ids: UniqueIds) -> Case:
        inputs = {name: self._input(row, column) for name, column in self._inputs.items()}
        own = str(number)
        if self._id is not None:
            _present(row, self._id, "id")
            own = row.identity(self._id)
        cluster = self._options.cluster
        return Case(
            sample_id=ids.add(row, own),
            inputs={name: "" if value is None else value for name, value in inputs.items()},
            gold=self._gold(row),
            meta={str(name): _plain(row, name, "meta") for name in row.data if name not in self._used},
            cluster=None if cluster is None else _shown(_plain(row, cluster, "cluster")),
        )

    def _input(self, row: Row, column: str) -> Any:
        value = _plain(row, column, "inputs")
        return read_image(row, column, self._folder) if value is not None and column in self._images else value

    def _gold(self, row: Row) -> Any:
        """A text, a list of accepted texts, an object of fields, or None where there is no answer."""
        found: list[Any] = []
        for column in self._answers:
            value = _plain(row, column, "answer")
            if isinstance(value, str) and self._options.separator:
                value = [part.strip() for part in value.split(self._options.separator) if part.strip()]
            found.extend(cast("list[Any]", value) if isinstance(value, list) else [] if value is None else [value])
        accepted = [_accepted(row, value) for value in found]
        return (accepted[0] if len(accepted) == 1 else accepted) if accepted else None

    def _is_input(self, name: str) -> bool:
        inputs = self._options.inputs
        return inputs is not None and name in (inputs.values() if isinstance(inputs, dict) else inputs)


def _accepted(row: Row, value: Any) -> Any:
    if isinstance(value, list):
        raise row.error("the answer holds a list within a list; write a text, a list of texts or an object.")
    return value if isinstance(value, dict) else _shown(value)


def _present(row: Row, name: str, option: str) -> Any:
    if name not in row.data:
        known = [str(column) for column in row.data]
        raise row.error(f"there is no column {name!r}, which `{option}` names; {nearest(name, known)}")
    return row.data[name]


def _plain(row: Row, name: str, option: str) -> Any:
    """A text, None where there is nothing, or what JSON can hold of lists and objects."""
    return _value(row, name, _present(row, name, option))


def _value(row: Row, name: str, value: Any) -> Any:
    match value:
        case None:
            return None
        case float() if math.isnan(value):
            return None
        case str():
            return value or None
        case bool() | int() | float() | Decimal() | date() | datetime() | time():
            return _shown(value)
        case Mapping():
            fields = cast("Mapping[Any, Any]", value)
            return {str(key): _value(row, name, inner) for key, inner in fields.items()}
        case list() | tuple():
            return [_value(row, name, inner) for inner in cast("list[Any]", value)]
        case _:
            raise row.wrong(name, value, f"is {type(value).__name__}, which has no place in a prompt; write text")


def _shown(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float) and value.is_integer() and abs(value) < 1e15:
        return str(int(value))
    return value.isoformat() if isinstance(value, date | datetime | time) else str(value)
