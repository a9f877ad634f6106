"""Prefect's server on PostgreSQL, set up by the script of deployments/postgres: a sweep runs and is recorded there."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.flows.test_secrets import files_with
from tests.support import forked
from tests.support.ports import quiet_port
from tests.support.postgres import PASSWORD, Postgres

ROOT = Path(__file__).parents[2]
SWEEP = """\
name: tryout
seeds: [0, 1]
models: {{small: {{model: offline/small}}}}
experiments:
  - suite: crosslingual
    models: [small]
    benchmarks: [{{name: tiny, limit: 3}}]
    systems: [direct]
ledger: {ledger}
"""


def _make_databases(postgres: Postgres) -> None:
    if shutil.which("psql") is None:
        pytest.skip("psql is not installed (apt install postgresql)")
    names = {"SEEDBED_DB_USER": "locked", "SEEDBED_LEDGER_DB": "lab_ledger", "SEEDBED_PREFECT_DB": "lab_prefect"}
    where = {"PGHOST": "127.0.0.1", "PGPORT": str(postgres.port), "PGUSER": "postgres"}
    for _ in range(2):  # giving it again changes nothing
        subprocess.run(
            [str(ROOT / "deployments/postgres/make_databases.sh")],
            env={**os.environ, **where, **names, "SEEDBED_DB_PASSWORD": PASSWORD},
            check=True,
            timeout=600,
        )


def _count(postgres: Postgres, query: str) -> int:
    import psycopg

    with psycopg.connect(postgres.url("lab_prefect", driver="postgresql")) as connection:
        row = connection.execute(query.encode()).fetchone()
    assert row is not None
    return row[0]


def test_a_sweep_runs_on_a_prefect_server_that_keeps_its_records_in_postgresql(
    tmp_path: Path, postgres: Postgres
) -> None:
    _make_databases(postgres)
    port = quiet_port()
    home, out, config = tmp_path / "home", tmp_path / "out", tmp_path / "tryout.yaml"
    config.write_text(SWEEP.format(ledger=postgres.url("lab_ledger", "locked")))
    environment = {
        **{name: value for name, value in os.environ.items() if not name.startswith("PREFECT_")},
        "SEEDBED_HOME": str(home),
        "SEEDBED_PORT": str(port),
        "SEEDBED_PREFECT_DATABASE": postgres.url("lab_prefect", "locked", "postgresql+asyncpg"),
        "PGPASSWORD": PASSWORD,
    }

    def seedbed(*arguments: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "seedbed", *arguments]
        return forked.run(command, env=environment, cwd=ROOT, capture_output=True, text=True, timeout=600)

    try:
        for workers in (2, 3):  # the same plan would start nothing a second time
            done = seedbed("run", str(config), "--out", str(out), "--set", f"runner.workers={workers}")
            assert done.returncode == 0, done.stderr
    finally:
        seedbed("server", "stop")
    assert _count(postgres, "SELECT count(*) FROM flow_run WHERE state_type = 'COMPLETED'") == 2
    assert _count(postgres, "SELECT count(*) FROM task_run WHERE state_name = 'Cached'") > 0
    assert not (home / "prefect.db").exists()
    assert files_with(PASSWORD, home, out) == []
