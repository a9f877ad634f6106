"""Guessing by the prior: the same guess for the same seed and case wherever it is made."""

from __future__ import annotations

import random
from collections.abc import Mapping

from seedbed.suites.contract_risk.levels import LEVELS, Level


def draw_level(prior: Mapping[Level, float], seed: int, sample_id: str) -> Level:
    weights = [prior.get(level, 0.0) for level in LEVELS]
    return random.Random(f"{seed}/{sample_id}").choices(LEVELS, weights)[0]  # noqa: S311
