"""Keeps secrets out of everything that is written: files, logs, the ledger, Prefect.

A secret is the value of an environment variable that a config names as a key or whose name says so, the password in an
address that a variable holds, or a text that looks like a provider's key. Scrubbing happens where text leaves the
process, so that no caller can forget it; a secret is found there also in the form that JSON, HTML, a table or an
address gives it, in base64 (which is how passwords travel), and where somebody cut the text in its middle.
"""

from __future__ import annotations

import base64
import html
import json
import os
import re
from collections.abc import Callable, Iterator
from functools import lru_cache, wraps
from itertools import product
from typing import Any, ParamSpec, TypeVar, cast
from urllib.parse import quote, quote_plus, unquote, urlsplit

from seedbed.errors import CellFailed, causes, staying

P = ParamSpec("P")
T = TypeVar("T")

MASK = "[redacted]"

_SECRET_NAME = re.compile(
    r"(API_?KEY|TOKEN|SECRET|PASSWORD|PASSWD|PASSPHRASE|CREDENTIAL|AUTH_STRING|WEBHOOK|CONNECTION_STRING|DSN)S?(_|$)"
    r"|(^|_)(KEY|PAT)$",
    re.IGNORECASE,
)
_SETTING = re.compile(
    r"(?:^|[;&?\s])(?:password|passwd|pwd|account_?key|shared_?access_?key|secret|token|api_?key)=([^;&\s'\"]{8,})",
    re.IGNORECASE,
)
_MIN_LENGTH = 8
_MIN_NAMED = 6
"""Of a value that the config itself calls a key, or a password in an address."""
_ENOUGH, _LONGEST_REST = 12, 64
_PREFIXES = (
    *("sk-", "sk_", "pk-", "pk_", "rk-", "rk_", "gsk_", "xai-", "hf_", "ghp_", "gho_", "ghu_", "ghs_", "ghr_"),
    *("github_pat_", "glpat-", "nvapi-", "pplx-", "xoxb-", "xoxp-", "xoxa-", "xoxr-", "xoxs-", "xapp-"),
)
_SHAPES = re.compile(
    rf"""
      # Keys with a known prefix; a digit or a capital tells them from names with underscores.
      (?<![A-Za-z0-9_])(?:{"|".join(_PREFIXES)})(?=[A-Za-z0-9_\-]*[A-Z0-9])[A-Za-z0-9_\-]{{16,}}
    | (?<![A-Za-z0-9])AIza[A-Za-z0-9_\-]{{20,}}
    | (?<![A-Za-z0-9])A[KS]IA[A-Z0-9]{{12,}}
    | (?<![A-Za-z0-9_\-])eyJ[A-Za-z0-9_\-]{{8,}}\.[A-Za-z0-9_\-]{{8,}}\.[A-Za-z0-9_\-]*                 # JSON Web Token
    | -----BEGIN\ [A-Z ]*PRIVATE\ KEY-----[^"<]+
    | (?<=Bearer\ )[A-Za-z0-9._\-]{{12,}}
    | (?<=Basic\ )[A-Za-z0-9+/_\-]{{12,}}={{0,2}}
    | (?<=hooks\.slack\.com/)[a-z]+/[A-Za-z0-9/_\-]{{16,}}
    | (?<=/api/webhooks/)[0-9]+/[A-Za-z0-9_\-]{{16,}}
    | (?<=://)[^/\s:@"'<>\\]+:[^/\s@"'<>\\]+(?=@)                                            # user:password in a URL
    """,
    re.VERBOSE,
)
_BEFORE = ("Bearer ", "Basic ", "hooks.slack.com/", "/api/webhooks/", "://")
"""What stands before a secret and is no part of it."""
_HINTS = (*_PREFIXES, "AIza", "AKIA", "ASIA", "eyJ", "-----BEGIN ", *_BEFORE)

