"""Prefect tasks: a phase of a cell each. Retries, caching, names and artifacts; no logic."""
