"""Scorers that any suite can have under `scorers:`, each declaring its metrics; the registry knows them by name."""
