"""`seedbed synth`: a test set from documents."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from seedbed.cli.main import EXIT_FAILED, EXIT_OK
from seedbed.errors import BudgetReached, UserError
from seedbed.storage.paths import local_path

AGAIN = "Everything paid for is kept: give the same command again to go on."


def run(arguments: argparse.Namespace) -> int:
    from seedbed.lm.session import model_of
    from seedbed.suites.rag_quality.synth.command import synthesise
    from seedbed.suites.rag_quality.synth.generate import Wish

    for name, least in (("cases", 1), ("personas", 1)):
        if getattr(arguments, name) < least:
            raise UserError(f"--{name} {getattr(arguments, name)}: must be at least {least}.")
    if not 0 <= arguments.multi_hop <= 1:
        raise UserError(f"--multi-hop {arguments.multi_hop}: a share, must lie between 0 and 1.")
    model = model_of(
        arguments.model,
        api_base=arguments.api_base,
        key_env=arguments.key_env,
        concurrency=arguments.concurrency,
        temperature=arguments.temperature,
    )
    wish = Wish(arguments.cases, arguments.seed, arguments.personas, arguments.multi_hop)
    documents = [Path(name) for name in arguments.documents]
    try:
        print(synthesise(documents, local_path(arguments.out, "--out"), wish, model, arguments.max_usd))
    except BudgetReached as error:
        print(f"seedbed: {error}. {AGAIN}", file=sys.stderr)
        return EXIT_FAILED
    except KeyboardInterrupt:
        print("\nEverything paid for is kept.", file=sys.stderr)
        raise
    return EXIT_OK
