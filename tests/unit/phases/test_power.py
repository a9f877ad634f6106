"""What a finished sweep could see, and what a plan promises from it."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from seedbed.cli.main import main
from seedbed.lm.runtime import close_runtimes
from seedbed.phases.context import read_run
from seedbed.phases.power import _price, contest_powers, told  # type: ignore[attr-defined]
from seedbed.storage.store import read_json
from tests.support.toy import finished_run


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    yield finished_run(tmp_path_factory.mktemp("pilot"), n=60)
    close_runtimes()


def test_every_contest_says_what_it_could_see(finished: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = str(finished.parents[2])
    assert main(["power", "toys", "--out", out, "--detect", "0.05"]) == 0
    said = capsys.readouterr().out
    assert "sums · reader · strong against weak" in said
    assert "2 seeds x " in said
    assert "(range " in said
    assert "the benchmark has 60 cases" in said
    assert main(["power", "toys", "--out", out, "--detect", "0.05", "--json"]) == 0
    rows = json.loads(capsys.readouterr().out)
    assert {row["label"] for row in rows} == {"middle", "strong"}
    detectable = [point["detectable"] for point in rows[0]["curve"]]
    assert detectable == sorted(detectable, reverse=True), "more samples see smaller differences"


def test_a_narrow_terminal_is_not_passed(
    finished: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("seedbed.cli.power.screen_width", lambda: 80)
    assert main(["power", "toys", "--out", str(finished.parents[2]), "--detect", "0.05"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert max(map(len, lines)) <= 80
    assert "contest" in lines[0]


def test_a_plan_is_told_from_the_newest_run_of_its_sweep(finished: Path, capsys: pytest.CaptureFixture[str]) -> None:
    config, out = finished.parents[3] / "toys.yaml", str(finished.parents[2])
    assert main(["plan", str(config), "--out", out, "--detect", "0.1"]) == 0
    said = capsys.readouterr().out
    assert f"to see a difference of 0.1, judged by toys · {finished.name}" in said
    assert "strong against weak: Digits: 2 seeds x" in said
    assert main(["plan", str(config), "--out", out, "--detect", "0.1", "--set", "seeds=[0,1,2]", "--json"]) == 0
    data = json.loads(capsys.readouterr().out)
    assert data["detect"][0]["needed"][0]["seeds"] == 3


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--detect", "0"], "above 0"),
        (["--detect", "nan"], "above 0"),
        (["--detect", "1.5"], "runs from 0 to 1, so no difference is above 1"),
        (["--pilot", "toys"], "add --detect"),
        (["--detect", "0.1", "--pilot", "nobody"], "no finished run of 'nobody'"),
    ],
)
def test_what_cannot_be_planned_is_said(
    finished: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], words: str
) -> None:
    config, out = finished.parents[3] / "toys.yaml", str(finished.parents[2])
    assert main(["plan", str(config), "--out", out, *arguments]) == 2
    assert words in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--seeds", "0"], "--seeds 0: give 1 or more"),
        (["--metric", "rigth"], "did you mean 'right'"),
        (["--metric", "f1"], "a figure of whole cells"),
        (["--detect", "inf"], "above 0"),
    ],
)
def test_what_power_cannot_tell_is_said(
    finished: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], said: str
) -> None:
    out = str(finished.parents[2])
    assert main(["power", "toys", "--out", out, *arguments]) == 2
    assert said in capsys.readouterr().err


def test_one_seed_of_what_seeds_make_promises_nothing(finished: Path) -> None:
    from dataclasses import replace

    power = contest_powers(read_run(finished))[0]
    parts = replace(power.pilot.parts, pilot_seeds=1)
    blind = replace(power, pilot=replace(power.pilot, parts=parts, made_by_seed=True))
    assert "the pilot has one seed" in told(blind, 0.1, 3)
    apart = replace(power, pilot=replace(power.pilot, parts=replace(power.pilot.parts, seeds=0.01), made_by_seed=True))
    assert "with 2 seeds it cannot be seen: seeds differ too much" in told(apart, 0.1, 2)
    assert "seeds x" in told(apart, 0.1, 2)


def test_what_the_search_of_an_optimizer_takes_is_paid_once_a_seed(finished: Path, tmp_path: Path) -> None:
    shutil.copytree(finished.parents[2], tmp_path / "out")
    run = read_run(tmp_path / "out" / finished.relative_to(finished.parents[2]))
    (power, *_) = contest_powers(run)
    for cell in run.plan.cells:
        file = run.store.cell_dir(cell) / "metrics.json"
        figures = read_json(file)
        figures["usage"]["optimise"] = {**figures["usage"]["generate"], "list_usd": 0.25 if cell.seed else 0.75}
        file.write_text(json.dumps(figures), encoding="utf-8")
    price = _price(run.store, power.pair)
    assert (price.per_sample, price.per_seed) == (power.price.per_sample, 1.0), "both sides search"
    assert price.of(10, 2) == pytest.approx(2.0 + 20 * (price.per_sample or 0.0))


def test_of_more_seeds_the_fewest_that_will_do_are_told(finished: Path) -> None:
    from dataclasses import replace

    power = contest_powers(read_run(finished))[0]
    alike = replace(power, pilot=replace(power.pilot, parts=replace(power.pilot.parts, seeds=0.0), made_by_seed=True))
    one, more = alike.needed(0.3, 1)
    assert one.n is None, "one seed says nothing of how far seeds differ"
    assert more is not None
    assert more.seeds == 2


def test_too_small_a_difference_is_not_blamed_on_seeds_that_make_no_system(finished: Path) -> None:
    power = contest_powers(read_run(finished))[0]
    assert not power.pilot.made_by_seed
    assert told(power, 1e-7, 2) == "with 2 seeds it would take more than 10,000,000 samples"
    largest = next(d for d in (0.01 * 1.05**-k for k in range(200)) if power.pilot.needed(d, 2).n is None) * 1.05
    assert told(power, largest, 2).endswith("-more than 10,000,000); the benchmark has 60 cases")


def test_the_report_draws_what_n_samples_can_show(finished: Path) -> None:
    assert (finished / "plots" / "toy-power.svg").exists()
    assert "plots/toy-power.svg" in read_json(finished / "manifest.json")["files"]
