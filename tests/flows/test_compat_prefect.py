"""Prefect still has what is used of its insides."""

from types import SimpleNamespace
from uuid import uuid4

import pytest
from prefect.blocks.core import Block

from flows.compat import BLOCK_ID, block_id
from seedbed.lm.compat import LibraryChanged


def test_a_block_has_a_place_for_the_id_that_the_server_gave_it() -> None:
    assert BLOCK_ID.name in Block.__private_attributes__, str(BLOCK_ID.gone())


def test_the_id_of_a_loaded_block_is_found() -> None:
    block, given = Block(), uuid4()
    setattr(block, BLOCK_ID.name, given)
    assert block_id(block) == given


@pytest.mark.parametrize("block", [SimpleNamespace(), Block()], ids=["no such name", "no id in it"])
def test_a_prefect_without_it_is_told_in_a_sentence(block: object) -> None:
    with pytest.raises(
        LibraryChanged, match=r"^prefect .* has no prefect\.blocks\.core\.Block\._block_document_id, which flows/deploy"
    ):
        block_id(block)
