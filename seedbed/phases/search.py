"""What an optimizer tried: every candidate it scored, with which result and at what cost so far."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import dspy
import orjson

from seedbed.analysis.means import mean
from seedbed.lm.ledger.reads import PhaseUsage
from seedbed.phases.result import exact_usd
from seedbed.storage.hashing import hash_json
from seedbed.suite import Case
from seedbed.sweep.optimizers import Split

Prompts = dict[str, dict[str, Any]]


@dataclass
class Candidate:
    """One set of prompts. Scores are the latest of each example."""

    index: int
    id: str
    prompts: Prompts
    scores: dict[Split, dict[str, float]] = field(default_factory=lambda: {"train": {}, "val": {}})
    at: dict[str, Any] = field(default_factory=dict[str, Any])
    """The point of the learning curve at which its val score stood."""

    def row(self, n_val: int, chosen: str) -> dict[str, Any]:
        val, train = self.scores["val"], self.scores["train"]
        return {
            "candidate": self.index,
            "id": self.id,
            "chosen": self.id == chosen,
            "val_score": mean(list(val.values())),
            "n_val": len(val),
            "whole_val": len(val) == n_val,
            "train_score": mean(list(train.values())),
            "n_train": len(train),
            **self.at,
            "instructions": {name: own["instructions"] for name, own in self.prompts.items()},
            "n_demos": {name: len(own["demos"]) for name, own in self.prompts.items()},
        }


class SearchLog:
    """Collects from the optimizer's threads. A program is judged in the thread that called it, which is how a score
    finds its candidate whatever the optimizer."""

    def __init__(self, cases: Mapping[Split, Sequence[Case]], usage: Callable[[], PhaseUsage]) -> None:
        self._splits: dict[str, Split] = {}
        self._asked: dict[bytes, list[str]] = {}
        for split, own in cases.items():
            for case in own:
                self._splits[case.sample_id] = split
                self._asked.setdefault(_written(case.inputs), []).append(case.sample_id)
        self._n_val = len(cases["val"])
        self._usage = usage
        self._lock = threading.Lock()
        self._here = threading.local()
        self._started = time.monotonic()
        self._candidates: dict[str, Candidate] = {}
        self._rows: dict[Split, list[tuple[int, str, float]]] = {"train": [], "val": []}

    @property
    def metric_calls(self) -> int:
        return sum(len(rows) for rows in self._rows.values())

    def called(self, program: dspy.Module) -> None:
        """A program is about to be asked in this thread."""
        self._here.candidate = self.candidate(program)

    def candidate(self, program: dspy.Module) -> Candidate:
        prompts = prompts_of(program)
        name = hash_json(prompts)[:12]
        with self._lock:
            if name not in self._candidates:
                self._candidates[name] = Candidate(len(self._candidates), name, prompts)
            return self._candidates[name]

    def scored(self, sample_id: str, score: float) -> None:
        """The answer given last in this thread got a score."""
        candidate: Candidate | None = getattr(self._here, "candidate", None)
        split = self._splits.get(sample_id)
        if candidate is None or split is None:
            return
        with self._lock:
            self._rows[split].append((candidate.index, sample_id, score))
            candidate.scores[split][sample_id] = score
            if split == "val" and len(candidate.scores["val"]) == self._n_val and not candidate.at:
                candidate.at = self._point()

    def failed(self, inputs: Mapping[str, Any]) -> None:
        """The program asked last in this thread gave no answer to these inputs, by its own fault: it scores 0, which is
        what the optimizer takes it for."""
        candidate: Candidate | None = getattr(self._here, "candidate", None)
        twins = self._asked.get(_written(inputs), [])
        if candidate is None or not twins:
            return
        # Cases with the same inputs are told apart only by which of them have a score.
        known = {sample for own in candidate.scores.values() for sample in own}
        self.scored(next((sample for sample in twins if sample not in known), twins[0]), 0.0)

    def candidates(self, chosen: dspy.Module) -> list[dict[str, Any]]:
        """A row a candidate, in the order in which they were first asked."""
        best = self.candidate(chosen).id
        return [candidate.row(self._n_val, best) for candidate in self._candidates.values()]

    def metric_rows(self, split: Split) -> list[dict[str, Any]]:
        """Every judgement on a split by candidate and sample: threads end in any order, the file does not show it."""
        ordered = sorted(self._rows[split], key=lambda row: row[:2])
        return [{"candidate": index, "sample_id": sample, "score": score} for index, sample, score in ordered]

    def _point(self) -> dict[str, Any]:
        usage = self._usage()
        return {
            "metric_calls": self.metric_calls,
            "lm_calls": usage.calls,
            "tokens_in": usage.tokens_in,
            "tokens_out": usage.tokens_out,
            "list_usd": exact_usd(usage.list_usd),
            "seconds": round(time.monotonic() - self._started, 3),
        }


def prompts_of(program: dspy.Module) -> Prompts:
    """Instructions and demos of every predictor: what optimizers change, and what tells candidates apart."""
    predictors: list[tuple[str, Any]] = program.named_predictors()
    return {
        name: {"instructions": predictor.signature.instructions, "demos": [_plain(demo) for demo in predictor.demos]}
        for name, predictor in predictors
    }


def _written(inputs: Mapping[str, Any]) -> bytes:
    return orjson.dumps(dict(inputs), default=repr, option=orjson.OPT_SORT_KEYS | orjson.OPT_NON_STR_KEYS)


def _plain(demo: Any) -> dict[str, str]:
    items: Sequence[tuple[str, Any]] = list(demo.items())
    return {name: str(value) for name, value in items}
