"""`seedbed doctor`: is this machine ready?"""

from __future__ import annotations

import argparse
import importlib.util
import os
import sys
from pathlib import Path

from seedbed.cli.main import EXIT_FAILED, EXIT_OK
from seedbed.local import server
from seedbed.sweep.manifest import package_versions

_NEEDED = {
    "prefect": ("3.8.8", "3.9"),
    "dspy": ("3.4.1", "3.5"),
    "sqlalchemy": ("2.0", "2.1"),
    "fastapi": ("0", "0.151"),
}
_KEYS = ("OPENAI_API_KEY", "ANTHROPIC_API_KEY", "GEMINI_API_KEY", "AZURE_API_KEY", "MISTRAL_API_KEY", "HF_TOKEN")


def run(arguments: argparse.Namespace) -> int:
    problems = [*_python(), *_packages()]
    _server()
    for key in _KEYS:
        print(f"  key {key:<20} {'present' if os.environ.get(key) else 'not set'}")
    _embeddings()
    for problem in problems:
        print(f"problem: {problem}")
    print("ready" if not problems else f"{len(problems)} problem(s)")
    return EXIT_FAILED if problems else EXIT_OK


def _python() -> list[str]:
    print(f"  python {sys.version.split()[0]}")
    return [] if sys.version_info >= (3, 11) else ["Seedbed needs Python 3.11 or newer"]


def _packages() -> list[str]:
    from importlib.metadata import version

    for name, found in package_versions():
        print(f"  {name} {found}")
    problems: list[str] = []
    for name, (low, high) in _NEEDED.items():
        found = version(name)
        if not _parts(low) <= _parts(found) < _parts(high):
            problems.append(f"{name} {found} does not work here; install {name}>={low},<{high}")
    return problems


def _server() -> None:
    found = server.running()
    given = os.environ.get("PREFECT_API_URL")
    if given:
        print(f"  Prefect API {given} (from PREFECT_API_URL)")
    print(f"  local server {found.ui if found else 'not running (started when it is needed)'}")
    print(f"  home {server.home()}")


def _embeddings() -> None:
    installed = importlib.util.find_spec("FlagEmbedding") is not None
    print(f"  FlagEmbedding {'installed' if installed else 'not installed (extra: embeddings)'}")
    weights = os.environ.get("SEEDBED_WEIGHTS")
    present = bool(weights) and Path(weights or "").is_dir()
    print(f"  weights {weights if present else 'none (set SEEDBED_WEIGHTS to a folder of models)'}")


def _parts(text: str) -> tuple[int, ...]:
    return tuple(int(part) for part in text.split(".")[:3] if part.isdigit())
