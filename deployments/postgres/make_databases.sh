#!/usr/bin/env bash
# Makes the user and the two databases that Seedbed needs on a PostgreSQL server: one for ledgers, one for Prefect.
# Run it as somebody who may (for example `sudo -u postgres`); PGHOST, PGPORT and PGUSER say where, as for psql.
# Safe to run again: what is there already stays.
#
#   SEEDBED_DB_USER      the user to make                          (seedbed)
#   SEEDBED_DB_PASSWORD  its password; left out, none is set: `trust` or `peer` in pg_hba.conf then has to let it in
#   SEEDBED_LEDGER_DB    the database of the ledgers               (seedbed_ledger)
#   SEEDBED_PREFECT_DB   the database of Prefect's server          (seedbed_prefect)
set -euo pipefail

user="${SEEDBED_DB_USER:-seedbed}"
ask() { psql --no-psqlrc --quiet --tuples-only --no-align --set ON_ERROR_STOP=1 --dbname postgres "$@"; }

if [ -z "$(ask --set user="$user" <<<"SELECT 1 FROM pg_roles WHERE rolname = :'user'")" ]; then
  ask --set user="$user" <<<'CREATE ROLE :"user" LOGIN'
fi
if [ -n "${SEEDBED_DB_PASSWORD:-}" ]; then
  # By standard input and environment: a command line can be read by everybody on the machine.
  ask --set user="$user" <<'SQL'
\getenv password SEEDBED_DB_PASSWORD
ALTER ROLE :"user" PASSWORD :'password'
SQL
fi
for name in "${SEEDBED_LEDGER_DB:-seedbed_ledger}" "${SEEDBED_PREFECT_DB:-seedbed_prefect}"; do
  if [ -z "$(ask --set name="$name" <<<"SELECT 1 FROM pg_database WHERE datname = :'name'")" ]; then
    ask --set user="$user" --set name="$name" <<<"CREATE DATABASE :\"name\" OWNER :\"user\" ENCODING 'UTF8' TEMPLATE template0"
  fi
done
# Prefect's migrations ask for this extension; Debian has it in `postgresql`, others in `postgresql-contrib`.
psql --no-psqlrc --quiet --set ON_ERROR_STOP=1 --dbname "${SEEDBED_PREFECT_DB:-seedbed_prefect}" \
  --command 'SET client_min_messages = warning' --command 'CREATE EXTENSION IF NOT EXISTS pg_trgm'
echo "user $user, databases ${SEEDBED_LEDGER_DB:-seedbed_ledger} and ${SEEDBED_PREFECT_DB:-seedbed_prefect} are there"
