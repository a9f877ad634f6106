"""False alarms, and the power that is left, of systems that every seed makes anew; the power of the other tests."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from bench.stats_simulation.compared import FLIPS, columns_of, compared
from bench.stats_simulation.draws import Setting, batches, stream, sweeps_of
from bench.stats_simulation.tables import GOALS, line, plural, table
from seedbed.analysis.columns import estimate
from seedbed.analysis.seeds import pooled_over_benchmarks, seed_spread, widened

SIZES = (30, 100, 300)
SPREADS = (0.0, 0.02, 0.05, 0.1)
_ERRORS = 2.8
"""How many standard errors a difference is that a test finds in 80% of all sweeps."""


def found_by(setting: Setting, sweeps: int) -> tuple[float, float, float]:
    """Shares of sweeps in which the former test by sample, and the one by sample and seed, is significant; how often
    the latter's interval covers."""
    hits = np.zeros(3)
    for rng, size in batches(setting, sweeps):
        own, base = sweeps_of(rng, setting, size)
        naive = compared(own, base, setting, seeds=False)
        differences = own - base
        spread, most = seed_spread(differences, setting.places), np.ones(size)
        p, (low, high) = widened(spread, naive.p, (naive.low, naive.high), (-most, most))
        hits += [(naive.p < 0.05).sum(), (p < 0.05).sum(), ((low <= setting.gain) & (setting.gain <= high)).sum()]
    first, second, third = (hits / sweeps).tolist()
    return first, second, third


def gain_of_80(setting: Setting) -> float:
    """The difference that the former test finds in about 80% of sweeps, were all seeds alike."""
    own, base = sweeps_of(stream(setting, 3), replace(setting, seed_sd=0.0), 200)
    columns = columns_of(own - base, setting)
    errors = estimate(columns.sums, columns.counts, -np.ones(200), np.ones(200), 0.0).error
    return round(_ERRORS * float(np.median(errors)), 3)


def pooled_alarms(setting: Setting, benchmarks: int, sweeps: int) -> float:
    """False alarms of one benchmark whose spread over seeds is pooled with that of others."""
    hits = 0
    for rng, size in batches(setting, sweeps, salt=benchmarks):
        made = [sweeps_of(rng, setting, size) for _ in range(benchmarks)]
        spreads = pooled_over_benchmarks([seed_spread(own - base, setting.places) for own, base in made])
        over_samples = compared(*made[0], setting, seeds=False)
        most = np.ones(size)
        p, _ = widened(spreads[0], over_samples.p, (over_samples.low, over_samples.high), (-most, most))
        hits += int((p < 0.05).sum())
    return hits / sweeps


def show_seeds(sweeps: int) -> None:
    alarms = GOALS["alarms"].cell
    heads = ["false alarms before", "now", "difference covered", "true gain", "found before", "now"]
    table(["every seed another system", *heads])
    settings = [
        *(Setting(kind, n, seeds=seeds) for kind in ("f1", "0/1") for n in SIZES for seeds in (2, 3, 5, 10)),
        *(Setting(kind, 60, seeds=seeds, clusters=(6,) * 10) for kind in ("f1", "0/1") for seeds in (3, 5)),
    ]
    for plain in settings:
        gain = gain_of_80(plain)
        for sd in SPREADS:
            setting = replace(plain, seed_sd=sd)
            before, now, covered = found_by(setting, sweeps)
            found = found_by(replace(setting, gain=gain), sweeps)
            size = f"n = {plain.n}" if not plain.clusters else f"{plain.n} in {len(plain.clusters)}"
            name = f"{plain.kind}, {size}, {plural(plain.seeds)}, sd {sd:g}"
            line(name, before, alarms(now), covered, f"{gain:.3f}", *found[:2])
    _show_pooled(sweeps)
    _show_gain_of_12(sweeps)
    _show_plain(sweeps)


def _show_pooled(sweeps: int) -> None:
    table(["one of several benchmarks of a system, f1, n = 100, 3 seeds", "false alarms"])
    for benchmarks in (2, 4):
        for sd in SPREADS:
            found = pooled_alarms(Setting("f1", 100, seeds=3, seed_sd=sd), benchmarks, sweeps)
            line(f"{benchmarks} benchmarks, sd {sd:g}", GOALS["alarms"].cell(found))


def _show_gain_of_12(sweeps: int) -> None:
    table(["true gain 0.12, f1, n = 100", "found before", "now", "difference covered"])
    for seeds in (2, 3, 5, 10):
        for sd in SPREADS:
            line(
                f"{plural(seeds)}, sd {sd:g}", *found_by(Setting("f1", 100, gain=0.12, seeds=seeds, seed_sd=sd), sweeps)
            )


def _show_plain(sweeps: int) -> None:
    """The same p as before: what is shown is that it holds, and how much it finds."""
    table(["systems that seeds do not change", "false alarms, before and now", "true gain", "found, before and now"])
    settings = [
        *(Setting(kind, n, seeds=seeds) for kind in ("f1", "0/1") for n in SIZES for seeds in (1, 3)),
        *(Setting(kind, 60, clusters=(6,) * 10) for kind in ("f1", "0/1")),
        *(Setting(kind, 120, clusters=(4,) * 30) for kind in ("f1", "0/1")),
    ]
    for setting in settings:
        gain = gain_of_80(setting)
        size = f"n = {setting.n}" if not setting.clusters else f"{setting.n} in {len(setting.clusters)}"
        name = f"{setting.kind}, {size}, {plural(setting.seeds)}"
        found = [_by_sample(replace(setting, gain=g), sweeps) for g in (0.0, gain)]
        line(name, GOALS["alarms"].cell(found[0]), f"{gain:.3f}", found[1])


def _by_sample(setting: Setting, sweeps: int) -> float:
    hits = 0
    for rng, size in batches(setting, sweeps):
        p = compared(*sweeps_of(rng, setting, size), setting, seeds=False, flips=FLIPS).p
        hits += int((p < 0.05).sum())
    return hits / sweeps
