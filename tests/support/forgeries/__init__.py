"""Ways to forge the results of a sweep, as somebody would who wants other figures believed."""

from tests.support.forgeries.cells import ANSWERS, CELLS, PLAN, ROWS
from tests.support.forgeries.copies import CONFIG, Copy, Forgery, copy_of, renew
from tests.support.forgeries.ledger import LEDGER
from tests.support.forgeries.published import GONE, PUBLISHED

__all__ = ["BATCHES", "CONFIG", "Copy", "Forgery", "copy_of", "renew"]

BATCHES = {
    "published": PUBLISHED,
    "cells": CELLS,
    "rows": ROWS,
    "answers": ANSWERS,
    "ledger": LEDGER,
    "gone": GONE,
    "plan": PLAN,
}
"""Forgeries that can be made in one copy and still be told apart."""
