"""`python -m bench`: all benchmarks."""

from bench.lm_bench import main

main()
