"""Secrets are recognised by the variable that holds them or by their looks."""

from __future__ import annotations

import pytest

from seedbed.redact import redact


@pytest.mark.parametrize("name", ["OPENAI_API_KEY", "HF_TOKEN", "DB_PASSWORD", "MY_SECRET"])
def test_the_value_of_a_secret_variable_is_masked_anywhere(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(name, "zebra-crossing-77")
    assert redact("Incorrect key: zebra-crossing-77.") == "Incorrect key: [redacted]."


@pytest.mark.parametrize(
    "text",
    [
        "sk-proj-abcdefghijklmnop1234",
        "Authorization: Bearer abcdefghijkl.mnopqrst",
        "postgresql://user:hunter2hunter2@db/x",
        "hf_abcdefghijklmnopqrsT7",
    ],
)
def test_texts_that_look_like_keys_are_masked(text: str) -> None:
    assert "[redacted]" in redact(text)


@pytest.mark.parametrize(
    "text",
    [
        "the risk-free rate",
        "tokens: 512",
        "a short key-value pair",
        "key_coverage_penalised",
        "pk_of_the_samples_table",
        "http://127.0.0.1:4200/api",
    ],
)
def test_ordinary_text_stays(text: str) -> None:
    assert redact(text) == text
