"""Looking at the contests of a sweep while they grow. Every look is a file beside the cells, so that a run that goes on
after a crash, and a reader who checks it, come to the same decisions."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from seedbed.analysis.contests import Contest, Figures, Looked, contest_figures, decide
from seedbed.analysis.measured import Measured
from seedbed.analysis.paired import ALPHA, tidy
from seedbed.analysis.stopping import Decision, sequential
from seedbed.phases.asked import covers
from seedbed.phases.contest_values import Pair, made_by_seed, pairs_of, read_pair
from seedbed.storage.hashing import hash_json
from seedbed.storage.store import Store, read_json, write_json
from seedbed.suite import Metric
from seedbed.sweep.config import DecideConfig
from seedbed.sweep.looks import Looks, decisive_metric
from seedbed.sweep.plan import Plan

LooksTaken = Mapping[tuple[str, ...], Looked]
"""By suite, benchmark, model, label and baseline."""
_SLUG = re.compile(r"[^A-Za-z0-9._-]+")


@dataclass(frozen=True)
class Family:
    """Contests whose tests are adjusted together: those of one metric of a suite, reference systems apart."""

    suite: str
    metric: Metric
    reference: bool
    pairs: Sequence[Pair]
    others: int
    """Tests of the family that are not looked at while they grow."""

    @property
    def group(self) -> tuple[str, str]:
        return self.suite, self.metric.name

    @property
    def name(self) -> str:
        return _SLUG.sub("-", f"{self.suite}_{self.metric.name}{'_reference' if self.reference else ''}")


def families(plan: Plan) -> list[Family]:
    """All contests of a sweep that are looked at, by family."""
    found: dict[tuple[str, str, bool], list[Pair]] = {}
    every: list[tuple[str, bool]] = []
    for pair in pairs_of(plan):
        every.append((pair.suite, pair.reference))
        chosen = plan.experiment(pair.own[0]).decide
        if chosen is not None:
            metric = decisive_metric(chosen, plan.resolve(pair.own[0]))
            found.setdefault((pair.suite, metric, pair.reference), []).append(pair)
    return [
        Family(
            suite,
            next(m for m in plan.metrics(suite) if m.name == metric),
            reference,
            pairs,
            every.count((suite, reference)) - len(pairs),
        )
        for (suite, metric, reference), pairs in found.items()
    ]


def look_at(store: Store, plan: Plan, family: Family, number: int) -> dict[str, Any]:
    """The record of a look, made if it is not there."""
    before = look_at(store, plan, family, number - 1) if number > 1 else None
    key = look_key(store, plan, family, number, before["key"] if before else "")
    path = look_path(store, plan, family, number)
    if path.exists() and (held := read_json(path))["key"] == key:
        return {name: value for name, value in held.items() if name != "schema_version"}
    made = {"key": key, **look_record(store, plan, family, number, before)}
    write_json(path, made)
    return made


def look_path(store: Store, plan: Plan, family: Family, number: int) -> Path:
    return store.looks_dir(plan.config.name) / f"{family.name}_{number:02d}.json"


def look_key(store: Store, plan: Plan, family: Family, number: int, before: str) -> str:
    """What a look depends on: the design, the scores it reads, and the look before it."""
    asked = [
        [
            pair.names,
            [_chosen(plan, pair).difference, _chosen(plan, pair).looks],
            [cell.key("score") for cell in pair.cells],
            _ready(store, plan, pair, number),
        ]
        for pair in family.pairs
    ]
    design = [family.suite, family.metric.name, family.reference, family.others, ALPHA, number, plan.generation]
    return hash_json([design, asked, before])


def look_record(
    store: Store, plan: Plan, family: Family, number: int, before: Mapping[str, Any] | None
) -> dict[str, Any]:
    """What a look sees and decides, from the stored scores and the look before it. Nothing is written."""
    earlier = {tuple(entry[name] for name in _NAMES): entry for entry in (before or {"contests": []})["contests"]}
    entries: list[dict[str, Any]] = []
    contests: list[Contest] = []
    for pair in family.pairs:
        last = earlier.get(tuple(pair.names.values()))
        seen = [] if last is None else [Figures(**figures) for figures in last["seen"]]
        stopped: Decision | None = None if last is None or last["decision"] == "go on" else last["decision"]
        looks = _looks(plan, pair)
        if last is not None and stopped is not None:
            asked, ready = last["asked"], True
        else:
            asked, ready = looks.ends[number - 1], _ready(store, plan, pair, number)
            if ready:
                seen.append(_figures(store, plan, pair, family.metric, looks, asked))
        entries.append({**pair.names, "asked": asked, "planned": looks.planned, "ready": ready,
                        "seen": [asdict(figures) for figures in seen]})  # fmt: skip
        contests.append(Contest(seen, asked / looks.planned, stopped, _chosen(plan, pair).difference))
    first = _chosen(plan, family.pairs[0])
    design = sequential(first.difference, looks=first.looks, alpha=ALPHA)
    for entry, contest, word in zip(entries, contests, decide(design, contests, number, family.others), strict=True):
        p = contest.p(design.looks)
        entry["p"] = None if p is None else tidy(p)
        entry["decision"] = word if entry["ready"] else "go on"
    names = {"suite": family.suite, "metric": family.metric.name, "reference": family.reference}
    return {**names, "look": number, "looks": design.looks, "alpha": ALPHA, "others": family.others,
            "contests": entries}  # fmt: skip


_NAMES = ("benchmark", "model", "label", "baseline")


def open_cells(store: Store, plan: Plan, group: tuple[str, str], number: int) -> set[str]:
    """Ids of the cells that look `number` needs: those of contests that are open after the look before, the baselines
    they are held against, and whatever these compare their answers with."""
    found: set[str] = set()
    for family in families(plan):
        if family.group != group:
            continue
        record = look_at(store, plan, family, number - 1) if number > 1 else None
        for place, pair in enumerate(family.pairs):
            entry = record["contests"][place] if record else {"decision": "go on", "ready": True}
            if entry["decision"] == "go on" and entry["ready"]:
                found |= {cell.id for cell in pair.cells}
    waiting = [plan.cell(cell) for cell in found]
    while waiting:
        others = [other for other in plan.rivals(waiting.pop()) if other.id not in found]
        found |= {other.id for other in others}
        waiting += others
    return found


def unfinished(store: Store, plan: Plan) -> set[str]:
    """Ids of the cells that further looks will ask, by those on record. Nothing is written."""
    found: set[str] = set()
    for family in families(plan):
        taken = current_looks(store, plan, family)
        if not taken:
            found |= {cell.id for pair in family.pairs for cell in pair.cells}
        elif len(taken) < taken[-1]["looks"]:
            going = [entry["decision"] == "go on" for entry in taken[-1]["contests"]]
            found |= {cell.id for pair, on in zip(family.pairs, going, strict=True) if on for cell in pair.cells}
    return found


def looked(store: Store, plan: Plan) -> LooksTaken:
    """The looks at contests that are on record and current."""
    found: dict[tuple[str, ...], Looked] = {}
    for family in families(plan):
        for entry, looks, metric in _last_entries(store, plan, family):
            decision: Decision = entry["decision"]
            if not family.metric.higher_is_better and decision in ("better", "worse"):
                decision = "worse" if decision == "better" else "better"
            found[family.suite, *(entry[name] for name in _NAMES)] = Looked(
                metric, looks, [Figures(**own) for own in entry["seen"]], decision, entry["asked"], entry["planned"]
            )
    return found


def with_looks(made: Sequence[Measured], looks: LooksTaken) -> list[Measured]:
    """Comparisons with the looks that were taken at them."""
    return [
        replace(m, looked=looks.get((c.suite, c.benchmark, c.model, c.label, c.baseline)))
        for m in made
        for c in (m.comparison,)
    ]


def looks_note(looks: LooksTaken) -> list[str]:
    """What a reader must know of contests that end by themselves, in a sentence."""
    if not looks:
        return []
    asked, planned = sum(own.asked for own in looks.values()), sum(own.planned for own in looks.values())
    done = sum(own.decision != "go on" for own in looks.values())
    return [
        f"contests were looked at while they grew: {done} of {len(looks)} have ended, after {asked:,} of {planned:,} "
        "samples a seed; p and intervals account for the looks, and samples that were not asked are in no figure"
    ]


def _last_entries(store: Store, plan: Plan, family: Family) -> Iterator[tuple[Mapping[str, Any], int, str]]:
    last = current_looks(store, plan, family)
    if last:
        yield from ((entry, last[-1]["looks"], family.metric.name) for entry in last[-1]["contests"] if entry["seen"])


def current_looks(store: Store, plan: Plan, family: Family) -> list[dict[str, Any]]:
    """The records of a family, first to last, as far as they are of these scores."""
    found: list[dict[str, Any]] = []
    for number in range(1, _looks(plan, family.pairs[0]).number + 1):
        path = look_path(store, plan, family, number)
        if not path.exists():
            break
        record = read_json(path)
        if record["key"] != look_key(store, plan, family, number, found[-1]["key"] if found else ""):
            break
        found.append(record)
    return found


def look_files(store: Store, plan: Plan) -> list[Path]:
    """Where the current looks of a run lie."""
    return [
        look_path(store, plan, family, number)
        for family in families(plan)
        for number in range(1, len(current_looks(store, plan, family)) + 1)
    ]


def _figures(store: Store, plan: Plan, pair: Pair, metric: Metric, looks: Looks, asked: int) -> Figures:
    own, base, clusters = read_pair(store, pair, metric.name, looks.sample_ids[:asked])
    found = contest_figures(own, base, clusters=clusters, seed_changes_system=made_by_seed(plan, pair))
    return replace(
        found,
        difference=None if found.difference is None else tidy(found.difference),
        error=None if found.error is None else tidy(found.error),
        z=None if found.z is None else tidy(found.z),
    )


def _looks(plan: Plan, pair: Pair) -> Looks:
    looks = plan.looks(pair.own[0])
    assert looks is not None
    return looks


def _chosen(plan: Plan, pair: Pair) -> DecideConfig:
    chosen = plan.experiment(pair.own[0]).decide
    assert chosen is not None
    return chosen


def _ready(store: Store, plan: Plan, pair: Pair, number: int) -> bool:
    """Whether all cells of a contest have the scores of a look."""
    end = _looks(plan, pair).ends[number - 1]
    markers = [store.done(cell, "score", cell.key("score"), plan.generation) for cell in pair.cells]
    return all(marker is not None and covers(marker, end) for marker in markers)
