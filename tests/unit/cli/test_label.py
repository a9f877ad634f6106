"""`seedbed label`, from its link to the report that is corrected by what was marked."""

from __future__ import annotations

import http.client
import json
import threading
from pathlib import Path

import pytest

from seedbed.cli.main import main
from seedbed.local.label_server import TOKEN_HEADER, LabelServer
from tests.support.judged import judged_run


def test_marks_given_on_the_page_correct_the_report(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    judged_run(tmp_path)
    serve = LabelServer.serve_forever

    def mark_and_stop(server: LabelServer) -> None:
        """Six marks by whoever has the link, then Ctrl-C."""
        thread = threading.Thread(target=serve, args=(server,))
        thread.start()
        for at in range(6):
            page = http.client.HTTPConnection("127.0.0.1", server.server_port, timeout=60)
            page.request("POST", "/label", json.dumps({"at": at, "mark": at % 5}), {TOKEN_HEADER: server.token})
            assert page.getresponse().status == 200
            page.close()
        server.shutdown()
        thread.join()
        raise KeyboardInterrupt

    monkeypatch.setattr(LabelServer, "serve_forever", mark_and_stop)
    out = ("--out", str(tmp_path / "out"))
    asked = ("label", "judges", "--metric", "kindness", "--rater", "ann", "--no-open", "--port", "0")
    assert main([*asked, *out]) == 0
    told = capsys.readouterr().out
    assert "http://127.0.0.1:" in told
    assert "6 answers have a label of ann; `seedbed report judges` corrects by them." in told
    assert main(["report", "judges", *out]) == 0
    page = max((tmp_path / "out/sweeps/judges").glob("*/report.html")).read_text(encoding="utf-8")
    assert "corrected" in page
