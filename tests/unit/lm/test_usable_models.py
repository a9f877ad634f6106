"""Models that cannot be asked are refused before anything is started."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from seedbed.cli.main import main
from seedbed.errors import UserError
from seedbed.lm.usable_models import check_model_names, refuse_unusable
from seedbed.storage.yamlfile import YamlFile
from seedbed.sweep.config import SweepConfig, load_config

CONFIG = """\
name: names
seeds: [0]
models:
  m: {%s}
  unused: {model: oflfine/reader}
experiments:
  - {suite: crosslingual, models: [m], benchmarks: [{name: tiny, limit: 1}], systems: [direct]}
"""


@pytest.fixture(autouse=True)
def _no_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("OPENAI_API_KEY", "GEMINI_API_KEY", "GOOGLE_API_KEY"):
        monkeypatch.delenv(name, raising=False)


def loaded(folder: Path, model: str) -> tuple[SweepConfig, YamlFile]:
    path = folder / "names.yaml"
    path.write_text(CONFIG % model, encoding="utf-8")
    return load_config(path)


def test_a_provider_nobody_knows_is_refused_with_the_nearest_one(tmp_path: Path) -> None:
    with pytest.raises(
        UserError, match=r"names.yaml:4.*no provider is called 'oflfine'; did you mean offline/reader\?"
    ):
        check_model_names(*loaded(tmp_path, "model: oflfine/reader"))


def test_nothing_is_fetched_or_printed_to_find_out(tmp_path: Path) -> None:
    loaded(tmp_path, "model: oflfine/reader")
    # In a process of its own: litellm prints and fetches as it is imported.
    said = subprocess.run(
        [sys.executable, "-m", "seedbed", "plan", "names.yaml"], cwd=tmp_path, capture_output=True, text=True
    )
    assert said.stdout == ""
    assert len(said.stderr.splitlines()) == 1


def test_it_is_refused_by_plan_and_run_before_a_server_or_a_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("SEEDBED_HOME", str(tmp_path / "home"))
    loaded(tmp_path, "model: oflfine/reader")
    for command in ("plan", "run"):
        assert main([command, str(tmp_path / "names.yaml"), "--out", str(tmp_path / "out")]) == 2
        assert "did you mean offline/reader?" in capsys.readouterr().err
    assert [path.name for path in tmp_path.iterdir()] == ["names.yaml"]


@pytest.mark.parametrize(
    "model",
    [
        "model: offline/reader",
        "model: ollama_chat/llama3",
        "model: hosted_vllm/mine, api_base: 'http://127.0.0.1:9/v1'",
        "model: bedrock/some-model",
        "model: xinference/mine",
        "model: mine/x, serve: {command: [serve]}",
    ],
)
def test_known_providers_are_let_through(tmp_path: Path, model: str) -> None:
    assert refuse_unusable(*loaded(tmp_path, model)) == []


@pytest.mark.parametrize(
    ("model", "variable"), [("openai/gpt-4.1-mini", "OPENAI_API_KEY"), ("gemini/gemini-2.5-pro", "GEMINI_API_KEY")]
)
def test_a_provider_that_needs_a_key_gets_no_call_without_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, model: str, variable: str
) -> None:
    found = loaded(tmp_path, f"model: {model}")
    with pytest.raises(UserError, match=f"models.m.* needs a key; export {variable}"):
        refuse_unusable(*found)
    monkeypatch.setenv(variable, "planted")
    assert refuse_unusable(*found) == []


@pytest.mark.parametrize(
    ("model", "variable"),
    [
        ("model: gemini/gemini-2.5-pro", "GOOGLE_API_KEY"),
        ("model: openai/gpt-4.1-mini, api_base: 'http://127.0.0.1:9/v1'", ""),
        ("model: openai/gpt-4.1-mini, api_key_env: MINE", "MINE"),
        ("model: openai/gpt-4.1-mini, serve: {command: [serve]}", ""),
    ],
)
def test_a_key_may_come_by_any_of_its_ways(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, model: str, variable: str
) -> None:
    if variable:
        monkeypatch.setenv(variable, "planted")
    assert refuse_unusable(*loaded(tmp_path, model)) == []


def test_a_variable_that_the_config_names_must_be_set(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NOT_SET", raising=False)
    found = loaded(tmp_path, "model: openai/gpt-4.1-mini, api_key_env: NOT_SET")
    with pytest.raises(UserError, match="NOT_SET"):
        refuse_unusable(*found)


@pytest.mark.parametrize(
    "model",
    [
        "model: openai/gpt-4.1-mnii, api_base: 'http://127.0.0.1:9/v1'",
        "model: openai/gpt-4.1-mnii, price: {input: 1, output: 1}",
        "model: openai/gpt-4.1-mnii, serve: {command: [serve]}",
        "model: openai/gpt-4.1-mini",
        "model: openai/nothing-like-any-other",
    ],
)
def test_a_name_that_is_meant_is_no_slip(tmp_path: Path, model: str) -> None:
    assert check_model_names(*loaded(tmp_path, model)) == []


def test_a_name_that_looks_like_a_slip_is_a_warning_since_new_models_come(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "planted")
    told = refuse_unusable(*loaded(tmp_path, "model: openai/gpt-4.1-mnii"))
    assert told == ["models.m.model: openai/gpt-4.1-mnii is not in litellm's list; did you mean openai/gpt-4.1-mini?"]
