"""A deterministic stand-in for a language model: in process, without a key and without a network.

What is named here is imported when it is asked for: the language detector alone must not bring all skills with it.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from seedbed.offline.model import OfflineModel
    from seedbed.offline.options import ErrorRates, OfflineOptions
    from seedbed.offline.provider import OfflineProvider

__all__ = ["ErrorRates", "OfflineModel", "OfflineOptions", "OfflineProvider"]

_HOMES = {
    "ErrorRates": "options",
    "OfflineModel": "model",
    "OfflineOptions": "options",
    "OfflineProvider": "provider",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(f"{__name__}.{_HOMES[name]}"), name)
