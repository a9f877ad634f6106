"""Rows of Hugging Face data sets, saved to disk or in the local cache, by the package `datasets`. Nothing is downloaded
here: what a sweep reads is there before it is planned."""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any, cast

from seedbed.errors import UserError
from seedbed.storage.paths import HUB, is_hub
from seedbed.suites.kit.rows import Row

_SPLITS = "dataset_dict.json"
_SAVED = ("state.json", _SPLITS)
"""Files by which a folder is known that `save_to_disk` wrote."""


def is_data_set(path: Path) -> bool:
    """Whether a path is hf:NAME/CONFIG/SPLIT or a folder that `save_to_disk` wrote."""
    return is_hub(path) or any((path / name).is_file() for name in _SAVED)


def data_set_rows(path: Path) -> Iterator[Row]:
    """Counted from 1. Columns of class labels hold the names of the classes."""
    found = _cached(path) if is_hub(path) else _saved(path)
    names = _class_names(found)
    number = 0
    try:
        for number, row in enumerate(found, start=1):
            yield Row(path, number, {**row, **{n: _class(own, row[n]) for n, own in names.items()}}, number)
    except UserError:
        raise
    except Exception as error:  # its columns decode what they hold, each with errors of its own
        raise UserError(f"{path}:{number + 1}: cannot be read ({_first_line(error)}); save it anew.") from None
    if not number:
        raise UserError(f"{path}: holds no row; each is a case.")


def _saved(path: Path) -> Any:
    if (path / _SPLITS).is_file():
        splits = sorted(own.name for own in path.iterdir() if own.is_dir())
        shown = ", ".join(splits) or "none"
        raise UserError(f"{path}: is a data set of several splits; name the folder of one (there are {shown}).")
    library = _library(path)
    try:
        return library.load_from_disk(str(path))
    except Exception as error:
        raise UserError(f"{path}: cannot be read as a data set ({_first_line(error)}); save it anew.") from None


def _cached(path: Path) -> Any:
    name, config, split = _parts(path)
    cache = _library(path, "datasets.packaged_modules.cache.cache")
    try:
        builder: Any = cache.Cache(
            dataset_name=name.rpartition("/")[2], repo_id=name, config_name=config, version="auto", hash="auto"
        )
        builder.download_and_prepare()
        return builder.as_dataset(split=split)
    except Exception:
        load = f"load_dataset({name!r}, {config!r}, split={split!r})"
        raise UserError(
            f"{path}: is not in the local cache, and Seedbed downloads nothing by itself; once, with a network: "
            f'python -c "from datasets import load_dataset; {load}"'
        ) from None


def _parts(path: Path) -> tuple[str, str, str]:
    """NAME is one word, or two with a slash between."""
    parts = str(path).removeprefix(HUB).split("/")
    if len(parts) not in (3, 4) or not all(parts):
        raise UserError(f"{path}: is no data set; write hf:NAME/CONFIG/SPLIT, as in hf:openai/gsm8k/main/test.")
    return "/".join(parts[:-2]), parts[-2], parts[-1]


def _library(path: Path, module: str = "datasets") -> Any:
    try:
        return importlib.import_module(module)
    except ImportError:
        raise UserError(f"{path}: needs the package datasets; pip install 'seedbed[datasets]'.") from None


def _class_names(found: Any) -> dict[str, list[str]]:
    features = cast("dict[str, Any]", found.features)
    return {name: list(kind.names) for name, kind in features.items() if type(kind).__name__ == "ClassLabel"}


def _class(names: list[str], value: int | None) -> str | None:
    """-1 marks a row without a label."""
    return names[value] if value is not None and 0 <= value < len(names) else None


def _first_line(error: Exception) -> str:
    return (str(error).splitlines() or [type(error).__name__])[0][:200].rstrip(".")
