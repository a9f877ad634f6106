"""Images of cases, read from files into data URLs: a case is known by what it shows and not by where it lies."""

from __future__ import annotations

import base64
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from seedbed.suite import Case
from seedbed.suites.kit.rows import Row

_KINDS = {b"\x89PNG\r\n\x1a\n": "png", b"\xff\xd8\xff": "jpeg", b"GIF87a": "gif", b"GIF89a": "gif"}
_LARGEST = 20_000_000
"""More bytes than this no provider takes."""
_URL = re.compile(r"data:image/[a-z0-9.+-]+;base64,")


def read_image(row: Row, column: str, folder: Path) -> str:
    """The image whose path a column holds, as a data URL; a relative path is taken from that folder."""
    value = row.data[column]
    if not isinstance(value, str):
        raise row.wrong(column, value, "is no path of an image; write one")
    path = folder / value
    try:
        data = path.read_bytes()
    except (OSError, ValueError) as error:
        said = getattr(error, "strerror", None) or str(error)
        raise row.wrong(
            column, value, f"cannot be read ({said}); paths are taken from the folder of the cases"
        ) from None
    kind = _kind(data)
    if kind is None:
        raise row.wrong(column, value, "is no image that models take; save it as PNG, JPEG, GIF or WebP")
    if len(data) > _LARGEST:
        raise row.wrong(column, value, f"has {len(data):,} bytes; make it smaller than {_LARGEST:,}")
    return f"data:image/{kind};base64,{base64.b64encode(data).decode()}"


def is_image(value: Any) -> bool:
    return isinstance(value, str) and _URL.match(value) is not None


def has_images(cases: Iterable[Case]) -> bool:
    return any(is_image(value) for case in cases for value in case.inputs.values())


def as_texts(inputs: Mapping[str, Any]) -> dict[str, Any]:
    """Inputs for a reader of texts: an image is said to be there, not spelt out."""
    return {name: "[an image]" if is_image(value) else value for name, value in inputs.items()}


def image_part(url: str) -> dict[str, Any]:
    """As it stands in the content of a message."""
    return {"type": "image_url", "image_url": {"url": url}}


def _kind(data: bytes) -> str | None:
    if data[:4] == b"RIFF" and data[8:12] == b"WEBP":
        return "webp"
    return next((kind for head, kind in _KINDS.items() if data.startswith(head)), None)
