"""Texts found by their words or their vectors, for all suites: a handful in memory, millions mapped from a disk."""
