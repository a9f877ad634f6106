"""When a search of GEPA ends."""

from __future__ import annotations

from types import SimpleNamespace

from seedbed.phases.optimizers.gepa import Plateau


def _ended(scores: list[list[float]], patience: int) -> int | None:
    """The round at which a search ends whose candidates have these val scores, round by round."""
    rule = Plateau(patience)
    for number, own in enumerate(scores, start=-1):
        if rule(SimpleNamespace(i=number, program_full_scores_val_set=own)):
            return number
    return None


def test_a_search_ends_after_so_many_rounds_without_a_better_val_score() -> None:
    rising = [[0.1], [0.1], [0.1, 0.2], *[[0.1, 0.2, 0.2]] * 9]
    assert _ended(rising, 5) == 1 + 5
    assert _ended(rising, 50) is None


def test_a_better_score_starts_the_count_anew() -> None:
    scores = [[0.1], *[[0.1]] * 3, [0.1, 0.3], *[[0.1, 0.3]] * 3, [0.1, 0.3, 0.4], *[[0.1, 0.3, 0.4]] * 5]
    assert _ended(scores, 4) == 7 + 4
    assert _ended(scores, 3) == 2


def test_asking_twice_in_a_round_counts_it_once() -> None:
    rule = Plateau(2)
    state = SimpleNamespace(i=0, program_full_scores_val_set=[0.5])
    assert not any(rule(state) for _ in range(10))
    assert rule(SimpleNamespace(i=2, program_full_scores_val_set=[0.5]))
