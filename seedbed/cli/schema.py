"""`seedbed schema`: the JSON schema of a config, for editors."""

from __future__ import annotations

import argparse
import json

from seedbed.cli.main import EXIT_OK
from seedbed.sweep.config import schema


def run(arguments: argparse.Namespace) -> int:
    print(json.dumps(schema(), indent=2, ensure_ascii=False))
    return EXIT_OK
