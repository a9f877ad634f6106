"""What becomes of a request of a batch that was refused or ended as a whole."""

from __future__ import annotations

from typing import Any

import pytest

from seedbed.lm.batches.openai_api import _meaning  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("status", "faults", "kind"),
    [
        ("failed", [{"code": "token_limit_exceeded", "message": "too many enqueued"}], "rate_limit"),
        ("failed", [{"code": "other", "line": 1}, {"code": "token_limit_exceeded"}], "rate_limit"),
        ("failed", [{"code": "invalid_json_line", "line": 7, "message": "line 7 is none"}], "server"),
        ("failed", [{"code": "invalid_file", "message": "no such file"}], "invalid_request"),
        ("failed", [{"code": "a", "line": 7}, {"code": "b"}], "invalid_request"),
        ("failed", [], "invalid_request"),
        ("expired", [], "timeout"),
        ("cancelled", [], "server"),
    ],
)
def test_it_is_asked_again_unless_it_is_at_fault_itself(status: str, faults: list[dict[str, Any]], kind: str) -> None:
    assert _meaning(status, faults).kind == kind
