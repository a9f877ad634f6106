"""Ways in which files go wrong: bytes that were cut, mixed up or written by another program, and rows that hold what
nobody meant."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from random import Random
from typing import Any

NASTY: tuple[Any, ...] = (
    *(None, True, False, 0, 17, -1, 2**63, 10**400, 1e308, -0.5, "", " ", "\x00", "\x07", "\u2028", "\ufeff"),
    *([], {}, [None], [[]], [{}], {"": None}, ["a", 1], {"a": {"b": []}}, "NaN", "../../etc/passwd", "=1+1"),
    *("\u202e", "x" * 5000, "<script>", "`|*_#", "{{x}}", "%s%n", "[[ ## answer ## ]]", "9" * 400, ["x"] * 100),
)
RAW = (
    *(b"\xff", b"\xe9", b"\xc3", b"\xed\xa0\x80", b"\x00", b"\x07", b"\xef\xbb\xbf", b"\r", b"\n", b"\x85", b'"'),
    *(b"{", b"}", b"[" * 3000, b'{"a":' * 3000, b",", b":", b"\\", b"\\ud800", b"NaN", b"1e999", b"9" * 5000),
    *(b"\x1f\x8b", b"PAR1", b"'", b"!!python/object:os.system x", b"*a", b"&a [*a]"),
)


def mutated(content: bytes, random: Random) -> bytes:
    """The content with one to three things wrong; rows of JSON are changed from within, as often as from without."""
    for _ in range(random.randint(1, 3)):
        content = random.choice((_in_a_row, _in_a_row, _in_a_row, *_BYTES))(content, random)
    return content


def _in_a_row(content: bytes, random: Random) -> bytes:
    """Another value, a field too many or too few, in a row that stays valid JSON."""
    lines = content.splitlines(keepends=True)
    try:
        document = len(lines) > 1 and json.loads(content)
        value, at = document, None
    except ValueError:
        at = random.randrange(len(lines)) if lines else None
        try:
            value = json.loads(lines[at]) if at is not None else None
        except ValueError:
            return _insert(content, random)
    except RecursionError:
        return content
    if not isinstance(value, dict | list):
        return _insert(content, random)
    _change(value, random)
    said = json.dumps(value, ensure_ascii=random.random() < 0.5).encode("utf-8", "surrogatepass")
    if at is None:
        return said
    return b"".join([*lines[:at], said + b"\n", *lines[at + 1 :]])


def _change(value: Any, random: Random) -> None:
    """Somewhere inside, in place."""
    while True:
        keys: list[Any] = list(value) if isinstance(value, dict) else list(range(len(value)))
        if not keys:
            return
        key = random.choice(keys)
        inner = value[key]
        if isinstance(inner, dict | list) and inner and random.random() < 0.6:
            value = inner
            continue
        match random.randrange(6):
            case 0:
                del value[key]
            case 1 if isinstance(value, dict):
                value[random.choice(("", "id", "x\x00", "_" * 300))] = value.pop(key)
            case 2:
                value[key] = [inner]
            case _:
                value[key] = random.choice(NASTY)
        return


def _insert(content: bytes, random: Random) -> bytes:
    at = random.randint(0, len(content))
    return content[:at] + random.choice(RAW) + content[at:]


def _cut(content: bytes, random: Random) -> bytes:
    return content[: random.randint(0, len(content))]


def _line_twice(content: bytes, random: Random) -> bytes:
    lines = content.splitlines(keepends=True) or [b""]
    return b"".join([*lines, random.choice(lines)])


def _in_utf_16(content: bytes, _random: Random) -> bytes:
    return content.decode("utf-8", "replace").encode("utf-16")


def _in_latin(content: bytes, _random: Random) -> bytes:
    return content.decode("utf-8", "replace").encode("gb18030", "replace")


def _with_mark(content: bytes, _random: Random) -> bytes:
    return b"\xef\xbb\xbf" + content.replace(b"\n", b"\r\n")


def _empty(_content: bytes, random: Random) -> bytes:
    return random.choice((b"", b"\n", b" ", b"\x00", b"null", b"[]", b"{}", b"17", b'"x"', b"\xef\xbb\xbf"))


def _packed(content: bytes, _random: Random) -> bytes:
    return gzip.compress(content)


_BYTES: tuple[Callable[[bytes, Random], bytes], ...] = (
    *(_insert, _insert, _insert, _cut, _cut, _line_twice, _in_utf_16, _in_latin, _with_mark, _empty, _packed),
)  # fmt: skip
