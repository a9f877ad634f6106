"""A config is read, or refused in one sentence with file, line, field and remedy."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from seedbed.cli.main import main
from seedbed.errors import UserError
from seedbed.sweep.checks import missing_keys
from seedbed.sweep.config import load_config, schema
from seedbed.sweep.plan import make_plan
from seedbed.sweep.registry import benchmark, get_suite, register_suite, system

GOOD = """\
name: tryout
seeds: [0, 1]
models:
  reader: {model: offline/reader, temperature: 0.7}
experiments:
  - suite: crosslingual
    models: [reader]
    benchmarks: [{name: tiny, limit: 4}]
    systems: [direct, {name: lbrag, level: sentence}]
"""
ROOT = Path(__file__).resolve().parents[3]


def refusal(tmp_path: Path, text: str, *overrides: str) -> str:
    path = tmp_path / "sweep.yaml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(UserError) as caught:
        make_plan(*load_config(path, list(overrides)))
    message = str(caught.value)
    assert "\n" not in message
    return message


def test_a_good_config_gives_a_cell_for_each_seed_and_system(tmp_path: Path) -> None:
    path = tmp_path / "sweep.yaml"
    path.write_text(GOOD, encoding="utf-8")
    plan = make_plan(*load_config(path))
    assert [(c.system, c.seed) for c in plan.cells] == [("direct", 0), ("lbrag", 0), ("direct", 1), ("lbrag", 1)]


def test_an_unknown_key_is_named_with_line_and_nearest_key(tmp_path: Path) -> None:
    message = refusal(tmp_path, GOOD.replace("temperature: 0.7", "temprature: 0.7"))
    assert "sweep.yaml:4: field models.reader.temprature" in message
    assert "did you mean 'temperature'" in message


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        ("suite: crosslingual", "suite: crosslingal", "sweep.yaml:6: field experiments.0.suite: unknown suite"),
        ("[direct,", "[dirct,", "did you mean 'direct'"),
        ("models: [reader]", "models: [raeder]", "did you mean 'reader'"),
        ("{name: tiny, limit: 4}", "{name: tiny, limt: 4}", "unknown option of benchmark 'tiny'; did you mean 'limit'"),
        ("level: sentence", "level: word", "experiments.0.systems.1.level"),
        ("name: tryout", "name: try out", "use letters, digits"),
        ("seeds: [0, 1]", "seeds: [1, 1]", "the same seed stands twice"),
        ("[direct, ", "[direct, direct, ", "'direct' is named twice"),
        ("limit: 4", "path: nowhere", "nowhere does not exist"),
        ("name: tryout", "nme: tryout", "unknown key; did you mean 'name'"),
        ("seeds: [0, 1]", "seeds: [0, 1", "not valid YAML"),
        ("name: tryout", "name: a\nname: b", "written twice"),
    ],
)
def test_a_mistake_is_told_in_one_sentence(tmp_path: Path, before: str, after: str, expected: str) -> None:
    assert expected in refusal(tmp_path, GOOD.replace(before, after, 1))


def test_a_role_with_an_unknown_model_is_refused(tmp_path: Path) -> None:
    assert "roles.judge" in refusal(tmp_path, GOOD + "roles: {judge: gpt}\n")


def test_two_labels_for_the_same_experiment_are_refused(tmp_path: Path) -> None:
    text = GOOD.replace("[direct, ", "[direct, {name: direct, label: again}, ")
    assert "is the same experiment as" in refusal(tmp_path, text)


def test_a_missing_key_variable_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("TRYOUT_KEY", raising=False)
    path = tmp_path / "sweep.yaml"
    path.write_text(GOOD.replace("temperature: 0.7", "api_key_env: TRYOUT_KEY"), encoding="utf-8")
    config, source = load_config(path)
    with pytest.raises(UserError, match=r"sweep\.yaml:4: field models\.reader\.api_key_env: .*TRYOUT_KEY is not set"):
        missing_keys(config, source)


def test_set_overrides_any_field(tmp_path: Path) -> None:
    path = tmp_path / "sweep.yaml"
    path.write_text(GOOD, encoding="utf-8")
    config, _ = load_config(path, ["seeds=[7]", "experiments.0.benchmarks.0.limit=5", "models.reader.max_tokens=9"])
    assert config.seeds == [7]
    assert config.experiments[0].benchmarks[0].options == {"limit": 5}
    assert config.models["reader"].max_tokens == 9


def test_a_mistake_in_an_override_names_the_override(tmp_path: Path) -> None:
    assert refusal(tmp_path, GOOD, "seeds=none").startswith("--set seeds=none: field seeds")
    assert "there is no experiments.3" in refusal(tmp_path, GOOD, "experiments.3.suite=x")


def test_the_config_is_frozen(tmp_path: Path) -> None:
    path = tmp_path / "sweep.yaml"
    path.write_text(GOOD, encoding="utf-8")
    config, _ = load_config(path)
    with pytest.raises(ValueError, match="frozen"):
        config.name = "other"  # type: ignore[misc]


def test_the_schema_file_is_current() -> None:
    stored = json.loads((ROOT / "configs" / "schema.json").read_text(encoding="utf-8"))
    assert stored == json.loads(json.dumps(schema())), "run `make schema`"


@pytest.mark.parametrize("path", sorted((ROOT / "configs").glob("*.yaml")), ids=lambda p: p.name)
def test_every_shipped_config_names_the_schema_and_plans(path: Path) -> None:
    assert path.read_text(encoding="utf-8").startswith("# yaml-language-server: $schema=schema.json\n")
    assert make_plan(*load_config(path)).cells


def test_an_override_reaches_into_a_section_the_config_leaves_out(tmp_path: Path) -> None:
    path = tmp_path / "sweep.yaml"
    path.write_text(GOOD, encoding="utf-8")
    assert load_config(path, ["gate.notify.url_env=HOOK"])[0].gate.notify.url_env == "HOOK"
    assert "did you mean 'gate'?" in refusal(tmp_path, GOOD, "gates.alpha=0.1")


@pytest.mark.parametrize(
    ("more", "field"),
    [
        ("extra: {api_key: something}", "extra.api_key"),
        ("extra: {x-api-key: something}", "extra.x-api-key"),
        ("extra: {extra_headers: {Authorization: x}}", "extra.extra_headers"),
        ("extra: {nested: {password: x}}", "extra.nested.password"),
        ("api_base: 'https://x.org/v1?key=abc'", "api_base"),
        ("api_base: 'https://x.org/v1?a=b&api_key=abc'", "api_base"),
        ("api_base: 'https://x.org/v1?subscription-key=abc'", "api_base"),
        ("api_base: 'https://x.org/v1?a=b;key=abc'", "api_base"),
        ("api_base: 'https://x.org/v1?api%5Fkey=abc'", "api_base"),
        ("api_base: 'https://x.org/v1#token=abc'", "api_base"),
        ("extra: {token: [abcdefgh]}", "extra.token.0"),
        ("extra: {extra_body: {more: [{api_key: abc}]}}", "extra.extra_body.more.0.api_key"),
    ],
)
def test_a_key_in_a_models_request_or_address_is_refused_with_the_remedy(tmp_path: Path, more: str, field: str) -> None:
    path = tmp_path / "sweep.yaml"
    path.write_text(GOOD.replace("model: offline/reader", f"model: offline/reader, {more}"), encoding="utf-8")
    with pytest.raises(UserError, match=rf"field models\.reader\.{field}: .*api_key_env: NAME"):
        load_config(path)


@pytest.mark.parametrize(
    "more",
    [
        "api_base: 'https://x.azure.com/v1?api-version=2024'",
        "extra: {max_tokens: 5}",
        "extra: {max_tokens: '5'}",
        "extra: {stop_tokens: [a, bcdefghij]}",
    ],
)
def test_what_is_no_key_is_taken(tmp_path: Path, more: str) -> None:
    path = tmp_path / "sweep.yaml"
    path.write_text(GOOD.replace("model: offline/reader", f"model: offline/reader, {more}"), encoding="utf-8")
    load_config(path)


@pytest.mark.parametrize("name", ["../up", "a/b", ".hidden", "", "x" * 300])
def test_a_plugins_names_are_held_to_what_a_path_can_take(name: str) -> None:
    with pytest.raises(UserError, match="cannot have this name"):
        benchmark("crosslingual", name)(lambda _options: None)  # type: ignore[arg-type]
    with pytest.raises(UserError, match="cannot have this name"):
        system("crosslingual", name)(lambda _context, _options: None)
    with pytest.raises(UserError, match="cannot have this name"):
        register_suite(replace(get_suite("crosslingual"), name=name))


def test_labels_that_make_too_long_a_folder_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "sweep.yaml"
    path.write_text(GOOD, encoding="utf-8")
    long = f"[{{name: tiny, label: {'t' * 80}}}]", f"[{{name: direct, label: {'d' * 80}}}]"
    overrides = [f"experiments.0.benchmarks={long[0]}", f"experiments.0.systems={long[1]}"]
    config, source = load_config(
        path, [*overrides, f"experiments.0.optimizers=[{{name: Baseline, label: {'o' * 80}}}]"]
    )
    with pytest.raises(UserError, match="too long a name"):
        make_plan(config, source)


def test_a_file_in_the_place_of_the_results_is_said(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "sweep.yaml"
    path.write_text(GOOD, encoding="utf-8")
    for out in (str(path), str(path / "below"), "x\0y", "n" * 5000):
        assert main(["run", str(path), "--out", out]) == 2
        assert capsys.readouterr().err.startswith("seedbed: ")


def test_a_baseline_that_is_no_system_of_its_experiment_is_refused(tmp_path: Path) -> None:
    message = refusal(tmp_path, GOOD + "    baseline: dirct\n")
    assert "baseline 'dirct' is not among this experiment's direct, lbrag" in message
