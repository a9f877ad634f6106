"""A bad night names its culprit: planted causes on an endpoint of our own, through phases, gate, ledger and files."""

from __future__ import annotations

import hashlib
import json
import re
import shutil
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from seedbed.cli.main import main
from seedbed.lm.ledger.database import open_database
from seedbed.lm.ledger.reads import cost_rows
from seedbed.lm.runtime import close_runtimes
from seedbed.nightly.explanation import Explanation
from seedbed.nightly.gate import GateResult
from seedbed.nightly.kept import kept_folder, read_kept
from seedbed.nightly.night import baseline, judge_night, start_night
from seedbed.phases.context import open_run
from seedbed.phases.prepare import prepare
from seedbed.storage.store import Store, read_json
from seedbed.sweep.config import load_config
from seedbed.sweep.plan import Plan, make_plan
from tests.support.loopback import Loopback
from tests.unit.nightly.test_nights import finish

pytestmark = pytest.mark.slow

N = 120
_CONFIG = """\
name: night
seeds: [0]
models:
  reader: {{model: openai/{model}, api_base: {url}, temperature: 0.7, api_key_env: SEEDBED_TEST_KEY, price: {price}}}
  judge: {{model: openai/{judge}, api_base: {url}, temperature: 0, api_key_env: SEEDBED_TEST_KEY, price: {price}}}
roles: {{judge: judge}}
experiments:
  - suite: custom
    models: [reader]
    benchmarks: [{{name: sums, path: sums.csv, inputs: [question], answer: answer}}]
    systems: [{{name: plain, prompt: "{prompt} {{question}}"}}]
    scorers:
      - {{name: helpful, judge: "Is it right?", scale: [0, 1]}}
gate: {{min_effect: 0.05, metrics: {{custom: [helpful]}}, max_cost_growth: null, explain: {explain}}}
"""


class Endpoint:
    """A model that knows some sums and a judge that knows them all, until somebody changes them."""

    def __init__(self) -> None:
        self.skill: dict[str, float] = {"large": 0.85, "small": 0.5}
        self.mercy: dict[str, float] = {"fair": 0.0, "harsh": 0.35}
        """The share of right answers that a judge fails."""
        self.night = 0

    def say(self, body: Mapping[str, Any], name: str) -> dict[str, Any]:
        asked = str(body["messages"][-1]["content"])
        said = self._judged(body["model"], asked) if "right_answer" in asked else self._answered(body["model"], asked)
        return {"role": "assistant", "content": said}

    def _answered(self, model: str, asked: str) -> str:
        number = int(re.findall(r"sum (\d+)", asked)[0])
        # Mostly the same each night; some sums are a matter of luck.
        luck = drawn(number, self.night) if drawn(number, "steady") < 0.2 else drawn(number, "fixed")
        able = self.skill[model] - (0.35 if "Hurry" in asked else 0.0)
        return str(2 * number if luck < able else 2 * number + 1)

    def _judged(self, model: str, asked: str) -> str:
        given, right = (
            re.findall(rf"\[\[ ## {field} ## \]\]\n(\d+)", asked)[0] for field in ("answer", "right_answer")
        )
        fair = given == right and drawn(int(right), model) >= self.mercy[model]
        return f"[[ ## reason ## ]]\nSo it is.\n\n[[ ## score ## ]]\n{int(fair)}\n\n[[ ## completed ## ]]"


def drawn(*parts: object) -> float:
    return int.from_bytes(hashlib.sha256(repr(parts).encode()).digest()[:6], "big") / 2**48


@pytest.fixture(scope="module")
def endpoint() -> Endpoint:
    return Endpoint()


@pytest.fixture(scope="module")
def server(endpoint: Endpoint) -> Iterator[Loopback]:
    with Loopback(say=endpoint.say, exact_tokens=False) as made:
        yield made


