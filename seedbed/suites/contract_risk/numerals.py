"""Chinese numerals as numbers, and the numbers of a text."""

from __future__ import annotations

import re
from collections import Counter

_DIGITS = dict(
    zip("零〇一二两三四五六七八九壹贰叁肆伍陆柒捌玖", (0, 0, 1, 2, 2, *range(3, 10), *range(1, 10)), strict=True)
)
_UNITS = {"十": 10, "拾": 10, "百": 100, "佰": 100, "千": 1000, "仟": 1000}
_BIG = {"万": 10_000, "亿": 100_000_000}

NUMERAL_CHARS = "".join((*_DIGITS, *_UNITS, *_BIG))
_CHINESE = f"[{NUMERAL_CHARS}]+"
_NUMBER = re.compile(
    rf"百分之(?P<share>\d+(?:\.\d+)?|{_CHINESE})"
    rf"|(?P<arabic>\d+(?:,\d{{3}})*(?:\.\d+)?)\s*(?P<scale>[万亿千百]*)(?P<percent>[%‰]?)"
    rf"|(?P<chinese>{_CHINESE})"
)


def to_int(numeral: str) -> int | None:
    """`19`, `十九`, `五百八十五`, `二〇二四` as a number; None for anything else."""
    if numeral.isascii():
        return int(numeral) if numeral.isdigit() else None
    if not numeral or any(ch not in NUMERAL_CHARS for ch in numeral):
        return None
    if all(ch in _DIGITS for ch in numeral):
        return int("".join(str(_DIGITS[ch]) for ch in numeral))
    total = section = 0
    digit: int | None = None
    for ch in numeral:
        if ch in _DIGITS:
            digit = _DIGITS[ch]
        elif ch in _UNITS:
            section += (1 if digit is None else digit) * _UNITS[ch]
            digit = None
        else:
            total = (total + section + (digit or 0) or 1) * _BIG[ch]
            section, digit = 0, None
    return total + section + (digit or 0)


def numbers(text: str) -> Counter[str]:
    """The numbers of an NFKC text by value, however they are written: `30%` and `百分之三十` are one."""
    return Counter(_value(match) for match in _NUMBER.finditer(text))


def _value(match: re.Match[str]) -> str:
    if share := match["share"]:
        return f"{float(share) if share[0].isascii() else float(to_int(share) or 0):g}%"
    if chinese := match["chinese"]:
        return f"{to_int(chinese):.12g}"
    value = float(match["arabic"].replace(",", ""))
    for unit in match["scale"]:
        value *= _BIG.get(unit) or _UNITS[unit]
    return f"{value:.12g}{match['percent']}"
