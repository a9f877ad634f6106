"""Makes the pictures of README and docs, and the output that README quotes, from runs of the present tree.

`python -m bench.pictures` (`make docs` does it) runs the demo, a sweep with failing calls and two nights on a server of
its own and opens their pages in Chromium. Everything but the pictures goes into a folder that is removed.
"""

from __future__ import annotations

import os
import re
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from bench import night_pictures
from tests.support.chromium import Browser, browser, found

ROOT = Path(__file__).resolve().parent.parent
IMAGES = ROOT / "docs" / "images"
README = ROOT / "README.md"
MARKS = "<!-- the end of the demo, by bench/pictures.py -->", "<!-- until here -->"
FAULTY = """\
name: faulty
seeds: [0, 1, 2]
models:
  reader:
    model: offline/reader
    temperature: 0.7
    retries: 6
    backoff_s: 0.3
    limits: {concurrency: 4}
    options: {latency_ms: 400, errors: {server: 0.1, rate_limit: 0.05, timeout: 0.05}}
budget: {max_usd: 3.0}
experiments:
  - {suite: crosslingual, models: [reader], benchmarks: [{name: tiny, limit: 30}], systems: [direct, multi, cross]}
"""
"""One call in five fails."""
_SIZE = 1400, 1000


def main() -> None:
    with tempfile.TemporaryDirectory(prefix="seedbed-pictures-") as name:
        folder = Path(name)
        os.environ.update(SEEDBED_HOME=str(folder / "home"), SEEDBED_PORT=str(_free_port()), DO_NOT_TRACK="1")
        os.environ.pop("PREFECT_API_URL", None)
        _letters(folder)
        program = found()
        if program is None:
            raise SystemExit("Chromium is needed for the pictures, and there is none here.")
        try:
            with browser(program, folder / "profile") as tab:
                _demo(folder, tab)
                _faulty(folder, tab)
                night_pictures.take(folder / "nights", tab, _keep)
        finally:
            _seedbed(folder, "server", "stop")


def _letters(folder: Path) -> None:
    """Give the browser the font that drawings use: not every machine has Chinese and Japanese letters."""
    fonts = folder / "share" / "fonts"
    fonts.parent.mkdir()
    fonts.symlink_to(ROOT / "seedbed" / "report" / "assets" / "fonts")
    os.environ["XDG_DATA_HOME"] = str(fonts.parent)


def _demo(folder: Path, tab: Browser) -> None:
    """The report of the demo, and what the terminal says at its end."""
    said = _seedbed(folder, "run", str(ROOT / "configs" / "demo.yaml"), "--out", "demo")
    _quote(said)
    report = next((folder / "demo" / "sweeps" / "demo").glob("*/report.html"))
    tab.look(*_SIZE)
    tab.open(report)
    _keep(tab, "report")
    tab.open(report, "#table=crosslingual/tiny/reader&system=lbrag&against=multi&metric=f1&differ=1")
    _keep(tab, "report-samples")
    tab.look(*_SIZE, "dark")
    tab.run("document.querySelector('.line').click()")
    tab.wait("document.getElementById('sample').dataset.shown")
    _keep(tab, "report-dark")
    tab.look(400, 800, "dark")
    tab.open(report)
    _keep(tab, "report-phone")
    said = _seedbed(folder, "compare", "demo:multi", "demo:lbrag", "--out", "demo", "--open")
    tab.look(*_SIZE)
    tab.open(folder / said.splitlines()[-1].strip())
    _keep(tab, "compare")


def _faulty(folder: Path, tab: Browser) -> None:
    """A sweep at work on our page."""
    (folder / "faulty.yaml").write_text(FAULTY, encoding="utf-8")
    command = [sys.executable, "-m", "seedbed", "run", "faulty.yaml", "--out", "faulty"]
    with subprocess.Popen(command, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as sweep:  # noqa: S603
        link = _seedbed(folder, "ui", "--no-open").splitlines()[0]
        tab.look(*_SIZE)
        tab.open(link)
        _wait(tab, "[...document.querySelectorAll('tbody a')].some(found => found.textContent === 'faulty')")
        tab.run("[...document.querySelectorAll('tbody a')].find(found => found.textContent === 'faulty').click()")
        _wait(tab, "Number((document.title.match(/^(\\d+)%/) || [0, 0])[1]) >= 55")
        _keep(tab, "live-page")
        sweep.wait()


def _wait(tab: Browser, expression: str) -> None:
    """As long as a sweep may take."""
    deadline = time.monotonic() + 900
    while time.monotonic() < deadline:
        try:
            tab.wait(expression)
        except AssertionError:
            continue
        return
    raise SystemExit(f"never came true: {expression}")


def _keep(tab: Browser, name: str) -> None:
    tab.picture(IMAGES / f"{name}.png")
    print(IMAGES / f"{name}.png")


def _quote(said: str) -> None:
    """Put the first table of what the demo said, with its verdicts, between the marks of the README."""
    table = re.search(r"^RAG across languages.*?(?=\n\n(?!tiny with))", said, re.DOTALL | re.MULTILINE)
    if table is None:
        raise SystemExit(f"the demo did not end as expected:\n{said[-3000:]}")
    lines = [line.rstrip() for line in table[0].splitlines()]
    text = README.read_text(encoding="utf-8")
    begin, end = (text.index(mark) for mark in MARKS)
    body = "\n".join(lines)
    README.write_text(f"{text[:begin]}{MARKS[0]}\n```\n{body}\n```\n{text[end:]}", encoding="utf-8")


def _seedbed(folder: Path, *words: str) -> str:
    # No browser but ours is to open what a command opens.
    environment = {**os.environ, "COLUMNS": "110", "BROWSER": "true"}
    done = subprocess.run(  # noqa: S603
        [sys.executable, "-m", "seedbed", *words], cwd=folder, env=environment, capture_output=True, text=True
    )
    if done.returncode:
        raise SystemExit(f"seedbed {' '.join(words)}: {done.stderr[-2000:]}")
    return done.stdout


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


if __name__ == "__main__":
    began = time.monotonic()
    main()
    print(f"{time.monotonic() - began:.0f} s")
