"""`seedbed compare A B`: is B better than A, worse, no different, or can these samples not tell?"""

from __future__ import annotations

import argparse
import json
import re
import sys
import webbrowser
from collections.abc import Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING

from seedbed.cli.main import EXIT_OK
from seedbed.errors import UserError
from seedbed.local.locate import locate
from seedbed.report.screen import folded, screen_width
from seedbed.storage.paths import as_root, home, is_local

if TYPE_CHECKING:
    from seedbed.analysis.results import Comparison
    from seedbed.phases.compare import Side


def run(arguments: argparse.Namespace) -> int:
    from seedbed.phases.compare import compare, write_comparison
    from seedbed.report.tables import comparison_table
    from seedbed.report.writers import markdown_table

    a, b = _side(arguments.a, arguments.out), _side(arguments.b, arguments.out)
    found = compare(a, b, arguments.margin)
    made = [c for c in found if c.difference is not None]
    if arguments.metric:
        known = sorted({c.metric for c in made})
        if arguments.metric not in known:
            raise UserError(f"--metric {arguments.metric!r}: not among those both have: {', '.join(known)}.")
        made = [c for c in made if c.metric == arguments.metric]
    if arguments.json:
        print(json.dumps([asdict(c) for c in made], ensure_ascii=False, indent=2))
        return EXIT_OK
    print(f"{b.name} against {a.name}\n")
    for suite in dict.fromkeys(c.suite for c in made):
        for metric in b.metrics(suite):
            own = [c for c in made if (c.suite, c.metric) == (suite, metric.name)]
            if own:
                # A table is wider than most screens, which would break it in the middle of a number.
                told = _sentences(own) if sys.stdout.isatty() else markdown_table(comparison_table(own, suite, metric))
                print(f"{suite} · {metric.label}\n\n{told}\n")
    if not arguments.metric:
        _say_why([c for c in found if c.difference is None])
    if arguments.open:
        root = as_root(arguments.out)
        # A browser reads no object; the page is made from files of both sides and can be made again.
        folder = (
            (root if is_local(root) else home())
            / "compare"
            / re.sub(r"[^A-Za-z0-9._-]+", "-", f"{b.name}-against-{a.name}")
        )
        page = write_comparison(a, b, made, folder)
        print(f"  {page}")
        webbrowser.open(page.resolve().as_uri())
    return EXIT_OK


def _sentences(own: Sequence[Comparison]) -> str:
    """A verdict each, with its p."""
    from seedbed.report.console import verdict_line
    from seedbed.report.tables import p_value

    lines = (f"{verdict_line(asdict(c))}{'' if c.p_holm is None else f', p {p_value(c.p_holm)} (Holm)'}" for c in own)
    return "\n".join(folded(line, screen_width()) for line in lines)


def _say_why(without_pairs: Sequence[Comparison]) -> None:
    """A line a reason, with the metrics that have no pair for it."""
    labels: dict[tuple[str, str], dict[str, None]] = {}
    for c in without_pairs:
        labels.setdefault((c.suite, c.reason or "undefined"), {})[c.metric_label or c.metric] = None
    for (suite, reason), own in labels.items():
        # No list of parts: it breaks between words.
        said = folded(f"not compared: {', '.join(own)} ({reason})", screen_width() - len(suite) - 3)
        print(f"{suite} · {said}")


def _side(text: str, out: str) -> Side:
    from seedbed.phases.compare import Side
    from seedbed.phases.imports.imported import import_path, read_import

    # The colon of s3:// parts nothing.
    scheme, mark, rest = text.rpartition("://")
    sweep, _, label = rest.partition(":")
    if not mark and "/" not in sweep and import_path(as_root(out), sweep).exists():
        return Side(read_import(as_root(out), sweep), label or None)
    return Side(locate(f"{scheme}{mark}{sweep}", out), label or None)
