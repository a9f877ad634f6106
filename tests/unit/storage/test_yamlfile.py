"""A config as it is written: where every field stands, what is refused, and what `--set` changes."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
import yaml

from seedbed.errors import UserError
from seedbed.storage import yamlfile
from seedbed.storage.yamlfile import YamlFile, read_yaml

TEXT = """\
name: first
models:
  reader:
    model: x

  writer: {model: y, price: [1, 2]}
systems:
  - one
  -
    name: two
"""


def written(folder: Path, text: str) -> Path:
    path = folder / "sweep.yaml"
    path.write_text(text, encoding="utf-8")
    return path


def read(folder: Path, text: str, *overrides: str) -> YamlFile:
    return read_yaml(written(folder, text), list(overrides))


def refused(folder: Path, text: str, *overrides: str) -> str:
    with pytest.raises(UserError) as told:
        read(folder, text, *overrides)
    return str(told.value).removeprefix(f"{folder}/")


def test_every_field_has_its_line(tmp_path: Path) -> None:
    found = read(tmp_path, TEXT)
    assert found.data["systems"] == ["one", {"name": "two"}]
    expected: dict[tuple[str | int, ...], int] = {
        ("name",): 1,
        ("models",): 2,
        ("models", "reader"): 3,
        ("models", "reader", "model"): 4,
        ("models", "writer"): 6,
        ("models", "writer", "price"): 6,
        ("models", "writer", "price", 1): 6,
        ("systems",): 7,
        ("systems", 0): 8,
        ("systems", 1): 10,
        ("systems", 1, "name"): 10,
    }
    assert {at: found.lines[at] for at in expected} == expected


def test_a_field_is_named_with_the_line_of_the_nearest_that_is_written(tmp_path: Path) -> None:
    found = read(tmp_path, TEXT)
    path = tmp_path / "sweep.yaml"
    assert found.where(("models", "reader", "model")) == f"{path}:4: field models.reader.model"
    assert found.where(("models", "reader", "key", 0)) == f"{path}:3: field models.reader.key.0"
    assert found.where(("seeds",)) == f"{path}: field seeds"
    assert found.where(()) == str(path)
    assert str(found.error(("name",), "is taken.")) == f"{path}:1: field name: is taken."


def test_a_field_that_was_made_from_another_is_looked_for_there(tmp_path: Path) -> None:
    found = read(tmp_path, TEXT)
    made = YamlFile(found.path, found.data, found.lines, {}, {("experiments", 0): ("models", "reader")})
    assert made.where(("experiments", 0, "model")).endswith(":4: field models.reader.model")
    assert made.where(("experiments", 0)).endswith(":3: field models.reader")
    assert made.where(("experiments", 1)).endswith(": field experiments.1")


def test_a_field_of_an_override_is_named_by_it(tmp_path: Path) -> None:
    found = read(tmp_path, TEXT, "models.reader={model: z}")
    assert found.where(("models", "reader", "model")) == "--set models.reader={model: z}: field models.reader.model"
    assert found.where(("models", "writer")).endswith("sweep.yaml:6: field models.writer")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("name: a\nname: b\n", "sweep.yaml:2: field name: written twice; remove one."),
        ("a:\n  b: 1\n  c: 2\n  b: 3\n", "sweep.yaml:4: field a.b: written twice; remove one."),
        ("name: a\nb: !!python/name:os.system x\n", "sweep.yaml:2: field b: the tag tag:yaml.org,2002:python/name"),
        ("!!set {a}\n", "sweep.yaml:1: the tag tag:yaml.org,2002:set is not for configs"),
        ("name: a\n? [x]\n: 1\n", "sweep.yaml:2: field : a name is a word, not a list or a mapping."),
        ("name: a\nn: .nan\n", "sweep.yaml:2: field n: is not a number; leave the field out"),
        ("name: a\nn: 9223372036854775808\n", "sweep.yaml:2: field n: a number of 19 digits is too large."),
        ("name: a\nn: -9223372036854775808\n", "sweep.yaml:2: field n: a number of 20 digits is too large."),
        ('name: "a\\u0007"\n', "sweep.yaml:1: field name: holds the character '\\x07'; remove it."),
        ('name: a\n"b\\0": 1\n', "sweep.yaml:2: field : holds the character '\\x00'; remove it."),
        ("name: a\nb: [1\n", "sweep.yaml:3: not valid YAML"),
        ("name: a\nb: \x07\n", "sweep.yaml:2: holds the character "),
        ("\nname: \x07\n", "sweep.yaml:2: holds the character "),
        ("name: a\nb: &x\n  c: *x\n", "sweep.yaml:2: an alias stands inside what it names; write it out."),
        ("- a\n", "sweep.yaml: a sweep is a YAML mapping that starts with 'name:'."),
        ("", "sweep.yaml: a sweep is a YAML mapping that starts with 'name:'."),
    ],
)
def test_what_cannot_be_meant_is_refused_with_its_line(tmp_path: Path, text: str, said: str) -> None:
    assert refused(tmp_path, text).startswith(said)


def test_what_can_be_meant_is_kept_as_it_is_written(tmp_path: Path) -> None:
    text = "on: yes\n1: 9223372036854775807\nday: 2024-01-01\nnone: ~\nbig: .inf\nzero: -0.5\ntext: 'a\tb'\n"
    assert read(tmp_path, text).data == {
        "on": True,
        "1": 9223372036854775807,
        "day": "2024-01-01",
        "none": None,
        "big": float("inf"),
        "zero": -0.5,
        "text": "a\tb",
    }


def test_a_merged_mapping_may_be_overridden_without_being_written_twice(tmp_path: Path) -> None:
    found = read(tmp_path, "base: &b {x: 1, y: 2}\nown:\n  <<: *b\n  x: 3\n")
    assert found.data["own"] == {"x": 3, "y": 2}


def test_fifty_levels_are_deep_enough(tmp_path: Path) -> None:
    read(tmp_path, "a: " + "[" * 49 + "]" * 49)
    assert refused(tmp_path, "name: a\nb: " + "[" * 50 + "]" * 50) == (
        "sweep.yaml:2: nested more than 50 deep; a config is not."
    )
    # One beside the other is not one in the other.
    read(tmp_path, "a:\n" + "- [[[[1]]]]\n" * 60)
    beside = "a:\n" + "- []\n" * 10
    assert refused(tmp_path, beside + "- " + "[" * 50 + "]" * 50).startswith("sweep.yaml:12: nested more than 50 deep")


def test_aliases_count_as_if_they_were_written_out(tmp_path: Path) -> None:
    ten = "\n".join(f"a{i}: &a{i} [{', '.join([f'*a{i - 1}'] * 10)}]" for i in range(1, 5))
    start = "name: a\na0: &a0 [1, 2, 3, 4, 5, 6, 7]\n"
    # 8 and 81 and 811 and 8,111 and 81,111 fields: 90,123 with their names and the whole.
    assert read(tmp_path, start + ten).data["a4"]
    more = f"{start}{ten}\nb: *a4\n"
    assert refused(tmp_path, more).startswith("sweep.yaml:1: stands for more than 100000 fields; use fewer aliases.")


@pytest.mark.parametrize(
    ("override", "at", "value"),
    [
        ("name=second", ("name",), "second"),
        ("models.reader.model=3", ("models", "reader", "model"), 3),
        ("systems.0=zero", ("systems", 0), "zero"),
        ("systems.1.name=zwei", ("systems", 1, "name"), "zwei"),
        ("budget.max_usd=0.5", ("budget", "max_usd"), 0.5),
        ("name=", ("name",), None),
        ("name=a=b", ("name",), "a=b"),
        ("models.1234567890.model=x", ("models", "1234567890", "model"), "x"),
        ("models.7=x", ("models", "7"), "x"),
    ],
)
def test_an_override_changes_its_field_and_no_other(
    tmp_path: Path, override: str, at: tuple[str | int, ...], value: Any
) -> None:
    expected: Any = read(tmp_path, TEXT).data
    inner = expected
    for part in at[:-1]:
        inner = inner[part] if isinstance(part, int) else inner.setdefault(part, {})
    inner[at[-1]] = value
    assert read(tmp_path, TEXT, override).data == expected


@pytest.mark.parametrize(
    ("override", "said"),
    [
        ("name", "write it as field.path=value"),
        ("=1", "write it as field.path=value"),
        ("systems.2=x", "systems.2 is not in the list of 2 items."),
        ("systems.x=1", "systems.x is not in the list of 2 items."),
        ("systems.2.name=x", "there is no systems.2 in the config."),
        ("systems.name.x=1", "there is no systems.name in the config."),
        ("name.x=1", "name has no fields."),
        ("name.x.y=1", "there is no name.x in the config."),
        ("models.0.x=1", "there is no models.0 in the config."),
        ("name=[1", "not valid YAML"),
    ],
)
def test_an_override_that_leads_nowhere_is_refused(tmp_path: Path, override: str, said: str) -> None:
    assert re.match(r"--set ", told := refused(tmp_path, TEXT, override))
    assert said in told


def test_files_that_cannot_be_read_are_named(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"none\.yaml: no such file; give the path of a sweep's YAML file\."):
        read_yaml(tmp_path / "none.yaml")
    with pytest.raises(UserError, match="cannot be read"):
        read_yaml(tmp_path)
    large = tmp_path / "large.yaml"
    large.write_bytes(b"#" * 10_000_001)
    with pytest.raises(UserError, match=r"large\.yaml: larger than 10 MB; a night is a YAML mapping\."):
        read_yaml(large, shape="a night is a YAML mapping")


def test_a_config_may_be_as_large_as_the_limit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(yamlfile, "_MAX_BYTES", 8)
    assert read(tmp_path, "name: a\n").data == {"name": "a"}
    assert refused(tmp_path, "name: ab\n").startswith("sweep.yaml: larger than")


def test_a_config_may_have_as_many_fields_as_the_limit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # The whole, a name, a list and its two entries.
    monkeypatch.setattr(yamlfile, "_MAX_FIELDS", 5)
    assert read(tmp_path, "a: [1, 2]\n").data == {"a": [1, 2]}
    assert refused(tmp_path, "\na: [1, 2, 3]\n") == "sweep.yaml:2: stands for more than 5 fields; use fewer aliases."


def test_what_was_made_from_other_fields_is_named_as_it_was_written(tmp_path: Path) -> None:
    written = read(tmp_path, TEXT)
    made = YamlFile(written.path, {}, written.lines, origins={("made",): ("models",), ("made", "b", 0): ("systems", 1)})
    path = tmp_path / "sweep.yaml"
    assert made.where(("made", "reader", "model")) == f"{path}:4: field models.reader.model"
    assert made.where(("made",)) == f"{path}:2: field models"
    assert made.where(("made", "b", 0, "name")) == f"{path}:10: field systems.1.name"
    assert made.where(("name",)) == f"{path}:1: field name"


def test_what_was_set_is_named_before_what_is_written(tmp_path: Path) -> None:
    found = read(tmp_path, TEXT, "models.reader.model=z", "systems=[{name: x}]")
    assert found.where(("models", "reader", "model")) == "--set models.reader.model=z: field models.reader.model"
    assert found.where(("models", "reader")) == f"{tmp_path}/sweep.yaml:3: field models.reader"
    # The list that is written there holds another second entry.
    assert found.where(("systems", 1, "name")) == "--set systems=[{name: x}]: field systems.1.name"


@pytest.mark.parametrize(("text", "value"), [("yes", True), ("false", False), ("~", None), ("", None)])
def test_truths_and_nothing_are_values(tmp_path: Path, text: str, value: object) -> None:
    assert read(tmp_path, f"a: {text}\n").data == {"a": value}


def test_an_error_without_a_place_is_told_of_the_first_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def parse(*_: object, **__: object) -> None:
        raise yaml.MarkedYAMLError(problem="odd")

    monkeypatch.setattr(yaml, "parse", parse)
    assert refused(tmp_path, "a: 1\n") == "sweep.yaml:1: not valid YAML (odd); mend the indentation or quotes."