@pytest.fixture(scope="module")
def accepted(server: Loopback, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a run that was accepted."""
    folder = tmp_path_factory.mktemp("nights")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SEEDBED_TEST_KEY", "none")
        write_data(folder)
        made = prepare(plan_of(folder, server), folder / "out")
        finish(made)
        baseline.accept(open_run(str(made)))
        close_runtimes()
    return folder


@pytest.fixture
def folder(accepted: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    monkeypatch.setenv("SEEDBED_TEST_KEY", "none")
    shutil.copytree(accepted, tmp_path / "lab")
    yield tmp_path / "lab"
    close_runtimes()


def write_data(folder: Path, wrong: float = 0.0) -> None:
    rows = [f"s{i},sum {i},{2 * i + (1 if drawn(i, 'wrong') < wrong else 0)}" for i in range(N)]
    (folder / "sums.csv").write_text("\n".join(["id,question,answer", *rows]), encoding="utf-8")


def plan_of(folder: Path, server: Loopback, **changes: str) -> Plan:
    settings = {"model": "large", "judge": "fair", "prompt": "Add up:", "explain": "{share: 2}", **changes}
    config = folder / "night.yaml"
    price = "{input: 2.0, output: 8.0}"
    config.write_text(_CONFIG.format(url=server.url, price=price, **settings), encoding="utf-8")
    return make_plan(*load_config(config))


def night(folder: Path, server: Loopback, **changes: str) -> tuple[GateResult, Path]:
    made, _ = start_night(plan_of(folder, server, **changes), folder / "out", print)
    finish(made)
    return judge_night(str(made), "completed")[0], made


def explained(result: GateResult) -> Explanation:
    assert result.explanation is not None
    return result.explanation


def test_a_harsher_judge_is_named_and_the_model_is_not(folder: Path, server: Loopback, endpoint: Endpoint) -> None:
    endpoint.night = 1
    result, made = night(folder, server, judge="harsh")
    found = explained(result)
    assert found.culprits == ["judge"]
    assert found.served == []
    assert found.figures[0].found.unmeasured == []
    # Old answers with the new judge and new answers with the old: two judgings, and no answer asked for again.
    engine = open_database(Store(folder / "out").ledger_url)
    rows = cost_rows(engine, f"night.explain.{made.name}")
    engine.dispose()
    assert {row["role"] for row in rows} == {"judge"}
    assert 0 < (found.spent_usd or 0) < (found.night_usd or 0)
    page = (made / "gate.md").read_text(encoding="utf-8")
    assert "## What moved it" in page
    assert "judge -0." in page
    assert "The explanation cost $0.0" in page
    assert read_json(made / "gate.json")["explanation"]["culprits"] == ["judge"]


def test_a_weaker_model_is_named(folder: Path, server: Loopback, endpoint: Endpoint) -> None:
    endpoint.night = 2
    result, _ = night(folder, server, model="small")
    assert (result.verdict, explained(result).culprits) == ("fail", ["model"])


def test_other_code_is_named(folder: Path, server: Loopback, endpoint: Endpoint) -> None:
    endpoint.night = 3
    result, _ = night(folder, server, prompt="Hurry:")
    assert (result.verdict, explained(result).culprits) == ("fail", ["code"])


def test_two_changes_at_once_are_told_apart_by_tonights_code_with_the_old_model(
    folder: Path, server: Loopback, endpoint: Endpoint
) -> None:
    endpoint.night = 4
    result, _ = night(folder, server, prompt="Hurry up:", model="small")
    assert sorted(explained(result).culprits) == ["code", "model"]


def test_spoilt_data_is_named_and_only_what_changed_is_asked_again(
    folder: Path, server: Loopback, endpoint: Endpoint
) -> None:
    endpoint.night = 5
    write_data(folder, wrong=0.4)
    result, made = night(folder, server)
    assert (result.verdict, explained(result).culprits) == ("inconclusive", ["data"])
    engine = open_database(Store(folder / "out").ledger_url)
    rows = cost_rows(engine, f"night.explain.{made.name}")
    engine.dispose()
    assert {row["role"] for row in rows} == {"judge"}


def test_another_model_behind_the_same_name_is_named_with_the_time(
    folder: Path, server: Loopback, endpoint: Endpoint
) -> None:
    endpoint.night = 6
    server.served["large"] = "large-2026-11"
    endpoint.skill["large"] = 0.5
    try:
        result, _ = night(folder, server)
    finally:
        endpoint.skill["large"] = 0.85
        server.served.clear()
    found = explained(result)
    assert (result.verdict, found.culprits) == ("fail", ["served model"])
    assert re.search(r"reader: served model changed from large to large-2026-11 at \d\d:\d\d UTC", found.headline)


def test_an_unchanged_night_accuses_nobody_even_if_asked(
    folder: Path, server: Loopback, endpoint: Endpoint, capsys: pytest.CaptureFixture[str]
) -> None:
    endpoint.night = 7
    result, _ = night(folder, server)
    assert (result.verdict == "fail", result.explanation) == (False, None)
    assert main(["explain", "night", "--out", str(folder / "out")]) == 0
    assert "no part is shown to have moved the figures" in capsys.readouterr().out


def test_two_runs_are_explained_on_demand_while_both_have_their_answers(
    folder: Path, accepted: Path, server: Loopback, endpoint: Endpoint, capsys: pytest.CaptureFixture[str]
) -> None:
    endpoint.night = 9
    _, made = night(folder, server, judge="harsh")
    (before,) = (accepted / "out/sweeps/night").glob("2*")
    asked = server.books.requests
    assert main(["explain", str(before), str(made), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["culprits"] == ["judge"]
    # The night's own explanation has asked all of this before.
    assert server.books.requests == asked
    (gone,) = (path for path in (folder / "out/sweeps/night").glob("2*") if path != made)
    assert main(["explain", str(gone), str(made)]) == 2
    said = capsys.readouterr().err
    assert "was run again since" in said
    assert "run the other with another --out" in said, "what was meant by the two is to have a way"
    # A cell that is at work once more has no scores at all.
    next((folder / "out").glob("experiment_runs/seed_*/*/done/score.json")).unlink()
    assert main(["explain", str(before), str(made)]) == 2
    assert "was run again since" in capsys.readouterr().err


def test_what_the_cap_does_not_pay_for_is_not_crossed_and_said(
    folder: Path, server: Loopback, endpoint: Endpoint
) -> None:
    endpoint.night = 8
    result, _ = night(folder, server, judge="harsh", explain="{max_usd: 0}")
    found = explained(result)
    assert found.spent_usd == 0
    assert any("too few to cross; `gate.explain` or --max-usd raises it" in note for note in found.notes)
    assert found.culprits == ["judge or served model"]
    result, _ = night(folder, server, judge="harsh", explain="null")
    assert result.explanation is None


def test_a_baseline_keeps_answers_cases_and_models(accepted: Path) -> None:
    path = baseline.current_path(Store(accepted / "out"), "night")
    assert path is not None
    kept = read_kept(kept_folder(path))
    assert kept is not None
    (cell,) = kept.cells.values()
    assert len(kept.read_answers(cell)) == len(kept.read_cases(cell)) == N
    assert kept.models["judge"].model == "openai/fair"
