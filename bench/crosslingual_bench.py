"""EM, F1 and RLC of 200,000 answers in a mix of languages: the batch, side by side with a plain script a row at a time.

The plain script is laid out as MKQA's evaluation is: each metric normalises prediction and gold anew, F1 counts common
tokens with a Counter, the best gold counts. Its second form normalises every text once only. All must agree.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
import time
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

import regex

import seedbed
from seedbed.suites.crosslingual.metrics import score_rows

ROWS = 200_000
TARGET = 10.0
_PART = 20_000
_TINY = Path(seedbed.__file__).parent / "suites" / "crosslingual" / "data" / "tiny"
_SCRIPTS = {
    "en": "Latn", "de": "Latn", "es": "Latn", "zh": "Hani Bopo", "ja": "Hani Hira Kana", "ar": "Arab",
    "th": "Thai", "ru": "Cyrl", "ko": "Hang", "hi": "Deva",
}  # fmt: skip
_MORE = {
    "th": ("ทะเลสาบไบคาล", "เมืองหลวงคือกรุงเทพมหานคร", "ปี ๒๕๑๒"),
    "ru": ("озеро Байкал", "Москва, столица России", "3776 метров"),
    "ko": ("후지산", "서울은 대한민국의 수도이다", "3776미터"),
    "hi": ("बैकाल झील", "नई दिल्ली भारत की राजधानी है", "३७७६ मीटर"),
}

Row = tuple[str, list[str], str]


def rows(count: int, seed: int = 7) -> list[Row]:
    """Answers as systems give them: right, nearly right, in a sentence, in another language, or beside the point."""
    chance = random.Random(seed)  # noqa: S311 - a reproducible draw, no secret
    texts = _texts()
    languages = sorted(texts)
    return [_row(chance, texts, chance.choice(languages)) for _ in range(count)]


def _texts() -> dict[str, list[str]]:
    texts: dict[str, list[str]] = {lang: list(own) for lang, own in _MORE.items()}
    for name in ("names.jsonl", "parallel.jsonl"):
        for line in (_TINY / name).read_text(encoding="utf-8").splitlines():
            for lang, text in json.loads(line).items():
                if lang in _SCRIPTS:
                    texts.setdefault(lang, []).append(text if isinstance(text, str) else text[0])
    return texts


def _row(chance: random.Random, texts: dict[str, list[str]], lang: str) -> Row:
    own = texts[lang]
    gold = [chance.choice(own) for _ in range(chance.choice((1, 1, 1, 2, 3)))]
    joint = "" if lang in ("zh", "ja", "th") else " "
    match chance.randrange(5):
        case 0:
            pred = gold[0].upper()
        case 1:
            pred = joint.join((chance.choice(own), gold[0]))
        case 2:
            pred = f"“{gold[0]}”™ ({chance.randrange(2000)})"
        case 3:
            pred = chance.choice(texts[chance.choice(sorted(texts))])
        case _:
            pred = chance.choice(own)
    return pred, gold, lang


# -- the plain script ------------------------------------------------------------------------------------------------


def plain_normalise(text: str) -> str:
    for sign in "™℠®©":
        text = text.replace(sign, "")
    text = unicodedata.normalize("NFKC", text).lower().replace("i̇", "i")
    kept: list[str] = []
    for char in text:
        category = unicodedata.category(char)
        code = ord(char)
        if category == "Cf" or 0xFE00 <= code <= 0xFE0F or 0xE0100 <= code <= 0xE01EF or 0x180B <= code <= 0x180F:
            continue
        if category == "Nd":
            kept.append(str(unicodedata.decimal(char)))
        else:
            kept.append(char if category[0] in "LMN" else " ")
    return " ".join("".join(kept).split())


def plain_tokens(normalised: str, lang: str) -> list[str]:
    return list(normalised.replace(" ", "")) if lang in ("zh", "ja") else normalised.split()


def plain_f1(pred: Sequence[str], gold: Sequence[str]) -> float:
    common = sum((Counter(pred) & Counter(gold)).values())
    if not pred or not gold:
        return float(pred == gold)
    if common == 0:
        return 0.0
    precision, recall = common / len(pred), common / len(gold)
    return 2 * precision * recall / (precision + recall)


def _letters_of(scripts: str) -> Any:
    return regex.compile("(?V1)[" + "".join(rf"\p{{scx={script}}}" for script in scripts.split()) + "]")


_LETTERS = {lang: _letters_of(scripts) for lang, scripts in _SCRIPTS.items()}
_NEUTRAL = regex.compile(r"(?V1)[\p{scx=Zyyy}\p{scx=Zinh}]")


def plain_rlc(text: str, lang: str) -> float:
    letters = [char for char in text if unicodedata.category(char)[0] == "L" and not _NEUTRAL.match(char)]
    return sum(bool(_LETTERS[lang].match(char)) for char in letters) / len(letters) if letters else 1.0


def as_mkqa(data: Sequence[Row]) -> list[tuple[float, float, float]]:
    """Each metric takes the raw texts, as the functions of MKQA's script do."""
    return [
        (
            max(float(plain_normalise(pred) == plain_normalise(answer)) for answer in gold),
            max(
                plain_f1(plain_tokens(plain_normalise(pred), lang), plain_tokens(plain_normalise(answer), lang))
                for answer in gold
            ),
            plain_rlc(pred, lang),
        )
        for pred, gold, lang in data
    ]


