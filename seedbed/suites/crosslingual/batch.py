"""The answer metrics over many rows at once, to the same last digit as a row at a time.

Texts are joined into one array of code points and looked up in tables there, so that the work a character costs is
numpy's. What a table cannot say, because neighbouring characters act on each other, goes through `normalise` itself.
"""

import threading
import unicodedata
from collections.abc import Callable, Sequence
from itertools import chain

import numpy as np

from seedbed.suites.crosslingual.overlap import Codes, Flags, Ids, Scores, Segments, em_f1_of_pairs, segment
from seedbed.suites.crosslingual.scripts import language_mask, letter_masks, splits_by_character
from seedbed.suites.kit.answer_text import FOLD, SIGNS, answers, normalise

# NUL normalises to a space and is no letter, so inside a text a space may stand for it, and it can part texts.
_SEPARATOR = "\0"

# Rows scored at a time: what they need stays in the processor's cache, and memory does not grow with the rows.
_CHUNK = 2048

# Values of a table that are no code points.
_UNKNOWN, _DROPPED, _CONTEXTUAL = 0xFFFFFFFF, 0xFFFFFFFE, 0xFFFFFFFD

# Added to a code point that stays as it is in a text already in NFKC, and may change in another.
_IF_NFKC = 1 << 30


class CodePointTable:
    """An array over all of Unicode that works out the values of code points when they are first met.

    One serves all threads of the process: it is never replaced, and a value once written is never another. Whoever
    finds one missing fills it in before reading on.
    """

    def __init__(self, compute: Callable[[str], list[int]]) -> None:
        self._compute = compute
        self._values: Codes = np.full(0x110000, _UNKNOWN, dtype=np.uint32)
        self._filling = threading.Lock()

    def __call__(self, codes: Codes) -> Codes:
        found = self._values[codes]
        missing = found == _UNKNOWN
        if not missing.any():
            return found
        # A mark for each code point finds the distinct ones without sorting millions of characters.
        met = np.zeros(len(self._values), dtype=np.bool_)
        met[codes[missing]] = True
        new = np.flatnonzero(met)
        with self._filling:
            self._values[new] = self._compute("".join(map(chr, new.tolist())))
        return self._values[codes]


def _normalised_alone(char: str) -> int:
    """What `normalise` makes of a character wherever it stands, or _CONTEXTUAL where that depends on its neighbours.

    Capital sigma has two lower cases, a dot above may belong to a dotted i, and what becomes several characters is left
    to `normalise` as well. Marks and conjoining jamo act on their neighbours in NFKC only: _IF_NFKC is added to them.
    """
    if char == _SEPARATOR:
        return 0
    if char in SIGNS:
        return _DROPPED
    plain = unicodedata.normalize("NFKC", char).lower()
    if len(plain) != 1 or char in "\N{GREEK CAPITAL LETTER SIGMA}\N{COMBINING DOT ABOVE}":
        return _CONTEXTUAL
    folded = FOLD[ord(plain)]
    if folded is None:
        return _DROPPED
    acts = unicodedata.category(plain)[0] == "M" or 0x1100 <= ord(plain) <= 0x11FF
    if acts and plain != char:
        return _CONTEXTUAL
    return folded + _IF_NFKC if acts else folded


def _all_normalised_alone(chars: str) -> list[int]:
    return [_normalised_alone(char) for char in chars]


_NORMALISED = CodePointTable(_all_normalised_alone)
_MASKS = CodePointTable(letter_masks)


def _codes(texts: Sequence[str]) -> Codes:
    """The code points of all texts, a separator after each."""
    joined = _SEPARATOR.join([*texts, ""])
    if joined.count(_SEPARATOR) != len(texts):
        joined = _SEPARATOR.join([*(text.replace(_SEPARATOR, " ") for text in texts), ""])
    return np.frombuffer(joined.encode("utf-32-le", "surrogatepass"), dtype="<u4").astype(np.uint32, copy=False)


def _owners(marked: Flags, ends: Ids) -> list[int]:
    """The texts that hold a marked character."""
    return np.unique(np.searchsorted(ends, np.flatnonzero(marked))).tolist()


def _unchanged_by_nfkc(text: str) -> bool:
    # A sign that goes may part a letter from its mark until then.
    return unicodedata.is_normalized("NFKC", text) and not any(sign in text for sign in SIGNS)


def _segments(texts: Sequence[str], codes: Codes, ends: Ids, by_character: Flags) -> tuple[Segments, Ids]:
    """The normalised texts taken apart, and where among the segments each text is."""
    values = _NORMALISED(codes)
    places = np.arange(len(texts))
    contextual = values == _CONTEXTUAL
    conditional = (values & _IF_NFKC != 0) & (values < _CONTEXTUAL)
    slow = set(_owners(contextual, ends))
    slow.update(i for i in _owners(conditional, ends) if not _unchanged_by_nfkc(texts[i]))
    values[conditional] -= _IF_NFKC
    values[contextual] = _DROPPED
    if slow:
        # A text that the table cannot normalise is added at the end as `normalise` gives it; its first place is unused.
        moved = sorted(slow)
        values = np.concatenate([values, _codes([normalise(texts[i]) for i in moved])])
        places[moved] = len(texts) + np.arange(len(moved))
        by_character = np.concatenate([by_character, by_character[moved]])
    return segment(values[values != _DROPPED], by_character), places


def rlc_all(codes: Codes, ends: Ids, langs: Sequence[str]) -> Scores:
    """`rlc` of each text, given the codes of all and where each ends."""
    by_lang = {lang: language_mask(lang) for lang in set(langs)}
    wanted = np.array([by_lang[lang] for lang in langs], dtype=np.uint32)
    masks = _MASKS(codes)
    lengths = np.diff(ends, prepend=-1)
    starts = ends + 1 - lengths
    # With its separator no text is an empty span, which reduceat would misread.
    letters = np.add.reduceat(masks != 0, starts, dtype=np.int64)
    hits = np.add.reduceat((masks & np.repeat(wanted, lengths)) != 0, starts, dtype=np.int64)
    return np.where(letters == 0, 1.0, hits / np.maximum(letters, 1))


def _score_chunk(
    preds: Sequence[str],
    golds: Sequence[str | Sequence[str]],
    langs: Sequence[str],
) -> tuple[Scores, Scores, Scores]:
    accepted = [answers(gold) for gold in golds]
    aliases = np.array([len(row) for row in accepted], dtype=np.int64)
    texts = [*preds, *chain.from_iterable(accepted)]
    codes = _codes(texts)
    ends = np.flatnonzero(codes == 0)
    last = int(ends[len(preds) - 1])
    rlc = rlc_all(codes[: last + 1], ends[: len(preds)], langs)

    by_lang = {lang: splits_by_character(lang) for lang in set(langs)}
    by_character = np.array([by_lang[lang] for lang in langs], dtype=np.bool_)
    by_character = np.concatenate([by_character, np.repeat(by_character, aliases)])
    segments, places = _segments(texts, codes, ends, by_character)
    em, f1 = em_f1_of_pairs(segments, np.repeat(places[: len(preds)], aliases), places[len(preds) :])
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
