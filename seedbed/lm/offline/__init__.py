"""A deterministic stand-in for a language model: in process, without a key and without a network."""

from __future__ import annotations

from seedbed.lm.offline.model import OfflineModel
from seedbed.lm.offline.options import ErrorRates, OfflineOptions
from seedbed.lm.offline.provider import OfflineProvider
from seedbed.lm.offline.tokens import count_tokens

__all__ = ["ErrorRates", "OfflineModel", "OfflineOptions", "OfflineProvider", "count_tokens"]
