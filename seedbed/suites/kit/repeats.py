"""Cases that are asked more than once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from seedbed.suite import Case


def repeated(cases: Sequence[Case], times: int) -> list[Case]:
    """Each case so many times, every one an honest new answer; repeats of a case are of one cluster."""
    return [
        replace(case, sample_id=f"{case.sample_id}#{n}", repeat=n, cluster=case.cluster or case.sample_id)
        for n in range(times)
        for case in cases
    ]


def asked_case(case: Case) -> str:
    """The id of the case that this is a repeat of."""
    return case.sample_id.removesuffix(f"#{case.repeat}")
