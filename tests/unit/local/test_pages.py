"""Our pages: data for who has the auth string, reports for who has their address, nothing for anybody else."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from seedbed.local import links, server
from seedbed.local.guard import Guard, Message, Receive, Scope, Send, basic
from seedbed.local.pages import Pages, file_token
from seedbed.local.roots import Root, known_roots, remember_flow_run, remember_root

AUTH = "seedbed:word"


async def _prefect(scope: Scope, receive: Receive, send: Send) -> None:
    await send({"type": "http.response.start", "status": 200, "headers": []})
    await send({"type": "http.response.body", "body": b"prefect"})


class Asked:
    """One request through guard and pages."""

    def __init__(self, path: str, *, method: str = "GET", **headers: str) -> None:
        sent: list[Message] = []

        async def receive() -> Message:
            return {"type": "http.request", "body": b""}

        async def send(message: Message) -> None:
            sent.append(message)

        path, _, query = path.partition("?")
        named = {"host": "127.0.0.1:4200", **{name.replace("_", "-"): value for name, value in headers.items()}}
        sent_headers = [(name.encode(), value.encode()) for name, value in named.items()]
        scope: dict[str, Any] = {
            "type": "http",
            "path": path,
            "method": method,
            "query_string": query.encode(),
            "headers": sent_headers,
        }
        asyncio.run(Guard(Pages(_prefect, AUTH), 4200, AUTH)(scope, receive, send))
        self.status: int = sent[0]["status"]
        self.headers = [(name.decode(), value.decode()) for name, value in sent[0]["headers"]]
        self.text = b"".join(message.get("body", b"") for message in sent[1:]).decode()

    def header(self, name: str) -> str:
        return ", ".join(value for key, value in self.headers if key == name)


def data(name: str) -> Any:
    asked = Asked(f"/seedbed/data/{name}", authorization=basic(AUTH))
    return json.loads(asked.text) | {"status_code": asked.status}


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Root:
    monkeypatch.setenv("SEEDBED_HOME", str(tmp_path / "home"))
    report = tmp_path / "out" / "sweeps" / "night" / "x y" / "report.html"
    report.parent.mkdir(parents=True)
    report.write_text("<p>figures</p>", encoding="utf-8")
    (tmp_path / "out" / "ledger.sqlite").write_text("prompts", encoding="utf-8")
    made = remember_root(tmp_path / "out", ran=True)
    assert made is not None
    return made


def test_everything_else_is_prefects(root: Root) -> None:
    assert Asked("/").text == "prefect"
    assert Asked("/api/flows").text == "prefect"


@pytest.mark.parametrize("name", ["", "live.js", "views.js", "live.css"])
def test_the_page_has_no_data_and_runs_nothing_but_its_own_script(root: Root, name: str) -> None:
    shell = Asked(f"/seedbed/{name}")
    assert shell.status == 200
    policy = shell.header("content-security-policy")
    assert "default-src 'none'; script-src 'self'; style-src 'self'" in policy
    assert "unsafe" not in policy
    assert "night" not in shell.text


@pytest.mark.parametrize("given", ["", "Basic x", basic("seedbed:wrong")])
def test_data_is_for_who_has_the_auth_string(root: Root, given: str) -> None:
    asked = Asked("/seedbed/data/sweeps", **({"authorization": given} if given else {}))
    assert asked.status == 401
    assert "night" not in asked.text


def test_pages_are_only_read(root: Root) -> None:
    for path in ("/seedbed/", "/seedbed/data/sweeps", f"/seedbed/files/{file_token(AUTH, root.path)}/sweeps/x"):
        assert Asked(path, method="POST", authorization=basic(AUTH), origin="http://127.0.0.1:4200").status == 405


def test_a_report_is_shown_under_its_address_in_a_sandbox(root: Root) -> None:
    token = file_token(AUTH, root.path)
    shown = Asked(f"/seedbed/files/{token}/sweeps/night/x y/report.html")
    assert (shown.status, shown.text) == (200, "<p>figures</p>")
    assert "sandbox allow-scripts" in shown.header("content-security-policy")
    assert "allow-same-origin" not in shown.header("content-security-policy")
    # A page in a sandbox has no origin; what it asks for beside itself is refused nowhere but here.
    beside = {"origin": "null", "sec_fetch_site": "cross-site", "sec_fetch_mode": "cors", "sec_fetch_dest": "empty"}
    assert Asked(f"/seedbed/files/{token}/sweeps/night/x y/report.html", **beside).status == 200
    assert Asked("/seedbed/data/sweeps", authorization=basic(AUTH), **beside).status == 403


@pytest.mark.parametrize(
    "name", ["ledger.sqlite", "sweeps/../ledger.sqlite", "sweeps/night", "", "sweeps/night/x y/none.html", "../home/x"]
)
def test_nothing_but_files_of_reports_is_shown(root: Root, name: str) -> None:
    assert Asked(f"/seedbed/files/{file_token(AUTH, root.path)}/{name}").status == 404


def test_a_link_that_leads_out_of_the_results_is_not_followed(root: Root, tmp_path: Path) -> None:
    (root.path / "sweeps" / "out.html").symlink_to(root.path / "ledger.sqlite")
    assert Asked(f"/seedbed/files/{file_token(AUTH, root.path)}/sweeps/out.html").status == 404


@pytest.mark.parametrize("token", ["", "x", file_token("seedbed:other", Path("/"))])
def test_without_its_address_no_report_is_shown(root: Root, token: str) -> None:
    assert Asked(f"/seedbed/files/{token}/sweeps/night/x y/report.html").status == 404


def test_another_name_for_this_machine_reads_no_report(root: Root) -> None:
    path = f"/seedbed/files/{file_token(AUTH, root.path)}/sweeps/night/x y/report.html"
    assert Asked(path, host="rebound.test:4200").status == 403


@pytest.mark.parametrize("asked", ["run?root=zz&sweep=night", "cells?root=zz&sweep=night", "call?root=zz&sweep=n&id=1"])
def test_results_that_are_not_shown_are_a_sentence(root: Root, asked: str) -> None:
    told = data(asked)
    assert told["status_code"] == 404
    assert "`seedbed ui --out DIR` shows a folder" in told["error"]


def test_a_sweep_or_a_run_is_no_path(root: Root) -> None:
    for name in ("..", "../..", "nothing"):
        assert data(f"run?root={root.id}&sweep={name}")["status_code"] == 404
    assert data(f"run?root={root.id}")["status_code"] == 400


def test_folders_are_remembered_and_those_that_are_gone_are_not_shown(root: Root, tmp_path: Path) -> None:
    other = remember_root(tmp_path / "other", ran=False)
    assert other is not None
    assert [one.path for one in known_roots()] == [root.path]
    (tmp_path / "other" / "sweeps").mkdir(parents=True)
    assert [one.path for one in known_roots()] == [other.path, root.path]
    again = remember_root(root.path, ran=False)
    assert again is not None
    assert again.ran, "what ran here once stays the user's own"
    remember_flow_run(root.path / "sweeps/night/x y", "number")
    assert [one.path for one in known_roots()] == [root.path, other.path]


def test_a_report_has_a_link_only_where_something_serves_it(root: Root, monkeypatch: pytest.MonkeyPatch) -> None:
    report = root.path / "sweeps/night/x y/report.html"
    monkeypatch.delenv("PREFECT_API_URL", raising=False)
    assert links.report_link(root.path, report) is None, "no server runs"
    own = server.Server(1, 4200, "1")
    monkeypatch.setattr(server, "running", lambda: own)
    files = f"http://127.0.0.1:4200/seedbed/files/{file_token(server.auth_string(), root.path)}"
    assert links.report_link(root.path, report) == f"{files}/sweeps/night/x%20y/report.html"
    assert links.live_link(root.path, "night") == f"http://127.0.0.1:4200/seedbed/#{root.id}/night"
    monkeypatch.setenv("PREFECT_API_URL", "https://prefect.lab.example.org/api")
    assert links.report_link(root.path, report) is None, "the UI is another's, and this server may stop"
    monkeypatch.setenv("SEEDBED_REPORTS_URL", "https://lab.example.org/results/")
    assert links.report_link(root.path, report) == "https://lab.example.org/results/sweeps/night/x%20y/report.html"
