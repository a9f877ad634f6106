"""What a request over Prefect's API may change of a config, and what not."""

from __future__ import annotations

from pathlib import Path

import pytest
from pydantic import ValidationError

from flows.requests import SweepRequest
from seedbed.errors import UserError
from tests.support.sweeps import OFFLINE


@pytest.fixture
def config(tmp_path: Path) -> str:
    path = tmp_path / "tryout.yaml"
    path.write_text(f"{OFFLINE}budget: {{max_usd: 2.0}}\nout: {tmp_path / 'out'}\n", encoding="utf-8")
    return str(path)


@pytest.mark.parametrize(
    "override",
    [
        "models.reader.api_base=http://evil.test/v1",
        "models.reader.api_key_env=OPENAI_API_KEY",
        "models.reader.extra.user=x",
        "models.reader={model: openai/x, api_base: http://evil.test/v1}",
        "models.reader.options={ability: 1}",
        "models={}",
        "plugins=[evil]",
        "plugins.0=evil",
        "out=/tmp/elsewhere",
        "ledger=sqlite:////tmp/x",
        "budget.max_usd=100",
        "budget={}",
        "gate.notify.url_env=HOME",
        "experiments.0.benchmarks.0.path=/etc/passwd",
        "runner.address=tcp://evil.test:1",
        "runner={kind: dask, address: tcp://evil.test:1}",
        "runner.workers.address=tcp://evil.test:1",
        "models.reader.options.ability.x=1",
        "models.reader.limits={concurrency: 1}",
        "models.*.api_base=http://evil.test/v1",
        "models..api_base=http://evil.test/v1",
        "models.reader.api_base\u200b=http://evil.test/v1",
        "budget.max_usd_per_cell=100",
        " plugins=[evil]",
        "store_bodies=true",
        "name=../evil",
        "",
    ],
)
def test_what_is_for_the_config_alone_is_refused(config: str, override: str) -> None:
    with pytest.raises(UserError, match="a request may change"):
        SweepRequest(config=config, overrides=[override]).plan()


def test_harmless_fields_may_be_changed(config: str) -> None:
    asked = ["runner.workers=2", "models.reader.options.ability=0.3", "max_error_share=0.5"]
    plan, _ = SweepRequest(config=config, overrides=asked, seeds=[7]).plan()
    assert plan.config.runner.workers == 2
    assert plan.config.models["reader"].options["ability"] == 0.3
    assert plan.config.seeds == [7]


def test_a_budget_can_be_lowered_and_not_raised(config: str) -> None:
    plan, _ = SweepRequest(config=config, max_usd=1.0).plan()
    assert plan.config.budget.max_usd == 1.0
    with pytest.raises(UserError, match="can lower the budget and not raise it"):
        SweepRequest(config=config, max_usd=2.1).plan()


@pytest.mark.parametrize("field", [{"out": "/tmp/x"}, {"max_usd": float("inf")}, {"max_usd": float("nan")}])
def test_where_results_go_is_no_field_of_a_request(config: str, field: dict[str, object]) -> None:
    with pytest.raises(ValidationError):
        SweepRequest.model_validate({"config": config, **field})


def test_the_form_names_the_fields_in_words_that_markdown_leaves_alone() -> None:
    told = SweepRequest.model_json_schema()["properties"]["overrides"]["description"]
    assert "models.NAME.temperature" in told
    assert "*" not in told
