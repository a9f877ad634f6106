"""litellm still ships the files that are read."""

import hashlib
from pathlib import Path

import orjson
import pytest

from seedbed.lm.compat import LibraryChanged, PrivateFile
from seedbed.lm.compat.litellm import PRICE_LIST, TOKENIZERS

_O200K = "https://openaipublic.blob.core.windows.net/encodings/o200k_base.tiktoken"


def test_litellm_ships_a_price_list_by_model() -> None:
    entry = orjson.loads(PRICE_LIST.find().read_bytes())["gpt-4.1-mini"]
    assert entry["input_cost_per_token"] > 0
    assert entry["max_output_tokens"] > 0


def test_litellm_ships_the_tokenizer_under_tiktoken_s_name_for_it() -> None:
    name = hashlib.sha1(_O200K.encode()).hexdigest()
    assert (TOKENIZERS.find() / name).is_file(), f"litellm's folder {TOKENIZERS.path} has no o200k_base ({name})"


@pytest.mark.parametrize("file", [PRICE_LIST, TOKENIZERS], ids=lambda file: file.path)
def test_a_litellm_without_it_is_told_in_a_sentence(tmp_path: Path, file: PrivateFile) -> None:
    with pytest.raises(LibraryChanged, match=rf"^litellm .* has no {file.path}, which {file.used_in} needs"):
        file.find(tmp_path)
