"""What is used of litellm's files. Importing litellm takes seconds, and reading a file does not."""

from __future__ import annotations

from seedbed.lm.compat import PrivateFile

PRICE_LIST = PrivateFile("litellm", "model_prices_and_context_window_backup.json", "seedbed/lm/prices/price_list.py")
"""Prices and limits of models by litellm name, as released with the package."""

TOKENIZERS = PrivateFile("litellm", "litellm_core_utils/tokenizers", "seedbed/lm/tokens.py")
"""A cache folder of tiktoken, whose files it would else fetch from the network. They are named by a hash of their
address."""
