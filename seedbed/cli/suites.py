"""`seedbed suites`: what is registered."""

from __future__ import annotations

import argparse
from pathlib import Path

from seedbed.cli.main import EXIT_OK
from seedbed.sweep.registry import get_suite, import_plugins, suite_names


def run(arguments: argparse.Namespace) -> int:
    import_plugins(arguments.plugin, Path.cwd())
    for name in suite_names():
        suite = get_suite(name)
        print(f"{name}: {suite.title}")
        print(f"  benchmarks  {', '.join(suite.benchmarks)}")
        print(f"  systems     {', '.join(suite.systems)}")
        print(f"  metrics     {', '.join(metric.label for metric in suite.metrics)}")
    return EXIT_OK
