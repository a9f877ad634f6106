"""The answer metrics over many rows at once, to the same last digit as a row at a time.

All texts are joined into one array of code points, looked up in tables there and taken apart again, so that the work a
character costs is numpy's. Each distinct text is normalised once and each distinct pair compared once: the same golds
come back for every system and seed, and so do many answers.
"""

import unicodedata
from collections.abc import Callable, Sequence
from itertools import chain

import numpy as np
from numpy.typing import NDArray

from seedbed.suites.crosslingual.overlap import Ids, f1_of_pairs, numbered
from seedbed.suites.crosslingual.scripts import language_mask, letter_masks, splits_by_character
from seedbed.suites.crosslingual.text import DOTTED_I, FOLD, SIGNS, answers

Codes = NDArray[np.uint32]
Scores = NDArray[np.float64]

# NUL never composes, is never case-ignorable and normalises to a space, so it parts texts without touching them.
_SEPARATOR = "\0"
_SPACE = ord(" ")
# Rows scored at a time: the dictionaries of distinct texts and words stay in the processor's cache (measured: one
# dictionary over 200,000 distinct answers is three times slower).
_CHUNK = 4096
_UNKNOWN = 0xFFFFFFFF
_DROPPED = 0xFFFFFFFE


class CodePointTable:
    """An array over all of Unicode that works out the values of code points when they are first met."""

    def __init__(self, compute: Callable[[str], list[int]]) -> None:
        self._compute = compute
        self._values: Codes | None = None

    def __call__(self, codes: Codes) -> Codes:
        if self._values is None:
            self._values = np.full(0x110000, _UNKNOWN, dtype=np.uint32)
        found = self._values[codes]
        missing = found == _UNKNOWN
        if not missing.any():
            return found
        # A mark for each code point finds the distinct ones without sorting millions of characters.
        met = np.zeros(len(self._values), dtype=np.bool_)
        met[codes[missing]] = True
        new = np.flatnonzero(met)
        self._values[new] = self._compute("".join(map(chr, new.tolist())))
        return self._values[codes]


def _folded(chars: str) -> list[int]:
    values = [FOLD[ord(char)] for char in chars]
    return [0 if char == _SEPARATOR else _DROPPED if value is None else value for char, value in zip(chars, values)]


_FOLDED = CodePointTable(_folded)
_MASKS = CodePointTable(letter_masks)


def _joined(texts: Sequence[str]) -> str:
    joined = _SEPARATOR.join(texts)
    if joined.count(_SEPARATOR) >= len(texts):
        joined = _SEPARATOR.join([text.replace(_SEPARATOR, " ") for text in texts])
    return joined


def _codes(text: str) -> Codes:
    return np.frombuffer(text.encode("utf-32-le", "surrogatepass"), dtype="<u4").astype(np.uint32, copy=False)


def _squeezed(codes: Codes) -> Codes:
    """Single spaces within each text and none at its ends; the codes begin and end with a separator."""
    spaces = np.flatnonzero(codes == _SPACE)
    following = codes[spaces + 1]
    codes = np.delete(codes, spaces[(following == _SPACE) | (following == 0)])
    spaces = np.flatnonzero(codes == _SPACE)
    return np.delete(codes, spaces[codes[spaces - 1] == 0])


def normalise_all(texts: Sequence[str]) -> list[str]:
    """`normalise` of each text."""
    if not texts:
        return []
    joined = _joined(texts)
    for sign in SIGNS:
        joined = joined.replace(sign, "")
    # NFKC a text at a time: one character that needs it would send the whole joined string down the slow path.
    nfkc = [text if text.isascii() else unicodedata.normalize("NFKC", text) for text in joined.split(_SEPARATOR)]
    lowered = _SEPARATOR.join(["", *nfkc, ""]).lower().replace(DOTTED_I, "i")
    folded = _FOLDED(_codes(lowered))
    folded = _squeezed(folded[folded != _DROPPED])
    return folded[1:-1].astype("<u4", copy=False).tobytes().decode("utf-32-le").split(_SEPARATOR)


