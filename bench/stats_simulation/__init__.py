"""Do the intervals cover and do the tests err as often as they say? Sweeps with a known truth, many times over.

    python -m bench.stats_simulation [--sweeps 2000] [--only intervals,clusters,one_sided,seeds,gate,...]

Every simulated sweep has two systems on the same samples, and goes through the functions that reports are made with.
Beside each figure stands what Seedbed's former intervals and tests did with the same sweeps (`former.py`).
The tables in docs/statistics.md are what this prints.
"""
