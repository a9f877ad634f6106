"""`seedbed explain SWEEP` or `seedbed explain A B`: which of judge, model, data, code and served model moved the
figures."""

from __future__ import annotations

import argparse
import json

from seedbed.cli.main import EXIT_OK
from seedbed.local.locate import locate


def run(arguments: argparse.Namespace) -> int:
    from seedbed.nightly.explaining import explain_latest, explain_runs

    old = locate(arguments.a, arguments.out)
    if arguments.b is None:
        found = explain_latest(old, arguments.max_usd)
    else:
        found = explain_runs(old, locate(arguments.b, arguments.out), arguments.max_usd)
    print(json.dumps(found.to_json(), ensure_ascii=False, indent=2) if arguments.json else found.markdown())
    return EXIT_OK
