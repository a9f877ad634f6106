"""`seedbed suites`: what is registered."""

from __future__ import annotations

import argparse
from pathlib import Path

from seedbed.cli.main import EXIT_OK
from seedbed.report.screen import folded, screen_width
from seedbed.sweep.registry import get_suite, import_plugins, scorer_names, suite_names


def run(arguments: argparse.Namespace) -> int:
    import_plugins(arguments.plugin, Path.cwd())
    for name in suite_names():
        suite = get_suite(name)
        print(f"{name}: {suite.title}")
        benchmarks = [*suite.benchmarks, *(["any name, with a file of yours"] if suite.any_benchmark else [])]
        systems = [*suite.systems, *(["any name, with a prompt or signature"] if suite.any_system else [])]
        metrics = [metric.label for metric in suite.metrics] or ["those of its scorers"]
        for what, names in (("benchmarks", benchmarks), ("systems", systems), ("metrics", metrics)):
            print(folded(f"  {what:<12}{', '.join(names)}", screen_width()))
    print(folded(f"scorers for every suite: {', '.join(scorer_names())}", screen_width()))
    return EXIT_OK
