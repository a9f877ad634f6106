"""Secrets are recognised by the variable that holds them or by their looks, in whatever form a file gives them."""

from __future__ import annotations

import base64
import csv
import html
import io
import json
import re
import string
import traceback
from collections.abc import Callable
from urllib.parse import quote

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from seedbed.errors import CellFailed, LeftByExit
from seedbed.storage.redact import is_secret_name, keep_secret, masked_end, masked_error, redact, telling_no_secret


@pytest.mark.parametrize(
    "name", ["OPENAI_API_KEY", "HF_TOKEN", "DB_PASSWORD", "MY_SECRET", "AZURE_OPENAI_KEY", "GITHUB_PAT", "SENTRY_DSN"]
)
def test_the_value_of_a_secret_variable_is_masked_anywhere(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(name, "zebra-crossing-77")
    assert redact("Incorrect key: zebra-crossing-77.") == "Incorrect key: [redacted]."


def test_a_variable_that_a_config_names_is_secret_whatever_its_name(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LAB_ACCESS_OF_MONDAY", "monday")
    assert redact("it is monday") == "it is monday"
    keep_secret("LAB_ACCESS_OF_MONDAY")
    assert redact("it is monday") == "it is [redacted]"


@pytest.mark.parametrize(("variable", "shortest"), [("LAB_API_KEY", 8), ("LAB_ACCESS_OF_TUESDAY", 6)])
def test_a_value_of_a_few_letters_is_a_word_and_no_secret(
    monkeypatch: pytest.MonkeyPatch, variable: str, shortest: int
) -> None:
    keep_secret("LAB_ACCESS_OF_TUESDAY")
    value = "q7w8e9r0t1"[:shortest]
    monkeypatch.setenv(variable, value)
    assert redact(f"it is {value}") == "it is [redacted]"
    monkeypatch.setenv(variable, value[:-1])
    assert redact(f"it is {value}") == f"it is {value}"


@pytest.mark.parametrize(
    ("name", "secret"),
    [
        ("api_key", True), ("x-api-key", True), ("API-TOKENS", True), ("key", True), ("dsn", True), ("my_pat", True),
        ("webhook_url", True), ("keyboard", False), ("monkey", False), ("path", False), ("model", False),
    ],
)  # fmt: skip
def test_a_name_says_whether_it_holds_a_secret(name: str, secret: bool) -> None:
    assert is_secret_name(name) is secret


@pytest.mark.parametrize(
    ("address", "told", "masked"),
    [
        ("postgresql://lab:q7w8e9@db/x", "q7w8e9", True),
        ("postgresql://lab:q7w8e@db/x", "q7w8e", False),
        ("postgresql://lab@db/x", "lab@db", False),
        ("postgresql://lab:@db/x", "lab", False),
        ("postgresql://lab:q7%2Fw8e9@db/x", "q7%2Fw8e9", True),
        ("postgresql://lab:q7%2Fw8e9@db/x", "q7/w8e9", True),
        ("postgresql://[lab:q7w8e9@db/x", "q7w8e9", False),
        ("mail me@lab.test of q7w8e9", "q7w8e9", False),
    ],
)
def test_a_password_of_six_letters_is_one(
    monkeypatch: pytest.MonkeyPatch, address: str, told: str, masked: bool
) -> None:
    monkeypatch.setenv("DATABASE_URL", address)
    assert redact(f"login with {told} failed") == f"login with {'[redacted]' if masked else told} failed"


@pytest.mark.parametrize("text", ["postgresql://lab:hunter22@db/x", "mysql://lab:hunter22@db:3306/x?a=b"])
def test_the_password_of_an_address_in_the_environment_is_masked_alone_too(
    monkeypatch: pytest.MonkeyPatch, text: str
) -> None:
    monkeypatch.setenv("DATABASE_URL", text)
    assert redact("login with hunter22 failed") == "login with [redacted] failed"


@pytest.mark.parametrize(
    "text",
    [
        "host=db user=lab password=hunter2-again dbname=x",
        "Endpoint=https://lab.test;AccountName=lab;AccountKey=hunter2-again;Suffix=x",
        "https://lab.test/hook?channel=4&token=hunter2-again",
    ],
)
def test_the_password_among_settings_in_the_environment_is_masked_alone_too(
    monkeypatch: pytest.MonkeyPatch, text: str
) -> None:
    monkeypatch.setenv("LAB_STORE", text)
    assert redact("hunter2-again was refused by db lab") == "[redacted] was refused by db lab"


def test_what_is_left_of_a_text_is_masked_before_the_rest_is_cut_off(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LAB_KEY", "zebra-crossing-77-at-noon")
    assert masked_end("it was zebra-crossing-77-at-noon.", 8) == "dacted]."
    assert masked_end("short", 8) == "short"


@pytest.mark.parametrize(
    "text",
    [
        "sk-proj-abcdefghijklmnop1234",
        "Authorization: Bearer abcdefghijkl.mnopqrst",
        "postgresql://user:hunter2hunter2@db/x",
        "hf_abcdefghijklmnopqrsT7",
        "github_pat_11ABCDEFG0abcdefghijkl_mnopqrstuvwxyz",
        "ghs_abcdefghijklmnopqrstUVWX",
        "nvapi-abcdefghijklmnopqrst1234",
        "xoxb-123456789012-abcdefghijkl",
        "ASIAABCDEFGHIJKLMNOP",
        "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.abcdefghijklmnop",
        "https://hooks.slack.com/services/T0000/B0000/abcdefgh12345678",
        "-----BEGIN RSA PRIVATE KEY-----\nMIIabc\n-----END",
    ],
)
def test_texts_that_look_like_keys_are_masked(text: str) -> None:
    masked = redact(text)
    assert "[redacted]" in masked
    assert text[-8:-2] not in masked or "@" in text


@pytest.mark.parametrize(
    "text",
    [
        "the risk-free rate",
        "tokens: 512",
        "a short key-value pair",
        "key_coverage_penalised",
        "pk_of_the_samples_table",
        "http://127.0.0.1:4200/api",
        '{"a": "http://x.org", "b": "me@x.org"}',
        "eyJ is how many of them begin",
    ],
)
def test_ordinary_text_stays(text: str) -> None:
    assert redact(text) == text


def _in_csv(text: str) -> str:
    file = io.StringIO()
    csv.writer(file).writerow([text])
    return file.getvalue()


FORMS: list[Callable[[str], str]] = [
    lambda text: json.dumps({"error": text}),
    lambda text: json.dumps({"error": text}, ensure_ascii=False),
    html.escape,
    lambda text: html.escape(json.dumps(text)),
    lambda text: json.dumps(html.escape(text)),
    lambda text: json.dumps(repr(ValueError(text))),
    lambda text: json.dumps(text).replace("<", "\\u003c").replace("&", "\\u0026"),
    lambda text: f"| {text.replace('|', chr(92) + '|')} |",
    lambda text: f"https://x.org/?q={quote(text)}",
    lambda text: re.sub("%..", lambda part: part[0].lower(), quote(text, safe="")),
    _in_csv,
]


@pytest.mark.slow
@settings(deadline=None, max_examples=40)
@given(value=st.text(string.ascii_letters + "0123456789\"'\\&<>|=+/ é", min_size=16).map(lambda v: f"q{v}7"))
def test_a_secret_is_found_in_every_form_a_file_gives_it(value: str) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("LAB_API_KEY", value)
        # All forms of one value: finding out what to look for is what costs.
        for form in FORMS:
            masked = redact(form(f"before {value} after"))
            assert form(value).strip('"| \r\n') not in masked
            assert "[redacted]" in masked


@pytest.mark.parametrize("encode", [base64.b64encode, base64.urlsafe_b64encode])
@pytest.mark.parametrize("user", ["", "a", "me:", "lab-:", "lab:x"])
def test_a_secret_is_found_in_base64_whatever_stands_before_it(
    monkeypatch: pytest.MonkeyPatch, encode: Callable[[bytes], bytes], user: str
) -> None:
    monkeypatch.setenv("LAB_API_KEY", "zebra?crossing>77")
    told = encode(f"{user}zebra?crossing>77".encode()).decode()
    masked = redact(f"sent {told} in vain")
    # Every character that the secret alone decides, and no other.
    first, last = -(-8 * len(user) // 6), 8 * len(f"{user}zebra?crossing>77") // 6
    assert masked == f"sent {told[:first]}[redacted]{told[last:]} in vain"
    assert redact(f"Authorization: Basic {encode(b'somebody:whatever').decode()}") == "Authorization: Basic [redacted]"


@pytest.mark.parametrize("kept", [16, 20, 31, 32])
def test_what_a_cut_left_of_a_secret_is_masked_too(monkeypatch: pytest.MonkeyPatch, kept: int) -> None:
    monkeypatch.setenv("LAB_API_KEY", "abcdefgh12345678ABCDEFGH87654321")
    assert redact(f"key {'abcdefgh12345678ABCDEFGH87654321'[:kept]}") == "key [redacted]"


@pytest.mark.parametrize("kept", [12, 15])
def test_what_a_cut_left_of_a_short_secret_is_masked_too(monkeypatch: pytest.MonkeyPatch, kept: int) -> None:
    monkeypatch.setenv("LAB_API_KEY", "zebra-crossing77")
    assert redact(f"key {'zebra-crossing77'[:kept]}") == "key [redacted]"


@pytest.mark.parametrize(
    ("secret", "kept"),
    [
        # Half of a long one, but no fewer than twelve letters; a short one, and one like a path, is known whole only.
        ("abcdefgh12345678ABCDEFGH87654321", 15), ("abcdefgh1234567Z", 11), ("abcdefgh1234567", 14),
        ("/home/lab/keys/of-monday", 23), ("correct horse battery staple", 27),
    ],
)  # fmt: skip
def test_the_beginning_that_other_texts_have_too_stays(monkeypatch: pytest.MonkeyPatch, secret: str, kept: int) -> None:
    monkeypatch.setenv("LAB_API_KEY", secret)
    assert redact(f"key {secret[:kept]}") == f"key {secret[:kept]}"
    assert redact(f"key {secret}") == "key [redacted]"


def test_a_secret_is_masked_in_every_form_that_a_text_has_it_in_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """A text that holds all there is to look for."""
    monkeypatch.setenv("LAB_API_KEY", "zebracrossing77")
    forms = [base64.b64encode(f"{before}zebracrossing77".encode()).decode().rstrip("=") for before in ("", "a", "ab")]
    masked = redact(" ".join(["zebracrossing77", *forms]))
    assert masked.count("[redacted]") == 4
    assert "zebra" not in masked


@pytest.mark.parametrize("form", ["zebra%2Fcrossing%3D77", "zebra%2fcrossing%3d77"])
def test_a_secret_is_masked_in_an_address_in_small_letters_and_capitals(
    monkeypatch: pytest.MonkeyPatch, form: str
) -> None:
    monkeypatch.setenv("LAB_API_KEY", "zebra/crossing=77")
    assert redact(f"https://lab.test/?key={form}&x") == "https://lab.test/?key=[redacted]&x"


def test_a_secret_that_goes_on_where_another_ends_is_masked_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LAB_API_KEY", "zebra-crossing-77")
    monkeypatch.setenv("OTHER_API_KEY", "lighthouse-keeper-5")
    assert redact("zebra-crossing-77lighthouse-keeper-5") == "[redacted][redacted]"
    assert redact("zebra-crossing-77zebra-crossing-77.") == "[redacted][redacted]."


def test_an_error_without_a_secret_is_the_error_itself() -> None:
    for error in (ValueError("no luck"), OSError(), OSError(5, "no luck"), ValueError(7)):
        assert masked_error(error) is error
        with pytest.raises(type(error)) as told:
            telling_no_secret(_raising)(error)
        assert told.value is error


def _raising(error: Exception) -> None:
    raise error


class _Odd(Exception):
    """Its words come from elsewhere than its arguments."""

    def __str__(self) -> str:
        return "no entry for zebra-crossing-77"


def test_a_secret_in_notes_only_is_masked_in_place(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LAB_API_KEY", "zebra-crossing-77")
    error = ValueError("no luck")
    error.add_note("with zebra-crossing-77")
    assert masked_error(error) is error
    assert error.__notes__ == ["with [redacted]"]


def test_a_secret_behind_an_error_replaces_it_though_its_own_words_tell_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LAB_API_KEY", "zebra-crossing-77")
    error = ValueError("no luck")
    error.__cause__ = _Odd()
    safe = masked_error(error)
    assert isinstance(safe, CellFailed)
    assert str(safe) == "ValueError: no luck"


def test_a_replaced_error_has_none_behind_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LAB_API_KEY", "zebra-crossing-77")
    with pytest.raises(CellFailed, match=r"^_Odd: no entry for \[redacted\]$") as told:
        telling_no_secret(_raising)(_Odd())
    assert told.value.__cause__ is None
    try:
        raise _Odd
    except _Odd as error:
        try:
            raise masked_error(error)
        except CellFailed as safe:
            shown = "".join(traceback.format_exception(safe))
    assert "no entry for zebra" not in shown


def test_an_error_keeps_its_type_and_tells_no_secret(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LAB_API_KEY", "zebra-crossing-77")
    error = OSError(5, "cannot reach zebra-crossing-77")
    assert isinstance(masked_error(error), OSError)
    assert "zebra" not in str(masked_error(error))


def test_what_is_no_ordinary_error_keeps_its_kind_and_tells_no_secret(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LAB_KEY", "zebra-crossing-77")

    class Ended(BaseException):
        """As pytest's own failures are."""

    @telling_no_secret
    def work(kind: type[BaseException]) -> None:
        raise kind("no luck with zebra-crossing-77")

    for kind in (Ended, KeyboardInterrupt):
        with pytest.raises(kind, match=r"no luck with \[redacted\]"):
            work(kind)
    with pytest.raises(LeftByExit, match=r"sys.exit\('no luck with \[redacted\]'\)"):
        work(SystemExit)


def test_an_error_whose_words_come_from_elsewhere_is_replaced(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LAB_API_KEY", "zebra-crossing-77")

    class Odd(Exception):
        def __str__(self) -> str:
            return "no entry for zebra-crossing-77"

    safe = masked_error(Odd())
    assert str(safe) == "Odd: no entry for [redacted]"


def test_nothing_that_a_traceback_shows_tells_a_secret(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LAB_API_KEY", "zebra-crossing-77")
    inner = ValueError("with zebra-crossing-77")
    inner.add_note("was given zebra-crossing-77")
    try:
        try:
            raise ExceptionGroup("two things", [inner, KeyError("zebra-crossing-77")])
        except ExceptionGroup as group:
            raise RuntimeError("no luck") from group
    except RuntimeError as error:
        safe = masked_error(error)
    shown = "".join(traceback.format_exception(safe))
    # What stands in the program itself is shown too.
    assert "zebra" not in "".join(line for line in shown.splitlines() if "raise " not in line)
    assert "was given [redacted]" in shown


NAMED = "sk-proj-Abcdefghijklmnop1234"


@given(
    before=st.lists(st.sampled_from(("sk-", "eyJ", "://", "Bearer ", "hf_", "AIza", "pk-", " ")), max_size=6),
    after=st.lists(st.sampled_from((" sk-", " eyJ", " http://x.org", " Bearer of news")), max_size=3),
    key=st.sampled_from((NAMED, "AIzaSyA1234567890abcdefghijk", "hf_abcdefghijklmnopqrsT7")),
)
def test_a_key_is_masked_after_words_that_only_begin_like_one(before: list[str], after: list[str], key: str) -> None:
    """What looks like the beginning of a key, and is none, keeps nobody from looking on."""
    masked = redact(f"{''.join(before)} {key}{''.join(after)}")
    assert key not in masked
    assert "[redacted]" in masked


@given(st.permutations(["LAB_API_KEY", "OTHER_API_KEY", "THIRD_API_KEY"]))
def test_a_secret_that_begins_with_another_is_masked_whole_in_whatever_order_they_are_set(names: list[str]) -> None:
    short = "zebra-crossing-77"
    with pytest.MonkeyPatch.context() as patch:
        for name, rest in zip(names, ("", "/of the north", "/of the north/and 1 more"), strict=True):
            patch.setenv(name, short + rest)
        assert redact(f"a {short}/of the north/and 1 more b") == "a [redacted] b"
        assert redact(f"a {short}/of the north b") == "a [redacted] b"
        assert redact(f"a {short} b") == "a [redacted] b"
