"""What a config writes short, written out: variants of a system, scorers under a name of one's own, texts in files."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

from pydantic import TypeAdapter, ValidationError

from seedbed.storage.yamlfile import FieldPath, YamlFile
from seedbed.suite import Options, Suite, resolve
from seedbed.sweep.config import Experiment, ScorerConfig, SweepConfig, SystemConfig
from seedbed.sweep.registry import get_scorer, get_suite, scorer_names

_WORD = re.compile(r"[A-Za-z][A-Za-z0-9._-]{0,23}")


def expanded(config: SweepConfig, source: YamlFile, folder: Path) -> tuple[SweepConfig, YamlFile]:
    """The config as it is planned, and the source that still knows where each of its systems was written."""
    origins: dict[FieldPath, FieldPath] = {}
    experiments: list[Experiment] = []
    for index, experiment in enumerate(config.experiments):
        at: FieldPath = ("experiments", index)
        suite = get_suite(experiment.suite)
        systems: list[SystemConfig] = []
        for number, entry in enumerate(experiment.systems):
            for variant in _systems(suite, entry, source, (*at, "systems", number), folder):
                origins[(*at, "systems", len(systems))] = (*at, "systems", number)
                systems.append(variant)
        scorers = [_scorer(e, source, (*at, "scorers", i), folder) for i, e in enumerate(experiment.scorers)]
        experiments.append(experiment.model_copy(update={"systems": systems, "scorers": scorers}))
    return config.model_copy(update={"experiments": experiments}), replace(source, origins=origins)


def _systems(
    suite: Suite, entry: SystemConfig, source: YamlFile, at: FieldPath, folder: Path
) -> Iterator[SystemConfig]:
    spec = suite.systems.get(entry.name, suite.any_system)
    if spec is None:  # the check of names says so
        yield entry
        return
    kind = resolve(spec.options)
    for label, options in _variants(kind, entry.label, entry.name, entry.options):
        given = _with_texts(kind, options, source, at, folder)
        kept = {name: value for name, value in entry.model_dump().items() if name in SystemConfig.model_fields}
        yield SystemConfig.model_validate({**kept, "label": label, **given})


def _variants(
    kind: type[Options], label: str | None, name: str, options: Mapping[str, Any]
) -> Iterator[tuple[str | None, dict[str, Any]]]:
    """A list where an option takes one value stands for a variant a value; several lists for every combination."""
    swept = next((option for option, value in options.items() if _is_list_of_values(kind, option, value)), None)
    if swept is None:
        yield label, dict(options)
        return
    for place, value in enumerate(options[swept]):
        made = f"{label or name}-{_tag(swept, value, place)}"
        yield from _variants(kind, made, name, {**options, swept: value})


def _is_list_of_values(kind: type[Options], option: str, value: Any) -> bool:
    if not isinstance(value, list) or not value or option not in kind.model_fields:
        return False
    field = TypeAdapter[Any](cast(Any, kind.model_fields[option].annotation))
    return not _takes(field, value) and all(_takes(field, each) for each in value)


def _takes(field: TypeAdapter[Any], value: Any) -> bool:
    try:
        field.validate_python(value)
    except ValidationError:
        return False
    return True


def _tag(option: str, value: Any, place: int) -> str:
    """How a variant is told from the others: by its word, its number, its file, or by counting."""
    if isinstance(value, str):
        word = Path(value).stem if option == "file" else value
        return word if _WORD.fullmatch(word) else f"{option}{place + 1}"
    if isinstance(value, bool):
        return option if value else f"no-{option}"
    return f"{option}{value}" if isinstance(value, int | float) else f"{option}{place + 1}"


def _scorer(entry: ScorerConfig, source: YamlFile, at: FieldPath, folder: Path) -> ScorerConfig:
    """`{name: helpful, judge: "..."}` is the scorer `judge` under the label `helpful`."""
    known = scorer_names()
    kinds = [option for option in entry.options if option in known]
    if entry.name not in known and len(kinds) == 1:
        given = {**entry.options, "name": kinds[0], "label": entry.label or entry.name}
        try:
            entry = ScorerConfig.model_validate(given)
        except ValidationError as error:
            raise source.error((*at, "name"), f"{error.errors()[0]['msg'].removeprefix('Value error, ')}.") from None
    if entry.name not in known:
        return entry
    options = _with_texts(resolve(get_scorer(entry.name).options), entry.options, source, at, folder)
    return ScorerConfig.model_validate({"name": entry.name, "label": entry.label, **options})


def _with_texts(
    kind: type[Options], options: Mapping[str, Any], source: YamlFile, at: FieldPath, folder: Path
) -> dict[str, Any]:
    try:
        return kind.read_files(options, folder)
    except ValueError as error:
        raise source.error(at, f"{error}") from None
