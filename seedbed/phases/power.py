"""What the contests of a sweep could see, and what seeing a given difference would take: from a run that is there."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from seedbed.analysis.planned import MOST, Pilot, Planned, pilot
from seedbed.errors import UserError
from seedbed.phases.contest_values import Pair, made_by_seed, pairs_of, read_pair
from seedbed.phases.context import SweepRun, read_run
from seedbed.storage.objects import subfolders
from seedbed.storage.store import Store, read_json
from seedbed.suite import Metric
from seedbed.sweep.cell import Cell
from seedbed.sweep.looks import decisive_metric
from seedbed.sweep.plan import Plan

TOO_MUCH = "it cannot be seen: seeds differ too much"
_BEYOND = f"more than {MOST:,}"
_MOST_SEEDS = 30
_RUNS = 30
_SIZES = (25, 50, 100, 200, 400, 800, 1600)


@dataclass(frozen=True)
class Price:
    """What a contest costs, both sides of it, as if nothing had been answered before; None where a price is unknown."""

    per_sample: float | None
    per_seed: float | None
    """Of the search of an optimizer."""

    def of(self, samples: int, seeds: int) -> float | None:
        if self.per_sample is None or self.per_seed is None:
            return None
        return seeds * (samples * self.per_sample + self.per_seed)


@dataclass(frozen=True)
class ContestPower:
    """A contest of a finished run as a pilot."""

    pair: Pair
    metric: Metric
    n: int
    """Samples with a score on both sides."""
    seeds: int
    pilot: Pilot
    price: Price
    cases: int
    """That the benchmark has."""

    @property
    def detectable(self) -> float | None:
        """The smallest difference that it would have shown in four of five sweeps; None where seeds leave none."""
        found = self.pilot.detectable(self.n, self.seeds)
        return found if math.isfinite(found) else None

    def curve(self) -> list[tuple[int, float]]:
        """Numbers of samples and what each could see, with as many seeds."""
        return [(n, found) for n in _SIZES if math.isfinite(found := self.pilot.detectable(n, self.seeds))]

    def needed(self, difference: float, seeds: int) -> tuple[Planned, Planned | None]:
        """What a difference takes with so many seeds; where no number of samples does, also with the fewest that do."""
        first = self.pilot.needed(difference, seeds)
        if first.n is not None or not self.pilot.made_by_seed:
            return first, None
        more = (self.pilot.needed(difference, number) for number in range(seeds + 1, _MOST_SEEDS + 1))
        return first, next((plan for plan in more if plan.n is not None), None)


def contest_powers(run: SweepRun, metric: str | None = None) -> list[ContestPower]:
    """Of every contest whose cells have scores, in the metric that decides it, or in one that is named."""
    found: list[ContestPower] = []
    pairs = list(pairs_of(run.plan))
    for pair in pairs:
        chosen = _metric(run.plan, pair, metric)
        if chosen is None or not all(_done(run, cell) for cell in pair.cells):
            continue
        own, base, clusters = read_pair(run.store, pair, chosen.name)
        known = [place for place, total in enumerate((own + base).tolist())
                 if any(not math.isnan(value) for value in total)]  # fmt: skip
        if len({clusters[place] for place in known}) < 2:
            continue
        tests = sum((other.suite, other.reference) == (pair.suite, pair.reference) for other in pairs)
        seen = pilot(own, base, clusters=clusters, seed_changes_system=made_by_seed(run.plan, pair),
                     tests_in_family=tests)  # fmt: skip
        price, cases = _price(run.store, pair), len(run.plan.benchmark(pair.own[0]).test)
        found.append(ContestPower(pair, chosen, len(known), own.shape[1], seen, price, cases))
    return found


def find_pilot(store: Store, plan: Plan, sweep: str | None) -> SweepRun:
    """The newest run with results of a sweep, this one where none is named."""
    name = sweep or plan.config.name
    folder = store.root / "sweeps" / name
    stamps = sorted(stamp for stamp in subfolders(folder) if "." not in stamp) if folder.exists() else []
    for stamp in reversed(stamps[-_RUNS:]):
        if (folder / stamp / "plan.json").exists():
            run = read_run(folder / stamp, plan.config_dir if sweep is None else None)
            if any(all(_done(run, cell) for cell in pair.cells) for pair in pairs_of(run.plan)):
                return run
    what = f"--pilot {sweep}" if sweep else "--detect"
    raise UserError(
        f"{what}: {store.root} has no finished run of {name!r} to judge the spread by; run some samples of it first "
        "(--set experiments.0.benchmarks.0.limit=100), or name another sweep with --pilot."
    )


def matched(pilots: Sequence[ContestPower], plan: Plan) -> Iterator[tuple[Pair, ContestPower | None]]:
    """Every contest of a plan with the pilot of the same names; None where there is none."""
    by_name = {(own.pair.suite, *own.pair.names.values()): own for own in pilots}
    for pair in pairs_of(plan):
        yield pair, by_name.get((pair.suite, *pair.names.values()))


def check_difference(difference: float, powers: Sequence[ContestPower] = ()) -> None:
    """Refuse what no contest could show."""
    if not 0 < difference < math.inf:
        raise UserError(f"--detect {difference:g}: give a difference above 0, such as 0.03.")
    for power in powers:
        low, high = power.metric.range or (0.0, math.inf)
        if difference > high - low:
            what = f"{power.metric.label} runs from {low:g} to {high:g}, so no difference is above {high - low:g}"
            raise UserError(f"--detect {difference:g}: {what}; give a smaller one.")


def told(power: ContestPower, difference: float, seeds: int) -> str:
    """`5 seeds x 220 samples, $14 (range 180-290)`, and why fewer seeds would not do."""
    if power.pilot.blind:
        return "the pilot has one seed, and what others add cannot be known; run two or more of it"
    first, more = power.needed(difference, seeds)
    if first.n is not None:
        return _words(power, first)
    if not power.pilot.made_by_seed:
        return f"with {_seeds(seeds)} it would take {_BEYOND} samples"
    unseen = f"with {_seeds(seeds)} {TOO_MUCH}"
    return f"{_words(power, more)}; {unseen}" if more else f"{unseen}, and so it is with {_MOST_SEEDS}"


def _words(power: ContestPower, planned: Planned) -> str:
    assert planned.n is not None
    usd = power.price.of(planned.n, planned.seeds)
    price = "price unknown" if usd is None else dollars(usd)
    beyond = "?, seeds may differ too much" if power.pilot.made_by_seed else _BEYOND
    end = beyond if planned.high is None else f"{planned.high:,}"
    words = f"{_seeds(planned.seeds)} x {planned.n:,} samples, {price} (range {planned.low or planned.n:,}-{end})"
    return words if planned.n <= power.cases else f"{words}; the benchmark has {power.cases:,} cases"


def _seeds(number: int) -> str:
    return f"{number} seed{'s' * (number > 1)}"


def dollars(usd: float) -> str:
    return f"${usd:,.0f}" if usd >= 10 else f"${usd:.2g}" if usd else "$0"


def as_row(power: ContestPower, difference: float | None, seeds: int) -> dict[str, Any]:
    """The same as data."""
    row: dict[str, Any] = {
        "suite": power.pair.suite,
        **power.pair.names,
        "metric": power.metric.name,
        "n": power.n,
        "seeds": power.seeds,
        "made_by_seed": power.pilot.made_by_seed,
        "detectable": power.detectable,
        "curve": [{"n": n, "detectable": found} for n, found in power.curve()],
    }
    if difference is None:
        return row
    first, more = power.needed(difference, seeds)
    plans = [plan for plan in (first, more) if plan is not None]
    needs = [{**p.to_json(), "usd": None if p.n is None else power.price.of(p.n, p.seeds)} for p in plans]
    return {**row, "difference": difference, "needed": needs, "told": told(power, difference, seeds)}


def _metric(plan: Plan, pair: Pair, name: str | None) -> Metric | None:
    """The metric to plan by, if samples have it."""
    declared = plan.resolve(pair.own[0]).metrics
    decide = plan.experiment(pair.own[0]).decide
    wanted = name or (decisive_metric(decide, plan.resolve(pair.own[0])) if decide else declared[0].name)
    return next((metric for metric in declared if metric.name == wanted and metric.kind != "pooled"), None)


def _done(run: SweepRun, cell: Cell) -> bool:
    return run.store.done(cell, "score", cell.key("score"), run.generation) is not None


def _price(store: Store, pair: Pair) -> Price:
    """From what the run's cells took, as if fresh."""
    per_sample: list[float | None] = []
    per_seed: list[float | None] = []
    for side in (pair.own, pair.base):
        usages = [_usage(store.cell_dir(cell)) for cell in side]
        per_sample.append(_mean([own["asking"] for own in usages]))
        per_seed.append(_mean([own["searching"] for own in usages]))
    return Price(_sum(per_sample), _sum(per_seed))


def _usage(folder: Path) -> dict[str, float | None]:
    usage: dict[str, Any] = read_json(folder / "metrics.json")["usage"]
    asked = read_json(folder / "done" / "generate.json")["result"]["n"]
    asking = _sum([own["list_usd"] for phase, own in usage.items() if phase != "optimise"])
    searching = usage["optimise"]["list_usd"] if "optimise" in usage else 0.0
    return {"asking": None if asking is None else asking / max(1, asked), "searching": searching}


def _sum(values: Sequence[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return sum(known) if len(known) == len(values) else None


def _mean(values: Sequence[float | None]) -> float | None:
    total = _sum(values)
    return None if total is None else total / len(values)