_ENCODERS: tuple[Callable[[str], str], ...] = (
    lambda text: text,
    lambda text: json.dumps(text)[1:-1],
    lambda text: json.dumps(text, ensure_ascii=False)[1:-1],
    # JSON inside a script of a page.
    lambda text: text.replace("<", "\\u003c"),
    lambda text: text.replace("<", "\\u003c").replace("&", "\\u0026"),
    lambda text: text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026"),
    lambda text: text.replace("</", "<\\/"),
    html.escape,
    lambda text: html.escape(text, quote=False),
    lambda text: repr(text)[1:-1],
    lambda text: text.replace("|", "\\|"),
    lambda text: re.sub(r"([\\`*_{}\[\]<>()#+\-.!|~])", r"\\\1", text),
    lambda text: re.sub(r"([&%$#_{}])", r"\\\1", text),
    lambda text: text.replace('"', '""'),
    lambda text: quote(text, safe=""),
    quote,
    quote_plus,
)
"""What happens to a text on its way into a file; up to two of them, one after the other."""

_ESCAPED = re.compile(r"%[0-9A-F]{2}")
_named: set[str] = set()


def keep_secret(variable: str) -> str:
    """From now on the value of this environment variable is a secret, whatever its name. Returns the name."""
    _named.add(variable)
    return variable


def is_secret_name(name: str) -> bool:
    """Whether a variable or a field of this name holds a secret."""
    return _SECRET_NAME.search(name.replace("-", "_")) is not None


def redact(text: str) -> str:
    """The text with every secret known to this process replaced by a mask."""
    forms, patterns = _known(_environment(), frozenset(_named))
    # Looking for plain words first is many times faster than the expressions, and most texts hold none of them.
    if patterns is not None and any(form in text for form in forms):
        text = _mask(text, *patterns)
    return _SHAPES.sub(MASK, text) if _has_shape(text) else text


def _mask(text: str, whole: re.Pattern[str], also_cut: re.Pattern[str]) -> str:
    """Where a secret begins, as much is masked as any form of one takes: what is left of one form may be the beginning
    of another that is there whole."""
    parts: list[str] = []
    at = 0
    while (found := also_cut.search(text, at)) is not None:
        all_of_it = whole.match(text, found.start())
        parts += [text[at : found.start()], MASK]
        at = max(found.end(), all_of_it.end() if all_of_it else 0)
    return "".join([*parts, text[at:]])


def masked_end(text: str, most: int) -> str:
    """As much of the end of a text, masked before it is cut: the rest of a secret that lost its beginning is known by
    nothing."""
    return redact(text)[-most:]


def masked_error(error: Exception) -> Exception:
    """The error itself where it tells no secret; else one that says the same without it, and has no other behind it."""
    told: list[str] = []
    for cause in _with_grouped(error):
        _mask_inside(cause)
        told += [str(cause), *getattr(cause, "__notes__", ())]
    if all(redact(text) == text for text in told):
        return error
    # Its words come from elsewhere than its arguments.
    safe = CellFailed(redact(f"{type(error).__name__}: {told[0]}"))
    safe.__suppress_context__ = True
    return safe


def telling_no_secret(work: Callable[P, T]) -> Callable[P, T]:
    """Decorator for what runs the code of others: an exception of theirs is written down in many places, so it leaves
    here masked."""

    @wraps(work)
    def masked(*given: P.args, **named: P.kwargs) -> T:
        try:
            with staying():
                return work(*given, **named)
        except Exception as error:
            if (safe := masked_error(error)) is not error:
                raise safe from None
            raise
        except BaseException as end:
            # Of whatever kind, its kind says what is to end: only its words change.
            for cause in _with_grouped(end):
                _mask_inside(cause)
            raise

    return masked


def _with_grouped(error: BaseException) -> Iterator[BaseException]:
    """The error, what it was raised from, and what a group among these holds: a traceback shows all of them."""
    for cause in causes(error):
        yield cause
        if isinstance(cause, BaseExceptionGroup):
            for inner in cast("BaseExceptionGroup[BaseException]", cause).exceptions:
                yield from _with_grouped(inner)


