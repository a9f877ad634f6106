"""Reading the public files: JSON, JSONL or CSV, one file or a folder of splits; what is missing is named."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, cast

from seedbed.errors import UserError
from seedbed.registry import nearest
from seedbed.splits import Sizes, Splits, sample, split
from seedbed.store import read_jsonl
from seedbed.suite import Benchmark, Case
from seedbed.suites.prompt_optimization.options import SplitOptions

DATA = Path(__file__).parent / "data"
_ENDINGS = (".jsonl", ".json", ".csv")
_CORPUS = "corpus.jsonl"

Row = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Source:
    """A row and where it stands, for messages."""

    path: Path
    number: int
    row: Row

    def get(self, *names: str) -> Any:
        """The value of the first of the columns that is there; a row without any of them is a user's error."""
        for name in names:
            if self.row.get(name) is not None:
                return self.row[name]
        raise self._missing(names)

    def may_be_empty(self, name: str) -> Any:
        """The value of a column that some rows leave empty (None); a row without the column is a user's error."""
        if name not in self.row:
            raise self._missing((name,))
        return self.row[name]

    def _missing(self, names: Sequence[str]) -> UserError:
        wanted = " or ".join(repr(name) for name in names)
        known = (str(name) for name in self.row if name)
        return UserError(f"{self.path}:{self.number}: column {wanted} is missing; {nearest(names[0], known)}")


MakeCase = Callable[[Source], Case | str]
"""A case, or the reason why the row is left out."""


def load(benchmark: str, options: SplitOptions, make: MakeCase) -> Benchmark:
    """The splits of a file or folder, sampled down to the benchmark's sizes, with counts of what was left out."""
    path = options.path or DATA / benchmark
    excluded: dict[str, int] = {}

    def cases_of(file: Path) -> list[Case]:
        return _cases(file, make, excluded)

    sizes = Sizes(options.max_train, options.max_val, options.max_test)
    splits = _from_folder(path, cases_of, sizes) or _from_file(path, cases_of, sizes, options)
    test = splits.test[: options.limit]
    if len(splits.test) > len(test):
        excluded["over the limit"] = len(splits.test) - len(test)
    if not test:
        raise UserError(f"{path}: no test case is left of it{_reasons(excluded)}.")
    return Benchmark(benchmark, test=test, train=splits.train, val=splits.val, excluded=excluded)


def read_corpus(path: Path | None, benchmark: str) -> list[tuple[str, str]]:
    """(title, text) of the corpus.jsonl beside a benchmark's cases; empty where there is none."""
    folder = path or DATA / benchmark
    file = folder / _CORPUS if folder.is_dir() else folder.with_name(_CORPUS)
    if not file.exists():
        return []
    sources = (Source(file, number, row) for number, row in enumerate(read_jsonl(file), start=1))
    return [(str(s.get("title")), _text(s.get("text", "sentences"))) for s in sources]


def read_rows(path: Path) -> list[Source]:
    """The rows of a .json list, a .jsonl or a .csv file. Rows of a list are counted from 1, all others by line."""
    if path.suffix == ".csv":
        return list(_csv_rows(path))
    if path.suffix == ".jsonl":
        return [Source(path, number, row) for number, row in enumerate(read_jsonl(path), start=1)]
    try:
        data: Any = json.loads(path.read_text(encoding="utf-8"))
    except json.JSONDecodeError as error:
        raise UserError(
            f"{path}:{error.lineno}: not valid JSON ({error.msg}); name the file .jsonl or .csv if it is one."
        ) from None
    if isinstance(data, dict):
        # Some releases wrap the rows: {"data": [...]}.
        data = next((value for value in cast("dict[str, Any]", data).values() if isinstance(value, list)), None)
    if not isinstance(data, list):
        raise UserError(f"{path}: holds no list of rows; a benchmark file is a JSON list, JSONL or CSV.")
    return [Source(path, number, row) for number, row in enumerate(cast("list[Row]", data), start=1)]


def _csv_rows(path: Path) -> Iterator[Source]:
    """Rows under a header; an empty field is None. A row is named by the line it ends in, as texts may hold breaks."""
    with path.open(encoding="utf-8-sig", newline="") as handle:
        reader = csv.DictReader(handle)
        try:
            for row in reader:
                yield Source(path, reader.line_num, {name: value or None for name, value in row.items()})
        except csv.Error as error:
            raise UserError(f"{path}:{reader.line_num}: not valid CSV ({error}).") from None


def _cases(path: Path, make: MakeCase, excluded: dict[str, int]) -> list[Case]:
    cases: dict[str, Case] = {}
    for source in read_rows(path):
        made = make(source)
        if isinstance(made, str):
            excluded[made] = excluded.get(made, 0) + 1
        elif made.sample_id in cases:
            raise UserError(f"{path}:{source.number}: id {made.sample_id!r} stands twice; make them unique.")
        else:
            cases[made.sample_id] = made
    return list(cases.values())


def _from_folder(path: Path, cases_of: Callable[[Path], list[Case]], sizes: Sizes) -> Splits | None:
    """The splits of a folder that has them ready; None for a file or a folder with cases to be split."""
    test = _find(path, "test")
    if test is None:
        return None
    train, val = _find(path, "train"), _find(path, "val") or _find(path, "dev")
    made = Splits(
        train=sample(cases_of(train), sizes.train) if train else [],
        val=sample(cases_of(val), sizes.val) if val else [],
        test=sample(cases_of(test), sizes.test),
    )
    if len({c.sample_id for c in (*made.train, *made.val, *made.test)}) < sum(
        map(len, (made.train, made.val, made.test))
    ):
        raise UserError(f"{path}: train, val and test share ids; a case may stand in one of them only.")
    return made


def _from_file(path: Path, cases_of: Callable[[Path], list[Case]], sizes: Sizes, options: SplitOptions) -> Splits:
    file = path if path.is_file() else _find(path, "cases")
    if file is None:
        raise UserError(f"{path}: holds neither test nor cases (.jsonl, .json or .csv); give such a folder, or a file.")
    cases = cases_of(file)
    return split(cases, sizes) if options.split else Splits([], [], sample(cases, sizes.test))


def _find(folder: Path, name: str) -> Path | None:
    return next((file for ending in _ENDINGS if (file := folder / f"{name}{ending}").is_file()), None)


def _reasons(excluded: Mapping[str, int]) -> str:
    return "".join(f"; {count} left out: {reason}" for reason, count in excluded.items())


def _text(value: Any) -> str:
    return value if isinstance(value, str) else "".join(map(str, cast("Iterable[Any]", value)))


def repeated(cases: Sequence[Case], times: int) -> list[Case]:
    """Each case so many times, every one an honest new answer; repeats of a case are one cluster."""
    return [
        replace(case, sample_id=f"{case.sample_id}#{n}", repeat=n, cluster=case.sample_id)
        for n in range(times)
        for case in cases
    ]
