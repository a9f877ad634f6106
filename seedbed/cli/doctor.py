"""`seedbed doctor`: is this machine ready, and do the models of a config answer?"""

from __future__ import annotations

import argparse
import importlib.util
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from seedbed.cli.main import EXIT_FAILED, EXIT_OK
from seedbed.local import server
from seedbed.sweep.manifest import package_versions

if TYPE_CHECKING:
    from seedbed.lm.probe import Probe
    from seedbed.sweep.model_config import ModelConfig

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
    if arguments.config:
        problems += _models(Path(arguments.config))
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


def _models(path: Path) -> list[str]:
    """Ask every model of a config something small; the calls are counted in a ledger of their own."""
    from seedbed.lm.probe import probe
    from seedbed.lm.usable_models import refuse_unusable
    from seedbed.sweep.config import load_config

    config, source = load_config(path)
    problems = refuse_unusable(config, source)
    for name, model in config.models.items():
        found = probe(model, server.probes())
        if found.error is not None:
            print(f"  model {name}: does not answer")
            problems.append(f"model {name}: {found.error}")
            continue
        form = "keeps to the form" if found.readable else "does not keep to the form of DSPy's questions"
        json_form = {"schema": "JSON by schema", "json": "JSON without a schema", None: "no JSON on request"}
        paid = "price unknown" if found.usd is None else f"${found.usd:.6f}"
        speed = f"{found.tokens_per_s:.0f} tokens/s" if found.tokens_per_s else "no tokens told"
        told = f"{form}, {json_form[found.structured]}, {speed}, {found.calls} calls ({paid})"
        print(f"  model {name}: answers, {told}")
        problems += _advice(name, model, found)
    return problems


def _advice(name: str, model: ModelConfig, found: Probe) -> list[str]:
    from seedbed.lm.abilities import abilities_of

    believed = abilities_of(model)
    if found.structured is None and believed.response_schema:
        return [f"model {name} is believed to take a JSON schema and did not: set models.{name}.structured: off"]
    if found.structured is not None and "response_format" not in believed.params and not model.simulated:
        print(f"    it takes more than is known of it: set models.{name}.structured: {found.structured}")
    return []


def _parts(text: str) -> tuple[int, ...]:
    return tuple(int(part) for part in text.split(".")[:3] if part.isdigit())