def _mask_inside(error: BaseException) -> None:
    masked = tuple(redact(part) if isinstance(part, str) else part for part in error.args)
    if masked != error.args:
        error.args = masked
    if isinstance(error, OSError) and isinstance(error.strerror, str):
        error.strerror = redact(error.strerror)
    if hasattr(error, "__notes__"):
        error.__notes__ = [redact(note) for note in error.__notes__]


def _has_shape(text: str) -> bool:
    """Whether the expression would find something; it is tried only where one of its hints stands."""
    for hint in _HINTS:
        at = text.find(hint)
        while at >= 0:
            if _SHAPES.match(text, at + len(hint) if hint in _BEFORE else at):
                return True
            at = text.find(hint, at + 1)
    return False


def _environment() -> tuple[tuple[Any, Any], ...]:
    """The variables as they are now. Decoding them all would cost more than the search; where Python keeps them as
    bytes, they are taken so."""
    kept: Any = getattr(os.environ, "_data", os.environ)
    return tuple(kept.items())


@lru_cache(maxsize=8)
def _known(
    environment: tuple[tuple[Any, Any], ...], named: frozenset[str]
) -> tuple[tuple[str, ...], tuple[re.Pattern[str], re.Pattern[str]] | None]:
    """How the secrets of an environment begin in all forms they can have in a text, and what finds them: whole ones
    only, and what a cut left of them too."""
    found = {form for value in _values(environment, named) for form in _forms(value)}
    # Longest first, so that a secret that contains another is masked whole.
    forms = sorted(found, key=lambda form: (-len(form), form))
    expressions = ("|".join(map(re.escape, forms)), "|".join(map(_also_cut, forms)))
    patterns = (re.compile(expressions[0]), re.compile(expressions[1])) if forms else None
    return tuple(dict.fromkeys(_beginning(form) for form in forms)), patterns


def _values(environment: tuple[tuple[Any, Any], ...], named: frozenset[str]) -> Iterator[str]:
    for raw_name, raw_value in environment:
        name, value = os.fsdecode(raw_name), os.fsdecode(raw_value).strip()
        if (len(value) >= _MIN_NAMED and name in named) or (len(value) >= _MIN_LENGTH and _SECRET_NAME.search(name)):
            yield value
        yield from _passwords(value)


def _passwords(value: str) -> Iterator[str]:
    """What of a variable's value is a password by itself: in settings such as `user=me;password=...`; and in an
    address, as it stands there and as it is meant."""
    yield from (found[1] for found in _SETTING.finditer(value))
    try:
        password = urlsplit(value).password
    except ValueError:
        return
    if password and len(password) >= _MIN_NAMED:
        yield password
        yield unquote(password)


def _beginning(form: str) -> str:
    """So much of a secret that it is known by it. A path or an address begins as others do."""
    at = max(_ENOUGH, len(form) // 2)
    return form if len(form) < 2 * _MIN_LENGTH or re.search(r"[/\s]", form) else form[:at]


def _also_cut(form: str) -> str:
    """An expression for a form, whole or as much of it as is there."""
    start = _beginning(form)
    rest = form[len(start) :]
    if not rest:
        return re.escape(form)
    end = ""
    for letter in reversed(rest[:_LONGEST_REST]):
        end = f"(?:{re.escape(letter)}{end})?"
    return f"{re.escape(start)}(?:{re.escape(rest)}|{end})"


def _forms(value: str) -> set[str]:
    found = {second(first(value)) for first, second in product(_ENCODERS, repeat=2)}
    found |= {_ESCAPED.sub(lambda part: part[0].lower(), form) for form in found}
    return found | {encoded for plain in _in_base64(value) for encoded in (plain, quote(plain, safe=""))}


def _in_base64(value: str) -> Iterator[str]:
    """The part of a text's base64 that the text alone decides: what stands before it, such as `user:`, shifts it by up
    to two bytes, and what follows has a share in its last character."""
    raw = value.encode("utf-8", "surrogateescape")
    for shift, shared in ((0, 0), (1, 2), (2, 3)):
        whole = base64.b64encode(b"\0" * shift + raw).decode()[shared : 8 * (shift + len(raw)) // 6]
        yield from (whole, whole.replace("+", "-").replace("/", "_"))
