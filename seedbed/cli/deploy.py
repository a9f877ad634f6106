"""`seedbed deploy|serve|worker`: schedules and those who carry them out."""

from __future__ import annotations

import argparse
import asyncio
import os
import signal
import subprocess
import sys
from pathlib import Path

import yaml

import seedbed
from seedbed.cli.main import EXIT_OK
from seedbed.errors import Signalled, UserError
from seedbed.local import server
from seedbed.local.launch import import_flows
from seedbed.sweep.config import load_config
from seedbed.sweep.manifest import git_state
from seedbed.sweep.plan import make_plan

_WORKER_ENDS_S = 30.0
_HOW_TO_START = "seedbed worker --pool"


def run(arguments: argparse.Namespace) -> int:
    server.connect()
    if arguments.command != "worker":
        _deploy(arguments)
    if arguments.command == "deploy":
        print(f"\nStart a worker where the runs are to happen: {_HOW_TO_START} {arguments.pool}")
        return EXIT_OK
    return _work(arguments.pool)


def _deploy(arguments: argparse.Namespace) -> None:
    config = Path(arguments.config)
    # What would fail at three in the night fails now.
    loaded, source = load_config(config)
    make_plan(loaded, source)
    deploy = import_flows("deploy")
    deploy.check_schedule(arguments.cron, arguments.timezone)
    file = _definitions(arguments.file)
    asyncio.run(deploy.make_pool(arguments.pool))
    deploy.register(
        file,
        {
            "SEEDBED_FOLDER": str(Path.cwd()),
            "SEEDBED_COMMIT_TAG": _commit_tag(),
            "SEEDBED_CONFIG": arguments.config,
            "SEEDBED_CRON": arguments.cron,
            "SEEDBED_TIMEZONE": arguments.timezone,
            "SEEDBED_POOL": arguments.pool,
        },
    )
    print(f"Deployed to pool {arguments.pool}, {_commit_tag()}:")
    for deployment in yaml.safe_load(file.read_text(encoding="utf-8"))["deployments"]:
        when = f" ({arguments.cron}, {arguments.timezone})" if deployment.get("schedules") else ""
        print(f"  {deployment['name'] + when:<30}{deployment.get('description', '')}")
    for does in asyncio.run(deploy.watch(arguments.notify)):
        print(f"  {'automation':<30}{does}")
    print(f"  {os.environ['PREFECT_API_URL'].removesuffix('/api')}/deployments")


def _work(pool: str) -> int:
    """Become a worker, until Ctrl-C. Its flows are processes of their own."""
    print(f"Working for pool {pool}; Ctrl-C stops.", flush=True)
    command = [sys.executable, "-m", "prefect", "worker", "start", "--pool", pool, "--type", "process"]
    with subprocess.Popen(command) as worker:  # noqa: S603
        try:
            return worker.wait()
        except Signalled as stop:
            # Ctrl-C reaches the worker by itself; who stops a service tells this process alone.
            if stop.number != signal.SIGINT:
                worker.terminate()
            try:
                worker.wait(_WORKER_ENDS_S)
            except (subprocess.TimeoutExpired, KeyboardInterrupt):
                worker.kill()
            return EXIT_OK if stop.number == signal.SIGINT else stop.exit_code


def _definitions(given: str | None) -> Path:
    """The prefect.yaml to register: the one given, the one of this folder, or the one that came with Seedbed."""
    if given is not None:
        if not Path(given).exists():
            raise UserError(f"--file {given}: there is no such file.")
        return Path(given)
    shipped = Path(sys.prefix) / "share" / "seedbed" / "prefect.yaml"
    checkout = Path(seedbed.__file__).resolve().parent.parent / "deployments" / "prefect.yaml"
    for path in (Path("deployments/prefect.yaml"), checkout, shipped):
        if path.exists():
            return path
    raise UserError("deployments/prefect.yaml was not found; install Seedbed anew or give --file.")


def _commit_tag() -> str:
    state = dict(git_state())
    if not state:
        return f"version {seedbed.__version__}"
    return f"commit {state['commit'][:12]}{' (changed)' if state['dirty'] else ''}"
