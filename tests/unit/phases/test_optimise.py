"""The optimise phase on the AIME sample: what it finds, what it writes, what it counts, and what must end it."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pandas
import pytest
from sqlalchemy import text

from seedbed.errors import BudgetReached, CellFailed, Interrupted
from seedbed.lm.ledger.reads import history
from seedbed.lm.runtime import close_runtimes
from tests.support.cells import Prepared, prepared
from tests.support.offline_server import OfflineServer

pytestmark = pytest.mark.slow

CONFIG = """\
name: search
seeds: {seeds}
models:
  small: {small}
  mind: {mind}
roles: {{reflection: mind}}
{extra}
experiments:
  - suite: prompt_optimization
    models: [small]
    benchmarks: [{{name: AIMEBench, repeats: 1}}]
    systems: [CoT]
    optimizers: {optimizers}
"""
SMALL = "{model: offline/small, temperature: 0.7, options: {ability: 0.92, noise: 0.05}}"


@pytest.fixture(autouse=True)
def _runtimes() -> Iterator[None]:
    yield
    close_runtimes()


def _config(folder: Path, **changes: Any) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    values = {"seeds": [0], "small": SMALL, "mind": SMALL, "extra": "", "optimizers": "[Baseline, GEPA-5]"} | changes
    path = folder / "search.yaml"
    path.write_text(CONFIG.format(**values), encoding="utf-8")
    return path


def _ready(folder: Path, **changes: Any) -> Prepared:
    return prepared(_config(folder, **changes), folder / "out")


def _ledger(ready: Prepared, query: str, **values: Any) -> Any:
    with ready.runtime().ledger.engine.connect() as connection:
        return connection.execute(text(query), values).one()


def _comparable(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [{name: value for name, value in row.items() if name != "seconds"} for row in rows]


def _scores(folder: Path, **changes: Any) -> tuple[float, float]:
    """Test scores without and with the optimizer."""
    ready = _ready(folder, **changes)
    base, tuned = (ready.all_phases(ready.cell(name)) for name in ("Baseline", "GEPA-5"))
    return base["metrics"]["score"], tuned["metrics"]["score"]


def test_gepa_finds_a_better_prompt_than_the_baseline(tmp_path: Path) -> None:
    base, tuned = _scores(tmp_path)
    assert tuned > base + 0.2


def test_a_model_that_cannot_reflect_brings_no_gain(tmp_path: Path) -> None:
    dull = "{model: offline/dull, temperature: 0.7, options: {ability: 0.0}}"
    base, tuned = _scores(tmp_path, mind=dull)
    assert tuned <= base + 0.05


def test_noise_that_drowns_the_model_takes_the_gain_away(tmp_path: Path) -> None:
    noisy = "{model: offline/small, temperature: 0.7, options: {ability: 0.92, noise: 1.0}}"
    base, tuned = _scores(tmp_path, small=noisy)
    assert tuned <= base + 0.05


def test_the_files_of_an_optimised_cell(tmp_path: Path) -> None:
    ready = _ready(tmp_path)
    cell = ready.cell("GEPA-5")
    ready.all_phases(cell)
    folder = ready.folder(cell)
    assert folder.relative_to(ready.root).as_posix() == "experiment_runs/seed_0/AIMEBench_CoT_GEPA-5_small"
    program = json.loads((folder / "program.json").read_text())
    candidates = ready.rows(cell, "candidates.jsonl")
    chosen = [row for row in candidates if row["chosen"]]
    assert [row["instructions"] for row in chosen] == [program["instructions"]]
    assert candidates[0]["instructions"]["solve.predict"].startswith("Given the fields `problem`")
    assert chosen[0]["val_score"] == max(row["val_score"] for row in candidates if row["whole_val"])
    logged = sum(len(ready.rows(cell, f"metric_logs/{split}.jsonl")) for split in ("train", "val"))
    assert logged == json.loads((folder / "done/optimise.json").read_text())["result"]["metric_calls"]
    assert len(ready.rows(cell, "metric_logs/test.jsonl")) == 12
    phases = {row["phase"] for row in ready.rows(cell, "lm_history.jsonl")}
    assert phases == {"optimise", "generate"}


def test_gepa_n_ends_after_n_evaluations_of_all_of_val(tmp_path: Path) -> None:
    ready = _ready(tmp_path, optimizers="[GEPA-3]")
    cell = ready.cell("GEPA-3")
    ready.phase(cell, "optimise")
    assert len(ready.rows(cell, "metric_logs/val.jsonl")) == 3 * 24, "the base program's is one of them"
    assert ready.rows(cell, "metric_logs/train.jsonl"), "minibatches come on top"


def test_gepa_n_gives_up_where_the_program_is_perfect_on_train(tmp_path: Path) -> None:
    perfect = "{model: offline/able, temperature: 0.7, options: {ability: 1.0, noise: 0.0}}"
    ready = _ready(tmp_path, optimizers="[GEPA-9]", small=perfect, mind=perfect)
    cell = ready.cell("GEPA-9")
    done = ready.phase(cell, "optimise")
    assert done["val_score_after"] == 1.0
    assert len(ready.rows(cell, "metric_logs/val.jsonl")) < 9 * 24


def test_gepa_with_a_budget_of_its_own_counts_minibatches_too(tmp_path: Path) -> None:
    ready = _ready(tmp_path, optimizers="[{name: GEPA, max_metric_calls: 60}]")
    done = ready.phase(ready.cell("GEPA"), "optimise")
    assert 60 <= done["metric_calls"] < 60 + 24 + 6


def test_result_json_names_benchmark_and_program_and_the_scores_of_all_candidates(tmp_path: Path) -> None:
    ready = _ready(tmp_path)
    for name in ("Baseline", "GEPA-5"):
        ready.all_phases(ready.cell(name))
    base, tuned = (
        json.loads((ready.folder(ready.cell(name)) / "evaluation_results/result.json").read_text())
        for name in ("Baseline", "GEPA-5")
    )
    assert (base["benchmark"], base["program"], base["optimizer_program_scores"]) == ("AIMEBench", "CoT", None)
    rows = [row for row in ready.rows(ready.cell("GEPA-5"), "candidates.jsonl") if row["whole_val"]]
    assert tuned["optimizer_program_scores"] == [100.0 * row["val_score"] for row in rows]
    assert len(rows) > 1


def test_the_learning_curve_counts_up_to_what_the_phase_used(tmp_path: Path) -> None:
    ready = _ready(tmp_path)
    cell = ready.cell("GEPA-5")
    usage = ready.phase(cell, "optimise")["usage"]
    points = [row for row in ready.rows(cell, "candidates.jsonl") if row["whole_val"]]
    for name, total in (
        ("lm_calls", usage["calls"]),
        ("tokens_in", usage["tokens_in"]),
        ("list_usd", usage["list_usd"]),
    ):
        values = [point[name] for point in points]
        assert values == sorted(values)
        assert 0 < values[0] < values[-1] <= total + 1e-12


def test_evaluation_result_has_these_bytes_and_pandas_reads_them(tmp_path: Path) -> None:
    ready = _ready(tmp_path)
    for name in ("Baseline", "GEPA-5"):
        ready.all_phases(ready.cell(name))
    base, tuned = (
        ready.folder(ready.cell(name)) / "evaluation_results" / "evaluation_result.txt"
        for name in ("Baseline", "GEPA-5")
    )
    header, row, rest = base.read_bytes().split(b"\n")
    assert header == b"score,cost,input_tokens,output_tokens,"
    assert row.endswith(b",")
    assert row.count(b",") == 4
    assert rest == b""
    header, row, rest = tuned.read_bytes().split(b"\n")
    assert header == (
        b"score,cost,input_tokens,output_tokens,optimizer,optimizer_cost,optimizer_input_tokens,optimizer_output_tokens"
    )
    assert row.endswith(b",")
    assert row.count(b",") == 8
    assert b",GEPA-5," in row
    assert rest == b""
    read = pandas.read_csv(tuned, index_col=False).iloc[0]
    for phase, prefix in (("generate", ""), ("optimise", "optimizer_")):
        sums = _ledger(
            ready,
            "SELECT sum(i) AS i, sum(o) AS o, sum(usd) AS usd FROM (SELECT max(tokens_in) i, max(tokens_out) o, "
            "max(list_usd) usd FROM attempts WHERE cell = :cell AND phase = :phase GROUP BY key)",
            cell=ready.cell("GEPA-5").id,
            phase=phase,
        )
        assert read[f"{prefix}input_tokens"] == sums.i
        assert read[f"{prefix}output_tokens"] == sums.o
        assert read[f"{prefix}cost"] == pytest.approx(sums.usd, abs=1e-12)


def test_the_ledger_and_the_endpoint_agree_on_every_token(tmp_path: Path) -> None:
    with OfflineServer() as server:
        served = (
            f"{{model: openai/served, api_base: '{server.url}', temperature: 0.7, price: {{input: 0.4, output: 1.6}}}}"
        )
        ready = _ready(tmp_path, small=served, mind=served)
        ready.all_phases(ready.cell("GEPA-5"))
        result = json.loads((ready.folder(ready.cell("GEPA-5")) / "evaluation_results/result.json").read_text())
        bill = server.bill
    assert result["input_tokens"] + result["optimizer_input_tokens"] == bill.tokens_in
    assert result["output_tokens"] + result["optimizer_output_tokens"] == bill.tokens_out
    assert result["calls"] + result["optimizer_calls"] == bill.requests
    spent = result["paid"] + result["optimizer_paid"]
    assert spent == pytest.approx(bill.tokens_in * 0.4e-6 + bill.tokens_out * 1.6e-6)
    assert result["score"] > 0


def test_two_cells_optimised_at_once_keep_their_own_books(tmp_path: Path) -> None:
    apart = _ready(tmp_path / "apart", seeds=[0, 1])
    cells = [apart.cell("GEPA-5", seed) for seed in (0, 1)]
    expected = [(apart.phase(cell, "optimise"), apart.rows(cell, "candidates.jsonl")) for cell in cells]
    together = _ready(tmp_path / "together", seeds=[0, 1])
    threads = [threading.Thread(target=together.phase, args=(cell, "optimise")) for cell in cells]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for cell, (before, rows) in zip(cells, expected, strict=True):
        after = together.phase(cell, "optimise")
        for name in ("calls", "tokens_in", "tokens_out", "list_usd"):
            assert after["usage"][name] == pytest.approx(before["usage"][name])
        assert after["metric_calls"] == before["metric_calls"]
        assert _comparable(together.rows(cell, "candidates.jsonl")) == _comparable(rows)


def test_the_number_of_threads_changes_neither_the_path_nor_the_cell(tmp_path: Path) -> None:
    one = _ready(tmp_path / "one", optimizers="[{name: GEPA-5, threads: 1}]")
    many = _ready(tmp_path / "many", optimizers="[{name: GEPA-5, threads: 8}]")
    assert one.cell("GEPA-5").id == many.cell("GEPA-5").id
    found = []
    for ready in (one, many):
        ready.phase(ready.cell("GEPA-5"), "optimise")
        found.append(_comparable(ready.rows(ready.cell("GEPA-5"), "candidates.jsonl")))
    assert found[0] == found[1]


def test_a_provider_failure_ends_the_phase_and_never_becomes_a_score(tmp_path: Path) -> None:
    broken = "{model: offline/small, temperature: 0.7, retries: 0, options: {errors: {server: 0.05}}}"
    ready = _ready(tmp_path, small=broken)
    cell = ready.cell("GEPA-5")
    with pytest.raises(CellFailed, match=r"the optimisation cannot go on \(server: .*Run again"):
        ready.phase(cell, "optimise")
    assert not (ready.folder(cell) / "program.json").exists()


def test_failures_that_retries_mend_leave_the_path_as_it_was(tmp_path: Path) -> None:
    shaky = SMALL.replace("ability", "errors: {server: 0.08, rate_limit: 0.04}, ability").replace(
        "0.7,", "0.7, backoff_s: 0.0,"
    )
    calm, hard = _ready(tmp_path / "calm"), _ready(tmp_path / "hard", small=shaky, mind=shaky)
    results = [ready.phase(ready.cell("GEPA-5"), "optimise") for ready in (calm, hard)]
    assert results[1]["usage"]["outcomes"]["failed"] > 0
    rows = [_comparable(ready.rows(ready.cell("GEPA-5"), "candidates.jsonl")) for ready in (calm, hard)]
    assert rows[0] == rows[1]


def test_the_dollar_cap_stops_a_search_which_then_goes_on_where_it_was(tmp_path: Path) -> None:
    whole = _ready(tmp_path / "whole")
    expected = whole.phase(whole.cell("GEPA-5"), "optimise")
    close_runtimes()
    capped = _ready(
        tmp_path / "capped", extra="budget: {max_usd: 0.004}", small=SMALL.replace("0.7,", "0.7, max_tokens: 50,")
    )
    with pytest.raises(BudgetReached):
        capped.phase(capped.cell("GEPA-5"), "optimise")
    close_runtimes()
    path = _config(tmp_path / "again", small=SMALL.replace("0.7,", "0.7, max_tokens: 50,"))
    again = prepared(path, tmp_path / "capped" / "out")
    resumed = again.phase(again.cell("GEPA-5"), "optimise")
    assert resumed["usage"]["outcomes"]["reused"] > 0
    assert resumed["metric_calls"] == expected["metric_calls"]


def test_a_stopped_sweep_ends_the_search(tmp_path: Path) -> None:
    ready = _ready(tmp_path, small=SMALL.replace("options: {", "options: {latency_ms: 30, "))
    timer = threading.Timer(1.0, lambda: ready.runtime().stop(Interrupted("stopped by the user")))
    timer.start()
    with pytest.raises(Interrupted):
        ready.phase(ready.cell("GEPA-5"), "optimise")


def test_unreadable_answers_score_nothing_are_counted_and_taught(tmp_path: Path) -> None:
    sloppy = SMALL.replace("ability", "errors: {malformed: 0.4}, ability")
    ready = _ready(tmp_path, small=sloppy, optimizers="[GEPA-3]")
    cell = ready.cell("GEPA-3")
    result = ready.phase(cell, "optimise")
    train, val = (ready.rows(cell, f"metric_logs/{split}.jsonl") for split in ("train", "val"))
    assert result["metric_calls"] == len(train) + len(val)
    assert len(val) == 3 * 24, "an unreadable answer is judged too"
    assert len(train) % 3 == 0, "and so it is in minibatches"
    zeros = sum(row["score"] == 0.0 for row in (*train, *val))
    assert 0 < result["unreadable_answers"] <= zeros
    for row in ready.rows(cell, "candidates.jsonl"):
        own = [judged["score"] for judged in val if judged["candidate"] == row["candidate"]]
        assert row["val_score"] == (pytest.approx(sum(own) / 24) if own else None)
    calls = history(ready.runtime().ledger.engine, cell.id, [result["execution"]])
    taught = [call for call in calls if "Your output failed to parse" in json.dumps(call["request"])]
    assert {call["role"] for call in taught} == {"reflection"}


def test_nothing_is_printed(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    optimizers = "[BootstrapFewShot, {name: COPRO, breadth: 2, depth: 1}, MIPROv2-Light]"
    ready = _ready(tmp_path, optimizers=optimizers)
    capfd.readouterr()
    for cell in ready.plan.cells:
        ready.phase(cell, "optimise")
    assert capfd.readouterr().out == ""


@pytest.mark.parametrize(
    "optimizer",
    [
        "BootstrapFewShot",
        "{name: SIMBA, batch: 12, candidates: 3, steps: 2}",
        "{name: GEPA-MERGE, max_metric_calls: 80}",
    ],
)
def test_every_optimizer_leaves_a_program_that_can_be_evaluated(tmp_path: Path, optimizer: str) -> None:
    ready = _ready(tmp_path, optimizers=f"[{optimizer}]")
    result = ready.all_phases(ready.plan.cells[0])
    assert result["metrics"]["n"] == 12
    assert result["usage"]["optimise"]["calls"] > 0


def test_mipro_finds_a_better_prompt_than_the_baseline(tmp_path: Path) -> None:
    ready = _ready(tmp_path, optimizers="[Baseline, MIPROv2-Light]")
    base, tuned = (ready.all_phases(cell)["metrics"]["score"] for cell in ready.plan.cells)
    assert tuned > base + 0.2


@pytest.mark.parametrize("shared", [True, False])
def test_answers_paid_by_another_cell_are_used_only_where_use_cache_from_says_so(tmp_path: Path, shared: bool) -> None:
    second = "{name: GEPA-10, use_cache_from: GEPA-5}" if shared else "GEPA-10"
    ready = _ready(tmp_path, optimizers=f"[GEPA-5, {second}]")
    for name in ("GEPA-5", "GEPA-10"):
        ready.phase(ready.cell(name), "optimise")
    found = _ledger(
        ready,
        "SELECT count(DISTINCT a.key) AS keys FROM attempts a JOIN attempts b ON a.key = b.key "
        "WHERE a.cell = :cell AND a.outcome = 'reused' AND b.outcome = 'paid' AND b.cell != a.cell",
        cell=ready.cell("GEPA-10").id,
    )
    # Both searches begin with the same program on the same cases.
    assert (found[0] > 0) is shared
