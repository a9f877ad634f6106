"""`seedbed label SWEEP --metric NAME`: a page on this machine where a person marks what a model judged."""

from __future__ import annotations

import argparse
import contextlib
import re
import webbrowser

from seedbed.cli.main import EXIT_OK
from seedbed.errors import UserError
from seedbed.local.label_server import LabelServer
from seedbed.local.locate import locate


def run(arguments: argparse.Namespace) -> int:
    from seedbed.phases.labelling import Labelling

    if not re.fullmatch(r"[\w.@-]{1,60}", arguments.rater):
        raise UserError(f"--rater {arguments.rater!r}: write letters, digits and . _ @ - only, at most 60.")
    found = locate(arguments.sweep, arguments.out)
    work = Labelling(found, arguments.metric, arguments.rater, arguments.systems, arguments.benchmark)
    if not work.items:
        raise UserError(f"--metric {arguments.metric!r}: no answer needs a label.")
    with LabelServer(work, arguments.port) as serving:
        print(f"{len(work.items):,} answers, in random order; stop whenever you like.", flush=True)
        print(f"{serving.link}\nlabels go to {work.path} (Ctrl-C stops)", flush=True)
        if not arguments.no_open:
            webbrowser.open(serving.link)
        with contextlib.suppress(KeyboardInterrupt):
            serving.serve_forever()
    done = sum(work.given(at)[0] for at in range(len(work.items)))
    print(f"\n{done:,} answers have a label of {work.rater}; `seedbed report {arguments.sweep}` corrects by them.")
    return EXIT_OK
