"""From a public file, or a folder of splits, to the cases of a benchmark."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import islice
from pathlib import Path

from seedbed.errors import UserError
from seedbed.suite import Benchmark, Case
from seedbed.suites.kit.rows import Row, UniqueIds, read_rows
from seedbed.suites.kit.splits import Sizes, Splits
from seedbed.suites.prompt_optimization.options import SplitOptions
from seedbed.suites.prompt_optimization.split_rules import Rows, SplitRule, sampled

DATA = Path(__file__).parent / "data"
_ENDINGS = (".jsonl", ".json", ".csv", ".parquet")
_CORPUS = "corpus.jsonl"
_SHAPES: Mapping[str, str] = {
    "HotpotQABench": "{id, question, answer, supporting_facts, context}",
    "hoverBench": "{uid, claim, supporting_facts}",
    "Papillon": "{user_query, target_response, pii_units}",
    "IFBench": "{key, prompt, instruction_id_list, kwargs}",
    "LiveBenchMathBench": "{question_id, task, turns, ground_truth}",
    "AIMEBench": "{id, problem, answer}",
}

MakeCase = Callable[[Row], Case | str]
"""A case, or the reason why the row is left out."""


def load(benchmark: str, options: SplitOptions, make: MakeCase, rule: SplitRule) -> Benchmark:
    """The splits of a file or folder, sampled down to the benchmark's sizes, with counts of what was left out."""
    path = options.path or DATA / benchmark
    excluded: dict[str, int] = {}

    def rows_of(files: Sequence[Path], most: int | None = None) -> Rows:
        read = (row for file in files for row in read_rows(file, shape=_SHAPES[benchmark]))
        return _rows(islice(read, most), make, excluded)

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


def corpus_file(path: Path | None, benchmark: str) -> Path | None:
    """The corpus.jsonl beside a benchmark's cases, if there is one."""
    folder = path or DATA / benchmark
    file = folder / _CORPUS if folder.is_dir() else folder.with_name(_CORPUS)
    return file if file.exists() else None


def _rows(read: Iterable[Row], make: MakeCase, excluded: dict[str, int]) -> list[Case | None]:
    rows: list[Case | None] = []
    ids = UniqueIds("id")
    for row in read:
        made = make(row)
        if isinstance(made, str):
            excluded[made] = excluded.get(made, 0) + 1
            rows.append(None)
        else:
            ids.add(row, made.sample_id)
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
    if not path.is_dir():
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
