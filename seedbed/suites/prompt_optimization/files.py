"""Reading the public files: JSON, JSONL, CSV or Parquet, one file or a folder of splits; what is missing is named."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, cast

from seedbed.errors import UserError
from seedbed.storage.store import read_jsonl
from seedbed.suite import Benchmark, Case
from seedbed.suites.kit.splits import Sizes, Splits
from seedbed.suites.prompt_optimization.options import SplitOptions
from seedbed.suites.prompt_optimization.split_rules import Rows, SplitRule, sampled
from seedbed.sweep.registry import nearest

DATA = Path(__file__).parent / "data"
_ENDINGS = (".jsonl", ".json", ".csv", ".parquet")
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

    def name(self, *columns: str) -> str:
        """The value of the first of the columns that is there, else the number of the row."""
        given = (self.row.get(column) for column in columns)
        return next((str(value) for value in given if value is not None), f"row{self.number}")

    def error(self, what: str) -> UserError:
        return UserError(f"{self.path}:{self.number}: {what}")

    def _missing(self, names: Sequence[str]) -> UserError:
        wanted = " or ".join(repr(name) for name in names)
        known = (str(name) for name in self.row if name)
        return self.error(f"column {wanted} is missing; {nearest(names[0], known)}")


MakeCase = Callable[[Source], Case | str]
"""A case, or the reason why the row is left out."""


def load(benchmark: str, options: SplitOptions, make: MakeCase, rule: SplitRule) -> Benchmark:
    """The splits of a file or folder, sampled down to the benchmark's sizes, with counts of what was left out."""
    path = options.path or DATA / benchmark
    excluded: dict[str, int] = {}

    def rows_of(files: Sequence[Path], most: int | None = None) -> Rows:
        return _rows(files, make, excluded, most)

    if options.whole:
        rule = SplitRule(_all_test)
    elif not options.split:
        rule = replace(rule, whole=_all_test)
    splits = _from_folder(path, rows_of, rule) or rule.whole(rows_of(_case_files(path)))
    if not options.whole:
        splits = sampled(splits, Sizes(options.max_train, options.max_val, options.max_test))
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
    """The rows of a file. Those of a list or a table are counted from 1, all others by line."""
    if path.suffix == ".csv":
        return list(_csv_rows(path))
    rows = {".jsonl": read_jsonl, ".parquet": _parquet_rows}.get(path.suffix, _json_rows)(path)
    return [Source(path, number, row) for number, row in enumerate(cast("Iterable[Row]", rows), start=1)]


def _json_rows(path: Path) -> list[Row]:
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
        raise UserError(f"{path}: holds no list of rows; a benchmark file is a JSON list, JSONL, CSV or Parquet.")
    return cast("list[Row]", data)


def _parquet_rows(path: Path) -> list[Row]:
    try:
        import pyarrow.parquet as parquet
    except ImportError:
        raise UserError(f"{path}: reading Parquet takes pyarrow: `pip install 'seedbed[parquet]'`.") from None
    try:
        return parquet.read_table(path).to_pylist()
    except (OSError, ValueError) as error:
        raise UserError(f"{path}: not valid Parquet ({error}).") from None


def _csv_rows(path: Path) -> Iterator[Source]:
    """Rows under a header; an empty field is None. A row is named by the line it ends in, as texts may hold breaks."""
    with path.open(encoding="utf-8-sig", newline="") as handle:
        reader = csv.DictReader(handle)
        try:
            for row in reader:
                yield Source(path, reader.line_num, {name: value or None for name, value in row.items()})
        except csv.Error as error:
            raise UserError(f"{path}:{reader.line_num}: not valid CSV ({error}).") from None


def _rows(files: Sequence[Path], make: MakeCase, excluded: dict[str, int], most: int | None) -> list[Case | None]:
    rows: list[Case | None] = []
    seen: set[str] = set()
    for source in [source for file in files for source in read_rows(file)][:most]:
        made = make(source)
        if isinstance(made, str):
            excluded[made] = excluded.get(made, 0) + 1
            rows.append(None)
            continue
        if made.sample_id in seen:
            raise source.error(f"id {made.sample_id!r} stands twice; make them unique.")
        seen.add(made.sample_id)
        rows.append(made)
    return rows


ReadRows = Callable[..., Rows]


def _from_folder(path: Path, rows_of: ReadRows, rule: SplitRule) -> Splits | None:
    """The splits of a folder that has them ready; None for a file or a folder with cases to be split."""
    test, train = _find(path, "test"), _find(path, "train")
    val = _find(path, "val") or _find(path, "dev") or _find(path, "validation")
    if not test:
        return None
    made = Splits([], [], _cases(rows_of(test)))
    if train and not val and rule.train is not None:
        made = replace(rule.train(rows_of(train, rule.train_rows)), test=made.test)
    else:
        made = replace(made, train=_cases(rows_of(train)), val=_cases(rows_of(val)))
    every = [case.sample_id for case in (*made.train, *made.val, *made.test)]
    if len(set(every)) < len(every):
        raise UserError(f"{path}: train, val and test share ids; a case may stand in one of them only.")
    return made


def _all_test(rows: Rows) -> Splits:
    return Splits([], [], _cases(rows))


def _case_files(path: Path) -> list[Path]:
    """A file itself; of a folder its cases, or the question files of its subfolders, as LiveBench has them."""
    if path.is_file():
        return [path]
    subfolders = sorted(folder for folder in path.iterdir() if folder.is_dir())
    found = _find(path, "cases") or _find(path, "question")
    found = found or [file for folder in subfolders for file in _find(folder, "question")]
    if not found:
        shown = ", ".join(_ENDINGS)
        raise UserError(f"{path}: holds neither test nor cases ({shown}); give such a folder, or a file.")
    return found


def _find(folder: Path, name: str) -> list[Path]:
    """`name.jsonl` and the like; else files whose name ends in it (IFBench_test.jsonl), or the numbered parts that the
    hub has (test-00000-of-00002.parquet)."""
    if not folder.is_dir():
        return []
    exact = next((file for ending in _ENDINGS if (file := folder / f"{name}{ending}").is_file()), None)
    if exact is not None:
        return [exact]
    files = sorted(file for file in folder.iterdir() if file.suffix in _ENDINGS and file.is_file())
    named = [file for file in files if file.stem.endswith(f"_{name}")]
    if len(named) > 1:
        shown = ", ".join(file.name for file in named)
        raise UserError(f"{folder}: which is its {name} split, {shown}? Call one of them {name}{named[0].suffix}.")
    return named or [file for file in files if file.stem.startswith(f"{name}-0")]


def _cases(rows: Rows) -> list[Case]:
    return [row for row in rows if row is not None]


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
