"""Sweeps that stop when decided, simulated through the functions that decide: how often they are wrong, how often they
find a difference that is there, and what they save, beside sweeps of a fixed size.

    python -m bench.decide_simulation [--sweeps 2000] [--only stopping,promised]
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from bench.stats_simulation.draws import Floats, Setting, stream, sweeps_of
from bench.stats_simulation.tables import line, table
from seedbed.analysis.columns import Columns
from seedbed.analysis.contests import Contest, Figures, contest_figures, decide, standardised
from seedbed.analysis.planned import Planned, pilot
from seedbed.analysis.significance import holm
from seedbed.analysis.stopping import GROWTH, Decision, Sequential, sequential

LOOKS = 10
_ROUND = 200
"""Sweeps in memory at once."""
Z_POWER, _Z_ALPHA = 0.8416, 1.96


@dataclass(frozen=True)
class Family:
    """Contests of one sweep: so many, of which the first `real` have a difference."""

    name: str
    setting: Setting
    contests: int = 1
    real: int = 1
    made_by_seed: bool = False


FAMILIES = (
    Family("f1, one contest", Setting("f1", 0, p=0.4, gain=0.06)),
    Family("0/1, one contest", Setting("0/1", 0, p=0.4, gain=0.08)),
    Family("f1, 3 seeds", Setting("f1", 0, p=0.4, gain=0.05, seeds=3)),
    Family("f1, clusters of 4", Setting("f1", 0, p=0.4, gain=0.06, clusters=(4,))),
    Family("f1, Holm over 5, one real", Setting("f1", 0, p=0.4, gain=0.06), 5, 1),
    Family("f1, Holm over 5, all real", Setting("f1", 0, p=0.4, gain=0.06), 5, 5),
    Family("f1, Holm over 5, clusters of 4, 3 seeds", Setting("f1", 0, p=0.4, gain=0.04, clusters=(4,), seeds=3), 5, 5),
    *(
        Family(
            f"f1, {seeds} seeds of an optimizer, sd .01",
            Setting("f1", 0, p=0.4, gain=0.05, seeds=seeds, seed_sd=0.01),
            made_by_seed=True,
        )
        for seeds in (5, 10)
    ),
)


def sized(family: Family) -> tuple[Family, int, float]:
    """The family with as many samples as looks need, those that a fixed design needs, and the difference planned for:
    from one large draw. The level of a fixed test is Bonferroni's; where seeds make systems, the plan is
    that of `seedbed plan --detect` from a pilot that knows the spread."""
    from scipy.special import ndtri

    unit = family.setting.clusters[0] if family.setting.clusters else 1
    many = _of_size(family.setting, 4000, unit)
    own, base = sweeps_of(stream(family.name), replace(many, seed_sd=0.0), 8)
    units = (own - base).mean(axis=1).reshape(-1, unit, 8).mean(axis=1)
    difference, variance = float(units.mean()), float(units.var(axis=0, ddof=1).mean())
    wanted = (float(ndtri(1 - 0.025 / family.contests)) + Z_POWER) ** 2
    n = math.ceil(variance * wanted / difference**2) * unit
    if family.made_by_seed:
        own, base = sweeps_of(stream(family.name, 1), replace(family.setting, n=400, seeds=100), 1)
        planned = pilot(own[:, :, 0], base[:, :, 0], seed_changes_system=True).needed(difference, family.setting.seeds)
        assert planned.n is not None, f"{family.name}: no number of samples would do"
        n = planned.n
    return replace(family, setting=_of_size(family.setting, math.ceil(n * GROWTH), unit)), n, difference


def _of_size(setting: Setting, n: int, unit: int) -> Setting:
    n = math.ceil(n / unit) * unit
    return replace(setting, n=n, clusters=(unit,) * (n // unit) if unit > 1 else ())


def ends(setting: Setting) -> list[int]:
    """Samples at each look, in whole clusters."""
    unit = setting.clusters[0] if setting.clusters else 1
    return [min(setting.n, math.ceil(setting.n * k / LOOKS / unit) * unit) for k in range(1, LOOKS + 1)]


def figures(own: Floats, base: Floats, setting: Setting, n: int, *, made_by_seed: bool) -> list[Figures]:
    """Of the first n samples, a contest a sweep."""
    places = setting.places[:n]
    if made_by_seed:
        return [
            contest_figures(own[:n, :, i], base[:n, :, i], clusters=places.tolist(), seed_changes_system=True)
            for i in range(own.shape[2])
        ]
    columns = Columns.of((own[:n] - base[:n]).mean(axis=1), places)
    means, errors, zs = standardised(columns)
    clusters = int(places.max()) + 1
    return [
        Figures(n, clusters, float(m), float(e) if math.isfinite(e) else None, float(z) if math.isfinite(e) else None)
        for m, e, z in zip(means, errors, zs, strict=True)
    ]


def drawn(
    family: Family, factor: float, n_fixed: int, sweeps: int
) -> Iterator[tuple[list[list[Figures]], list[Figures]]]:
    """Of each sweep, what every contest shows at every look, and at the size of the fixed design."""
    marks = ends(family.setting)
    for start in range(0, sweeps, _ROUND):
        size = min(_ROUND, sweeps - start)
        seen: list[list[list[Figures]]] = []
        fixed: list[list[Figures]] = []
        for place in range(family.contests):
            gain = family.setting.gain * factor * (place < family.real)
            setting = replace(family.setting, gain=gain)
            own, base = sweeps_of(stream((family.name, factor), start, place), setting, size)
            seen.append([figures(own, base, setting, n, made_by_seed=family.made_by_seed) for n in marks])
            fixed.append(figures(own, base, setting, n_fixed, made_by_seed=family.made_by_seed))
        for i in range(size):
            yield [[at[i] for at in own] for own in seen], [own[i] for own in fixed]


def played(
    design: Sequential, family: Family, contests: Sequence[Sequence[Figures]]
) -> tuple[list[Decision], list[float]]:
    """Look after look: how each contest ended, and the share of its samples that were asked."""
    marks = ends(family.setting)
    told: list[Decision] = ["go on"] * len(contests)
    at = [LOOKS] * len(contests)
    for number in range(1, LOOKS + 1):
        share = marks[number - 1] / family.setting.n
        now = [
            Contest(own[: min(number, at[i])], share, None if told[i] == "go on" else told[i])
            for i, own in enumerate(contests)
        ]
        before, told = told, decide(design, now, number)
        at = [number if was == "go on" != word else n for was, word, n in zip(before, told, at, strict=True)]
        if "go on" not in told:
            break
    return told, [marks[number - 1] / family.setting.n for number in at]


def fixed_found(fixed: Sequence[Figures]) -> list[bool]:
    from scipy.special import ndtr

    ps = [None if f.z is None else 2 * float(ndtr(-abs(f.z))) for f in fixed]
    return [p is not None and p < 0.05 and (f.z or 0) > 0 for p, f in zip(holm(ps), fixed, strict=True)]


@dataclass
class Tally:
    alarm: int = 0
    """Sweeps with any contest that is called wrongly."""
    found: int = 0
    fixed: int = 0
    asked: float = 0.0
    fixed_asked: float = 0.0
    real: int = 0
    real_asked: float = 0.0
    """Of the contests with a difference alone, as a share of what a fixed design asks for them."""


def simulate(family: Family, n_fixed: int, difference: float, factor: float, sweeps: int) -> Tally:
    design, tally = sequential(difference), Tally()
    for contests, fixed in drawn(family, factor, n_fixed, sweeps):
        told, shares = played(design, family, contests)
        real = family.real if factor else 0
        tally.alarm += any(word == "worse" for word in told[:real]) or any(
            word in ("better", "worse") for word in told[real:]
        )
        tally.found += sum(word == "better" for word in told[:real])
        tally.fixed += sum(fixed_found(fixed)[:real])
        tally.real += real
        tally.real_asked += sum(shares[:real]) * family.setting.n / n_fixed
        # The baseline goes on while any contest is open.
        tally.asked += (sum(shares) + max(shares)) * family.setting.n
        tally.fixed_asked += (len(shares) + 1) * n_fixed
    return tally


def show_stopping(sweeps: int) -> None:
    table(
        [
            "family",
            "N",
            "any false verdict, no difference",
            "power at d",
            "fixed design",
            "saved at 0",
            "d",
            "1.5 d",
            "2 d",
            "real contests alone, d",
            "2 d",
        ]
    )
    for family in FAMILIES:
        made, n, difference = sized(family)
        runs = {factor: simulate(made, n, difference, factor, sweeps) for factor in (0.0, 1.0, 1.5, 2.0)}
        saved = [f"{1 - t.asked / t.fixed_asked:.0%}" for t in runs.values()]
        alone = [f"{1 - runs[factor].real_asked / runs[factor].real:.0%}" for factor in (1.0, 2.0)]
        at_d = runs[1.0]
        line(
            family.name,
            str(made.setting.n),
            runs[0.0].alarm / sweeps,
            at_d.found / at_d.real,
            at_d.fixed / at_d.real,
            *saved,
            *alone,
        )


def show_promised(sweeps: int) -> None:
    """Plans from pilots of 100 x 3, and the power that sweeps of that size then have."""
    heads = ["planned, median", "needed", "power of the median plan", "of 10% and 90% of plans"]
    table(["pilot of 100 x 3", *heads, "range holds what is needed", "says: more seeds"])
    for seed_sd, seeds in ((0.0, 1), (0.0, 3), (0.0, 5), (0.0, 10), (0.01, 5), (0.02, 5), (0.02, 10), (0.03, 10)):
        setting = Setting("f1", 100, p=0.4, gain=0.06, seeds=3, seed_sd=seed_sd)
        _promised_line(setting, seeds, seed_sd > 0, max(40, sweeps // 20), max(100, sweeps // 10))


def _promised_line(setting: Setting, seeds: int, made_by_seed: bool, pilots: int, tries: int) -> None:
    rng = stream(setting, seeds)
    difference = _true_difference(rng, setting)
    plans: list[Planned] = []
    for _ in range(pilots):
        own, base = sweeps_of(rng, setting, 1)
        seen = pilot(own[:, :, 0], base[:, :, 0], seed_changes_system=made_by_seed)
        plans.append(seen.needed(difference, seeds))
    sizes = sorted(plan.n for plan in plans if plan.n is not None)
    chosen = [sizes[round(q * (len(sizes) - 1))] for q in (0.1, 0.5, 0.9)]
    powers = [_power(rng, setting, n, seeds, made_by_seed, tries) for n in chosen]
    need = _needed(rng, setting, chosen[1], seeds, made_by_seed, 5 * tries)
    holds = sum((p.low or math.inf) <= need <= (p.high or math.inf) for p in plans) / pilots
    label = f"{seeds} seeds planned{f', seeds differ by sd {setting.seed_sd}' if made_by_seed else ''}"
    line(
        label,
        str(chosen[1]),
        str(need),
        powers[1],
        f"{powers[0]:.0%} to {powers[2]:.0%}",
        f"{holds:.0%}",
        f"{(pilots - len(sizes)) / pilots:.0%}",
    )


def _true_difference(rng: np.random.Generator, setting: Setting) -> float:
    """To a thousandth of it: a plan for a little more needs fewer samples by twice as much."""
    many = replace(setting, n=4000, seed_sd=0.0)
    differences = [own - base for own, base in (sweeps_of(rng, many, 4) for _ in range(200))]
    return float(np.mean([d.mean() for d in differences]))


def _power(rng: np.random.Generator, setting: Setting, n: int, seeds: int, made_by_seed: bool, tries: int) -> float:
    """By Student's t, as the looks have it: sign flips say the same and take a hundred times as long."""
    there = replace(setting, n=n, seeds=seeds)
    found = 0
    for start in range(0, tries, _ROUND):
        own, base = sweeps_of(rng, there, min(_ROUND, tries - start))
        shown = figures(own, base, there, n, made_by_seed=made_by_seed)
        found += sum(f.z is not None and f.z > _Z_ALPHA for f in shown)
    return found / tries


def _needed(rng: np.random.Generator, setting: Setting, near: int, seeds: int, made_by_seed: bool, tries: int) -> int:
    """The samples that do have the power, by trying."""
    low, high = near // 3, near * 3
    while high - low > max(1.0, 0.02 * low):
        middle = round(math.sqrt(low * high))
        low, high = (low, middle) if _power(rng, setting, middle, seeds, made_by_seed, tries) >= 0.8 else (middle, high)
    return high


PARTS = {"stopping": show_stopping, "promised": show_promised}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sweeps", type=int, default=2000)
    parser.add_argument("--only", default=",".join(PARTS), help=f"of {', '.join(PARTS)}")
    arguments = parser.parse_args()
    for part in arguments.only.split(","):
        PARTS[part](arguments.sweeps)


if __name__ == "__main__":
    main()
