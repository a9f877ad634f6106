"""The reports are shown to who asks for them by the server's own name."""

from __future__ import annotations

import http.client
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from seedbed.local import report_server


@pytest.fixture
def port(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[int]:
    monkeypatch.setenv("SEEDBED_REPORTS_PORT", "0")
    (tmp_path / "sweeps").mkdir()
    (tmp_path / "sweeps" / "report.html").write_text("figures", encoding="utf-8")
    (tmp_path / "ledger.sqlite").write_text("prompts", encoding="utf-8")
    with report_server.server(tmp_path) as serving:
        threading.Thread(target=serving.serve_forever, daemon=True).start()
        yield serving.server_port
        serving.shutdown()


def _get(port: int, host: str | None, path: str = "/sweeps/report.html") -> tuple[int, str]:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
    connection.putrequest("GET", path, skip_host=True)
    if host is not None:
        connection.putheader("Host", host)
    connection.endheaders()
    reply = connection.getresponse()
    return reply.status, reply.read().decode()


@pytest.mark.parametrize("name", ["127.0.0.1", "localhost"])
def test_a_report_is_shown_under_the_servers_own_name(port: int, name: str) -> None:
    assert _get(port, f"{name}:{port}") == (200, "figures")


@pytest.mark.parametrize("host", ["rebound.test:{}", "127.0.0.1", "127.0.0.1.rebound.test:{}", None])
def test_a_foreign_name_reads_nothing(port: int, host: str | None) -> None:
    status, text = _get(port, host and host.format(port))
    assert status == 403
    assert "figures" not in text


def test_the_ledger_is_never_shown(port: int) -> None:
    assert _get(port, f"127.0.0.1:{port}", "/ledger.sqlite")[0] == 404