def normalising_once(data: Sequence[Row]) -> list[tuple[float, float, float]]:
    """The same with every text of a row normalised once: as fast as it gets without leaving the row."""
    scores: list[tuple[float, float, float]] = []
    for pred, gold, lang in data:
        own, accepted = plain_normalise(pred), [plain_normalise(answer) for answer in gold]
        tokens = plain_tokens(own, lang)
        em = float(own in accepted)
        f1 = max(plain_f1(tokens, plain_tokens(answer, lang)) for answer in accepted)
        scores.append((em, f1, plain_rlc(pred, lang)))
    return scores


def batch(data: Sequence[Row]) -> Iterable[tuple[float, float, float]]:
    columns = score_rows([row[0] for row in data], [row[1] for row in data], [row[2] for row in data])
    return zip(*(columns[name] for name in ("em", "f1", "rlc")), strict=True)


def measure(count: int = ROWS) -> dict[str, Any]:
    """CPU seconds of each way, all of them in one thread, and the largest difference of any figure."""
    data = rows(count)
    list(batch(rows(2_000, seed=1)))  # tables of characters are filled when first met; the plain way has none
    ways: dict[str, Callable[[Sequence[Row]], Iterable[tuple[float, float, float]]]] = {
        "seedbed": batch,
        "as MKQA": as_mkqa,
        "normalising once": normalising_once,
    }
    seconds = dict.fromkeys(ways, 0.0)
    found: dict[str, list[tuple[float, float, float]]] = {name: [] for name in ways}
    # In turns over parts of the data: what else the machine does meanwhile slows all of them alike.
    for start in range(0, count, _PART):
        for name, way in ways.items():
            began = time.process_time()
            scores = way(data[start : start + _PART])
            seconds[name] += time.process_time() - began
            found[name].extend(scores)
    gap = max(
        abs(a - b)
        for one, other in zip(found["seedbed"], found["as MKQA"], strict=True)
        for a, b in zip(one, other, strict=True)
    )
    return {
        "rows": count,
        "seconds": {name: round(value, 3) for name, value in seconds.items()},
        "times_faster": {n: round(seconds[n] / seconds["seedbed"], 1) for n in ways if n != "seedbed"},
        "largest_difference": gap,
        "same_plain": found["as MKQA"] == found["normalising once"],
        "means": [round(float(sum(column)) / count, 6) for column in zip(*found["seedbed"], strict=True)],
    }


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=ROWS)
    result = measure(parser.parse_args().rows)
    seconds, faster = result["seconds"], result["times_faster"]
    print(f"EM + F1 + RLC of {result['rows']:,} rows in {len(_SCRIPTS)} languages; means {result['means']}")
    for name, value in seconds.items():
        print(f"  {name:<18} {value:8.2f} s CPU {result['rows'] / value:>12,.0f} rows/s")
    print(f"  {faster['as MKQA']}x the MKQA way, {faster['normalising once']}x normalising once")
    print(f"  largest difference of a figure: {result['largest_difference']:.1e}")
    good = faster["as MKQA"] >= TARGET and result["largest_difference"] < 1e-9 and result["same_plain"]
    print("  ok" if good else f"  MISSED: at least {TARGET:g}x and equal figures were asked for")
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
