"""What is used of Prefect's insides."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from seedbed.lm.compat import PrivateName

BLOCK_ID = PrivateName("prefect", "prefect.blocks.core.Block", "_block_document_id", "flows/deploy.py")
"""The id of a block that was loaded from the server. An automation names its block by it, and `Block` tells it nowhere
else."""


def block_id(block: Any) -> UUID:
    """The id of a loaded block."""
    found: UUID | None = BLOCK_ID.of(block)
    if found is None:
        raise BLOCK_ID.gone()
    return found
