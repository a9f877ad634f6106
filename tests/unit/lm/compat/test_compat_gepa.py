"""GEPA still has what is used of its insides."""

from types import ModuleType

import pytest

from seedbed.lm.compat import LibraryChanged
from seedbed.lm.compat.gepa import BAR


def test_gepa_draws_its_bars_by_a_class_in_its_engine() -> None:
    assert isinstance(BAR.load(), type)


def test_a_gepa_without_it_is_told_in_a_sentence() -> None:
    with pytest.raises(
        LibraryChanged, match=r"^gepa .* has no gepa\.core\.engine\.tqdm, which seedbed/phases/optimizers/silence\.py"
    ):
        BAR.of(ModuleType("gepa.core.engine"))
