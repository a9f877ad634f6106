"""Systems that are programs: what they are given, what becomes of what they print, and that none is left behind."""

from __future__ import annotations

import json
import shutil
import signal
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from seedbed.cli.main import main
from seedbed.errors import UserError
from seedbed.lm.runtime import close_runtimes
from seedbed.phases.aggregate import publish_again
from seedbed.phases.archive import write_archive
from seedbed.phases.context import open_run
from seedbed.phases.publish import Choices
from seedbed.suites.custom.commands import last_lines, tail
from tests.support import forked, plain_agent
from tests.support.cells import Prepared, prepared
from tests.support.loopback import Loopback
from tests.support.processes import working_in

pytestmark = pytest.mark.slow

CONFIG = """\
name: agents
seeds: [7]
models:
  m: {{model: openai/loop, api_base: "{url}", max_tokens: 50, price: {{input: 2.0, output: 8.0}}, temperature: 0.7}}
experiments:
  - suite: custom
    models: [m]
    benchmarks: [{{name: cases, path: cases.jsonl, inputs: [question]}}]
    systems: [{{name: agent, command: ["{{python}}", agent.py{more}], {options}}}]
    scorers: [contains]
max_error_share: 1.0
"""


@pytest.fixture
def server() -> Iterator[Loopback]:
    with Loopback() as made:
        yield made
    close_runtimes()


def _ready(
    folder: Path, server: Loopback, questions: list[str], options: str = "timeout_s: 60", more: str = ""
) -> Prepared:
    folder.mkdir(exist_ok=True)
    shutil.copy(plain_agent.__file__, folder / "agent.py")
    rows = [{"id": f"q{number}", "question": text} for number, text in enumerate(questions)]
    (folder / "cases.jsonl").write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    text = CONFIG.format(url=server.url, options=options, more=more)
    (folder / "agents.yaml").write_text(text, encoding="utf-8")
    return prepared(folder / "agents.yaml", folder / "out")


def _generated(ready: Prepared) -> tuple[dict[str, Any], dict[str, Any]]:
    """The account of the phase, and the rows by sample."""
    [cell] = ready.plan.cells
    result = ready.phase(cell, "generate")
    return result, {row["sample_id"]: row for row in ready.rows(cell, "predictions.jsonl")}


def test_inputs_go_in_answers_come_out_and_calls_are_counted(tmp_path: Path, server: Loopback) -> None:
    ready = _ready(tmp_path, server, ["one", "two", "a text please", "crash now", "past the gateway"])
    result, rows = _generated(ready)
    assert rows["q0"]["output"]["SEEDBED_SEED"] == "7"
    assert rows["q1"]["output"]["SEEDBED_SAMPLE"] == "q1"
    assert rows["q2"]["output"] == {"answer": "42"}
    assert rows["q3"]["error"] == {
        "kind": "ProgramFailed",
        "message": "exit code 3; its last words: a line before | no idea",
    }
    assert rows["q4"]["output"]["answer"] == "nobody was asked"
    assert (result["usage"]["calls"], result["n_errors"]) == (4, 1)
    assert (result["usage"]["tokens_in"], result["usage"]["tokens_out"]) == (
        server.books.tokens_in,
        server.books.tokens_out,
    )
    logs = ready.folder(ready.plan.cells[0]) / "logs"
    assert {path.name: path.read_text(encoding="utf-8").strip() for path in logs.iterdir()} == {
        "q0.log": "thinking about one",
        "q1.log": "thinking about two",
        "q3.log": "a line before\nno idea",
    }


