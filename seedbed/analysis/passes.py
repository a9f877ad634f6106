"""How often one of k answers to a case is right, and how often all of k are, from n answers of which c are right."""

from __future__ import annotations

from math import comb


def pass_at(n: int, c: int, k: int) -> float:
    """pass@k: the share of all choices of k answers out of the n that hold a right one. Its mean over draws of the n is
    the chance that one of k new answers is right (Chen et al. 2021)."""
    _check(n, c, k)
    return 1.0 - comb(n - c, k) / comb(n, k)


def pass_all(n: int, c: int, k: int) -> float:
    """pass^k: the share of those choices in which every answer is right (Yao et al. 2024)."""
    _check(n, c, k)
    return comb(c, k) / comb(n, k)


def _check(n: int, c: int, k: int) -> None:
    if not (0 <= c <= n and 1 <= k <= n):
        raise ValueError(f"pass@k: of {n} answers {c} are right and {k} are chosen; 0 <= c <= n and 1 <= k <= n")