def rlc_all(texts: Sequence[str], wanted: Codes) -> Scores:
    """`rlc` of each text, given the script mask of the language it should be in."""
    if not texts:
        return np.zeros(0)
    masks = _MASKS(_codes(_joined(texts) + _SEPARATOR))
    lengths = np.array([len(text) + 1 for text in texts], dtype=np.int64)
    # Each text ends in a neutral separator, so no segment is empty and reduceat is safe.
    starts = np.cumsum(lengths) - lengths
    letters = np.add.reduceat(masks != 0, starts, dtype=np.int64)
    hits = np.add.reduceat((masks & np.repeat(wanted, lengths)) != 0, starts, dtype=np.int64)
    return np.where(letters == 0, 1.0, hits / np.maximum(letters, 1))


def _distinct_pairs(left: Ids, right: Ids) -> tuple[Ids, Ids, Ids]:
    """The distinct pairs, and for each given pair its place among them."""
    width = int(right.max(initial=0)) + 1
    keys, places = np.unique(left * width + right, return_inverse=True)
    return keys // width, keys % width, places


def _answer_scores(
    texts: Sequence[str], left: Ids, right: Ids, by_character: NDArray[np.bool_]
) -> tuple[Scores, Scores]:
    """EM and F1 of each pair of normalised texts."""
    equal = left == right
    em = equal.astype(np.float64)
    f1 = em.copy()
    for per_character in (False, True):
        rows = np.flatnonzero(~equal & (by_character == per_character))
        pairs = _distinct_pairs(left[rows], right[rows])
        f1[rows] = f1_of_pairs(texts, pairs[0], pairs[1], per_character)[pairs[2]]
    return em, f1


def _score_chunk(
    preds: Sequence[str],
    golds: Sequence[str | Sequence[str]],
    langs: Sequence[str],
) -> tuple[Scores, Scores, Scores]:
    tags, lang_ids = numbered(langs)
    accepted = [answers(gold) for gold in golds]
    aliases = np.array([len(row) for row in accepted], dtype=np.int64)
    texts, text_ids = numbered([*preds, *chain.from_iterable(accepted)])
    pred_ids, gold_ids = text_ids[: len(preds)], text_ids[len(preds) :]

    pairs = _distinct_pairs(pred_ids, lang_ids)
    wanted = np.array([language_mask(tag) for tag in tags], dtype=np.uint32)
    rlc = rlc_all([texts[i] for i in pairs[0].tolist()], wanted[pairs[1]])[pairs[2]]

    normalised, forms = numbered(normalise_all(texts))
    by_character = np.array([splits_by_character(tag) for tag in tags])[np.repeat(lang_ids, aliases)]
    em, f1 = _answer_scores(normalised, forms[np.repeat(pred_ids, aliases)], forms[gold_ids], by_character)
    starts = np.cumsum(aliases) - aliases
    return np.maximum.reduceat(em, starts), np.maximum.reduceat(f1, starts), rlc


def score_batch(
    preds: Sequence[str],
    golds: Sequence[str | Sequence[str]],
    langs: Sequence[str],
    threshold: float,
) -> dict[str, Scores]:
    """What `metrics.score_rows` promises."""
    if not len(preds) == len(golds) == len(langs):
        raise ValueError(f"rows must pair, but there are {len(preds)} preds, {len(golds)} golds and {len(langs)} langs")
    scores = np.zeros((3, len(preds)))
    for start in range(0, len(preds), _CHUNK):
        rows = slice(start, start + _CHUNK)
        scores[:, rows] = _score_chunk(preds[rows], golds[rows], langs[rows])
    em, f1, rlc = scores
    return {"em": em, "f1": f1, "rlc": rlc, "rlc_ok": (rlc >= threshold).astype(np.float64)}