def test_the_end_of_a_secret_in_its_last_words_is_masked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of a long last line, and of a long log, the beginning is cut off."""
    secret = "zebra-crossing-77-at-noon-in-the-rain"
    monkeypatch.setenv("LAB_KEY", secret)
    for length in (480, 999_980):
        (tmp_path / "err").write_text(f"a line{secret}{'.' * length}", encoding="utf-8")
        said = tail(tmp_path / "err")
        assert "rain" not in said + last_lines(said)
        assert last_lines(said).endswith("." * 400)


def test_a_program_that_calls_nobody_we_know_is_uncounted_unless_it_says_so(tmp_path: Path, server: Loopback) -> None:
    past = _generated(_ready(tmp_path / "a", server, ["past the gateway"]))[0]["usage"]
    assert (past["calls"], past["spent_usd"], past["list_usd"]) == (None, None, None)
    told = _generated(_ready(tmp_path / "b", server, ["past the gateway"], "calls_per_case: 0"))[0]["usage"]
    assert (told["calls"], told["spent_usd"]) == (0, 0.0)


def test_at_the_timeout_it_is_killed_with_its_children(tmp_path: Path, server: Loopback) -> None:
    _, rows = _generated(_ready(tmp_path, server, ["sleep"], "timeout_s: 2"))
    assert rows["q0"]["error"]["message"] == "no answer within 2 s; the program was killed"
    _until(lambda: not working_in(tmp_path))


def test_a_killed_sweep_leaves_no_program_behind(tmp_path: Path, server: Loopback) -> None:
    _ready(tmp_path, server, ["sleep"])
    sweep = forked.Popen(
        [sys.executable, "-m", "tests.support.cells", str(tmp_path / "agents.yaml"), str(tmp_path / "out")]
    )
    _until(lambda: len(working_in(tmp_path)) >= 3)  # the leash, the program, its child
    sweep.send_signal(signal.SIGKILL)
    sweep.wait()
    _until(lambda: not working_in(tmp_path))


def test_a_server_answers_case_after_case_and_is_replaced_when_it_dies(tmp_path: Path, server: Loopback) -> None:
    ready = _ready(tmp_path, server, ["one", "two", "crash", "three"], "kind: server, processes: 1", ", --serve")
    result, rows = _generated(ready)
    first, second, last = (rows[name]["output"]["pid"] for name in ("q0", "q1", "q3"))
    assert first == second != last
    assert rows["q2"]["error"]["message"].startswith("exit code 3; its last words: a line before")
    assert result["usage"]["calls"] == 6
    assert not working_in(tmp_path)
    logs = ready.folder(ready.plan.cells[0]) / "logs"
    assert (logs / "q1.log").read_text(encoding="utf-8").strip() == "thinking about two"


def test_a_cell_is_known_by_the_programs_files_and_not_by_how_many_run(tmp_path: Path, server: Loopback) -> None:
    before = _ready(tmp_path, server, ["one"]).plan.cells[0].id
    assert _ready(tmp_path, server, ["one"], "timeout_s: 60, processes: 3").plan.cells[0].id == before
    (tmp_path / "lib.py").write_text("x = 1\n", encoding="utf-8")
    with_lib = _ready(tmp_path, server, ["one"], "timeout_s: 60, files: ['lib*.py']").plan.cells[0].id
    (tmp_path / "lib.py").write_text("x = 2\n", encoding="utf-8")
    assert len({before, with_lib, _ready(tmp_path, server, ["one"], "files: ['lib*.py']").plan.cells[0].id}) == 3


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ("files: [no.js]", "no file is 'no.js'"),
        ("prompt: '{question}'", "give one of prompt"),
        ("examples: 3", "examples does not belong to a command"),
        ("command: [no-such-program]", "'no-such-program' is not on the PATH"),
        ("command: [./no.sh]", "there is no program './no.sh'"),
    ],
)
def test_a_command_that_cannot_work_is_refused_with_its_line(
    tmp_path: Path, server: Loopback, options: str, said: str
) -> None:
    attempt = _with_command if options.startswith("command") else _with_options
    with pytest.raises(UserError, match=":9: ") as raised:
        attempt(tmp_path, server, options)
    assert said in str(raised.value)


def test_a_plan_starts_no_program(tmp_path: Path, server: Loopback, capsys: pytest.CaptureFixture[str]) -> None:
    _ready(tmp_path, server, ["one", "two"])
    assert main(["plan", str(tmp_path / "agents.yaml"), "--out", str(tmp_path / "out")]) == 0
    assert "agent" in capsys.readouterr().out
    assert server.books.requests == 0


def _with_options(folder: Path, server: Loopback, options: str) -> None:
    _ready(folder, server, ["one"], options)


def _with_command(folder: Path, server: Loopback, options: str) -> None:
    _ready(folder, server, ["one"])
    config = folder / "agents.yaml"
    text = config.read_text(encoding="utf-8").replace('command: ["{python}", agent.py], timeout_s: 60', options)
    config.write_text(text, encoding="utf-8")
    prepared(config, folder / "out")


def _until(holds: Callable[[], bool]) -> None:
    end = time.monotonic() + 600
    while not holds():
        assert time.monotonic() < end
        time.sleep(0.05)


def test_programs_of_somebody_elses_archive_run_only_where_they_are_trusted(
    tmp_path: Path, server: Loopback, capsys: pytest.CaptureFixture[str]
) -> None:
    ready = _ready(tmp_path / "a", server, ["one"])
    ready.all_phases(ready.plan.cells[0])
    run = open_run(ready.run)
    assert publish_again(run, Choices())
    archive, out = tmp_path / "run.zip", tmp_path / "again"
    write_archive(run, archive, with_data=True)
    close_runtimes()
    asked = server.books.requests
    assert main(["verify", str(archive)]) == 0
    assert "--trust-plugins: read it first" in capsys.readouterr().out
    assert main(["run", str(archive), "--replay", "--out", str(out)]) == 2
    assert "are run only with --trust-plugins" in capsys.readouterr().err
    assert main(["verify", str(archive), "--trust-plugins"]) == 0
    assert "cannot be made again" not in capsys.readouterr().out
    assert server.books.requests == asked
