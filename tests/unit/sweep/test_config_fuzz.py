"""Whatever is done to a config: it plans, or a sentence says what is wrong. SEEDBED_FUZZ=600 tries that many times."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from seedbed.cli.main import main
from seedbed.errors import UserError
from seedbed.storage.hashing import canonical_json
from seedbed.sweep.config import load_config
from seedbed.sweep.plan import make_plan

CONFIGS = sorted((Path(__file__).resolve().parents[3] / "configs").glob("*.yaml"))
NASTY = [
    *("\x00", "\x07", "\x85", "\ud800".encode("utf-8", "surrogatepass").decode("latin-1"), "2020-13-45", "0b_", "0x_"),
    *("*a", "&a [*a]", "{? [a]: b}", "[" * 300, "{a: " * 100, "9" * 5000, "-1", "1e999", ".nan", ".inf", "''", "[]"),
    *("{}", "null", "~", "!!binary x", "!!timestamp x", "!!python/object:os.system x", "!!set {a}", "<<: *x", "'"),
    *('"', "a: b: c", "- -", "|", ">", "%", "@", "`", "plugins: ['']", "../..", "a/b", "x" * 300, "é", "\t", "1_000"),
    *('"\\ud800"', '"\\0"', "0o7", "1:30:00", "yes", "on", "=", "!!int x", "!!float y", "!!bool z", "2001-01-01"),
]
EXAMPLES = int(os.environ.get("SEEDBED_FUZZ", "60"))


@st.composite
def mutated(draw: st.DrawFn) -> str:
    lines = draw(st.sampled_from(CONFIGS)).read_text(encoding="utf-8").splitlines()
    for _ in range(draw(st.integers(1, 3))):
        at = draw(st.integers(0, len(lines) - 1))
        line, nasty = lines[at], draw(st.sampled_from(NASTY))
        match draw(st.sampled_from(["value", "insert", "delete", "double", "indent", "cut", "key"])):
            case "value":
                lines[at] = f"{line.partition(': ')[0]}: {nasty}"
            case "insert":
                column = draw(st.integers(0, len(line)))
                lines[at] = line[:column] + nasty + line[column:]
            case "delete":
                lines[at] = ""
            case "double":
                lines.insert(at, line)
            case "indent":
                lines[at] = f"  {line}"
            case "cut":
                lines[at] = line[: draw(st.integers(0, len(line)))]
            case _:
                lines.insert(at, f"{nasty}: {nasty}")
    return "\n".join(lines)


@settings(
    max_examples=EXAMPLES, deadline=None, derandomize=EXAMPLES == 60, suppress_health_check=[HealthCheck.too_slow]
)
@given(text=mutated())
def test_a_mutated_config_plans_or_is_refused_in_a_sentence(text: str) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "sweep.yaml"
        path.write_bytes(text.encode("utf-8", "surrogatepass"))
        told = _told(path)
    assert "\n" not in told
    assert len(told) < 3000


def test_a_name_of_five_thousand_characters_is_not_quoted_whole(tmp_path: Path) -> None:
    text = next(path for path in CONFIGS if path.name == "crosslingual.yaml").read_text(encoding="utf-8")
    path = tmp_path / "sweep.yaml"
    path.write_text(text.replace("- multi", f"- m{'9' * 5000}ulti"), encoding="utf-8")
    told = _told(path)
    assert "unknown system 'm999" in told
    assert "999ulti' of suite 'crosslingual'; Known: " in told
    assert len(told) < 1000


def _told(path: Path) -> str:
    """What is said of a config; nothing where it plans."""
    try:
        config, source = load_config(path)
        canonical_json(make_plan(config, source).to_json())
    except UserError as error:
        return str(error)
    return ""


BOMB = "a: &a [x, x, x, x, x, x, x, x, x]\n" + "".join(
    f"{name}: &{name} [{', '.join([f'*{chr(ord(name) - 1)}'] * 9)}]\n" for name in "bcdefghi"
)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (BOMB, "stands for more than"),
        ("a: &a [*a]\n", "an alias stands inside"),
        ("a: " + "[" * 200 + "]" * 200, "nested more than 50 deep"),
        ("a: " + "[" * 20_000, "nested more than 50 deep"),
        ("name: a\x07b\n", "does not allow"),
        ('name: "a\\0b"\n', "remove it"),
        ("seeds: [" + "9" * 5000 + "]\n", "too large|cannot be read"),
        ("name: 0b_\n", "cannot be read"),
        ("x: !!python/object/apply:os.system [ls]\n", "is not for configs"),
        ("x: !!binary aGk=\n", "is not for configs"),
    ],
)
def test_yaml_that_nobody_means_is_refused_with_its_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], text: str, told: str
) -> None:
    path = tmp_path / "sweep.yaml"
    path.write_text(text, encoding="utf-8")
    assert main(["plan", str(path)]) == 2
    with pytest.raises(UserError, match=told):
        load_config(path)
    assert capsys.readouterr().err.startswith(f"seedbed: {path}:")


def test_an_alias_and_a_merge_work_as_they_should(tmp_path: Path) -> None:
    path = tmp_path / "sweep.yaml"
    path.write_text(
        "name: x\nseeds: [0]\nmodels:\n  a: &a {model: offline/a, temperature: 0.5}\n  b: {<<: *a, temperature: 0.7}\n"
        "experiments: [{suite: crosslingual, models: [a], benchmarks: [tiny], systems: [direct]}]\n"
        "gate: {notify: {on: [pass]}}\n",
        encoding="utf-8",
    )
    config, _ = load_config(path)
    assert [config.models[name].temperature for name in "ab"] == [0.5, 0.7]
    assert config.models["b"].model == "offline/a"
    assert config.gate.notify.on == ["pass"]
