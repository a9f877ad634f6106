"""What is used of GEPA's insides."""

from __future__ import annotations

from seedbed.lm.compat import PrivateName

BAR = PrivateName("gepa", "gepa.core.engine", "tqdm", "seedbed/phases/optimizers/silence.py")
"""The class whose bars a search draws on stdout, and None where tqdm is not installed; `dspy.GEPA` has no way to turn
them off."""
