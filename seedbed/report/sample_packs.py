"""Packs of samples: compressed JSON inside the page while it stays small, else in files beside it.

A page opened from a disk may fetch nothing, and no script but its own may run. A style sheet beside it may be loaded:
each pack is one, whose only rule gives an empty element a property that holds the data.
"""

from __future__ import annotations

import base64
import json
import re
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

INSIDE = 8_000_000
"""Characters of packs that a page holds; with more, all but its index lie beside it."""
FOLDER = "samples"
_PACK = 600_000
"""Bytes from which on a pack is closed."""
_PIECE = 900_000
"""Characters of one property; browsers take about two million."""
_LINE = 15
"""Characters in a row of packed data inside a page: shorter than any key, so that masking secrets cuts into none."""
_PROPERTY = re.compile(r'--d(\d+):"([A-Za-z0-9+/=]*)"')
_MOST = 400_000_000
"""Bytes that a pack may hold: what a page can have by far, and no more than memory takes."""


@dataclass
class Packs:
    """Filled entry by entry; entries of one kind that follow each other share a pack."""

    texts: list[str] = field(default_factory=list[str])
    """Base64 of compressed JSON arrays."""
    _open: list[bytes] = field(default_factory=list[bytes])
    _bytes: int = 0

    def add(self, entry: bytes) -> int:
        """Put an entry into the open pack; returns the pack's number."""
        self._open.append(entry)
        self._bytes += len(entry)
        number = len(self.texts)
        if self._bytes >= _PACK:
            self.close()
        return number

    def close(self) -> None:
        """Pack what is still open."""
        if self._open:
            self.texts.append(packed(b"[" + b",".join(self._open) + b"]"))
            self._open, self._bytes = [], 0

    @property
    def inside(self) -> bool:
        return sum(map(len, self.texts)) <= INSIDE

    def in_page(self) -> Iterator[str]:
        """The packs as elements of the page; none where they lie beside it."""
        for number, text in enumerate(self.texts if self.inside else ()):
            yield f'<script type="text/plain" id="pack-{number}">{in_lines(text)}</script>'

    def files(self) -> dict[str, str]:
        """The packs as files beside the page, by name; none where they are inside."""
        texts: Sequence[str] = () if self.inside else self.texts
        return {f"{FOLDER}/{number}.css": _sheet(text) for number, text in enumerate(texts)}


def packed(data: bytes) -> str:
    return base64.b64encode(zlib.compress(data, 6)).decode()


def unpacked(text: str) -> Any:
    """What a pack holds; a ValueError where it is none."""
    raw = base64.b64decode("".join(text.split()), validate=True)
    try:
        data = zlib.decompressobj().decompress(raw, _MOST)
    except zlib.error as error:
        raise ValueError(f"cannot be unpacked ({error})") from None
    return json.loads(data)


def read_sheet(text: str) -> Any:
    """What a pack beside a page holds."""
    pieces = {int(number): piece for number, piece in _PROPERTY.findall(text)}
    return unpacked("".join(pieces[number] for number in range(len(pieces))))


def in_lines(text: str) -> str:
    return "\n".join(text[at : at + _LINE] for at in range(0, len(text), _LINE))


def _sheet(text: str) -> str:
    pieces = [text[at : at + _PIECE] for at in range(0, len(text), _PIECE)]
    # A key is looked for in every text that is written. Base64 has none, but one could seem to be there by chance.
    properties = ";".join(f'--d{number}:"{piece}"' for number, piece in enumerate(pieces))
    return f"#pack{{--n:{len(pieces)};{properties}}}\n"
