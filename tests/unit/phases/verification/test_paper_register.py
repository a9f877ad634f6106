"""Sentences of a paper that are registered beside it: found whatever they say now, refused where they say nothing."""

from __future__ import annotations

from pathlib import Path

import pytest

from seedbed.errors import UserError
from seedbed.phases.verification.paper_register import Claim, read_claims
from seedbed.phases.verification.paper_source import TexFile


def found(claim: str, text: str) -> list[str]:
    file = TexFile(Path("/lab/p.tex"), "p.tex", text)
    return [text[start:end] for start, end in Claim(claim, ["a/b/c"], 1).found_in(file)]


@pytest.mark.parametrize(
    ("claim", "text", "said"),
    [
        ("an F1 of 0.612", "It has an F1 of 0.612.", ["an F1 of 0.612"]),
        ("an F1 of 0.612", "an F1 of 0.7 and an\nF1~of 61.2", ["an F1 of 0.7", "an\nF1~of 61.2"]),
        ("0.5 of all", "is .25 of all.", [".25 of all"]),
        ("is 0.5", "is 1,234.5e-3", ["is 1,234.5e-3"]),
        ("0.5 reaches it", "0.7reaches it", []),
        ("reaches 0.5", "reaches0.7", []),
        ("is 0.5 (n)", "is 0.7 (n)", ["is 0.7 (n)"]),
        ("is 0.5 (n)", "is 0.7 n", []),
        ("An F1 of 0.612", "an f1 of 0.6", ["an f1 of 0.6"]),
        ("significantly better than direct", "is rather worse than direct", ["is rather worse than direct"]),
        ("is better than direct", "is not really worse than direct", ["is not really worse than direct"]),
        ("is better than direct", "is by far and away worse than direct", []),
        ("from 0.5 to 0.7", "from 1 to 2", ["from 1 to 2"]),
        ("an F1 of 0.612", "an F2 of 0.612", []),
        ("0.5 0.7", "1 \n 2", ["1 \n 2"]),
    ],
)
def test_a_sentence_is_found_whatever_numbers_and_claims_it_has_now(claim: str, text: str, said: list[str]) -> None:
    assert found(claim, text) == said


def written(folder: Path, text: str) -> Path:
    (folder / "c.yaml").write_text(text, encoding="utf-8")
    return folder / "c.yaml"


def test_a_claim_is_read_with_its_addresses_and_its_line(tmp_path: Path) -> None:
    text = 'claims:\n  - {text: "is\n      0.5", is: a/b/c}\n  - text: 1 and 2\n    is: [a/b/c, d/e/f]\n'
    assert read_claims(written(tmp_path, text)) == [
        Claim("is 0.5", ["a/b/c"], 2),
        Claim("1 and 2", ["a/b/c", "d/e/f"], 4),
    ]
    assert read_claims(written(tmp_path, "claims: []\n")) == []


_SHAPE = "claims of a paper are a YAML mapping with 'claims:', a list of {text: ..., is: ADDRESS}."
_WORDS = "must be words of the paper, as they stand there."
_FIELDS = "a claim has the fields text and is, and no other."
_ADDRESS = "must be an address such as tiny/multi/f1, or a list with one a number."


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("- a\n", f": {_SHAPE}"),
        ("other: 1\n", f":1: field other: is not known; {_SHAPE}"),
        ("claims: []\nother: 1\n", f":2: field other: is not known; {_SHAPE}"),
        ("claims: {a: 1}\n", f": {_SHAPE}"),
        ("{}\n", f": {_SHAPE}"),
        ("claims:\n  - 1\n", f":2: field claims.0: {_FIELDS}"),
        ("claims:\n  - {text: is 1}\n", f":2: field claims.0: {_FIELDS}"),
        ("claims:\n  - {text: is 1, is: a/b/c, or: 2}\n", f":2: field claims.0: {_FIELDS}"),
        ("claims:\n  - {text: 1, is: a/b/c}\n", f":2: field claims.0.text: {_WORDS}"),
        ("claims:\n  - {text: ' ', is: a/b/c}\n", f":2: field claims.0.text: {_WORDS}"),
        ("claims:\n  - {text: is 1, is: []}\n", f":2: field claims.0.is: {_ADDRESS}"),
        ("claims:\n  - {text: is 1, is: 7}\n", f":2: field claims.0.is: {_ADDRESS}"),
        ("claims:\n  - {text: is 1, is: [a/b/c, 7]}\n", f":2: field claims.0.is: {_ADDRESS}"),
        (
            "claims:\n  - {text: is fine, is: a/b/c}\n",
            ":2: field claims.0.text: holds no number and no claim such as 'significantly better'.",
        ),
    ],
)
def test_what_is_no_claim_is_refused_with_its_line(tmp_path: Path, text: str, said: str) -> None:
    path = written(tmp_path, text)
    with pytest.raises(UserError) as told:
        read_claims(path)
    assert str(told.value) == f"{path}{said}"
