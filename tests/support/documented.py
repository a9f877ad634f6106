"""What becomes of each command that README and docs show: run in the folder of the tutorials, by a test of its own, or
by nobody, since it needs a key."""

from __future__ import annotations

import re
import shlex
from dataclasses import dataclass
from pathlib import Path

from tests.support.snippets import DOCS
from tests.support.tutorials import tutorial

ROOT = DOCS.parent
_LINE = re.compile(r"(?:    |\$ )?(seedbed [a-z].*)")
_KEY = re.compile(r"#.*\bkey\b")
_OPTION = re.compile(r" \[--[^]]*\]")
STAND_INS = {
    "SWEEP": "qa",
    "demo": "qa",
    "A": "qa:plain",
    "B": "qa:terse",
    "SWEEP:SYSTEM": "qa:plain",
    "csv|parquet": "parquet",
    "FILE.zip": "again.zip",
    "nightly": "qa",
    "PATH": "paper.zip",
    "NEW_FOLDER": "replayed",
    "CONFIG": "qa.yaml",
}
"""Names in the docs -> those of what the tutorials made."""
ELSEWHERE = {
    "watch": "unit/phases/test_standing.py",
    "label": "unit/cli/test_label.py",
    "report judge": "unit/cli/test_label.py",
    "explain": "unit/nightly/test_culprit.py",
    "server": "unit/local/test_local_server.py",
    "worker": "support/lab.py",
    "batches drop": "unit/cli/test_batches.py",
    "ui": "browser/test_foreign_page.py",
    "deploy": "faults/test_night_faults.py",
    "import": "unit/phases/imports/test_imports.py",
    "meta": "unit/suites/rag_quality/test_judging_files.py",
    "demo --real": "unit/cli/test_demo.py",
    "demo": "unit/phases/test_shipped_configs.py",
    "compare old new": "unit/phases/imports/test_imports.py",
    "export SWEEP --format inspect --to logs": "unit/cli/test_export.py",
    "export SWEEP --format mlflow --to sqlite:///mlflow.db": "unit/cli/test_export.py",
    "score contract_risk": "unit/suites/contract_risk/test_score_file.py",
    "score crosslingual": "unit/suites/test_data_fuzz.py",
    "score finance_dialog": "unit/suites/finance_dialog/test_trace_files.py",
    "verify paper.tex": "unit/phases/verification/test_paper.py",
    "plan configs/gepa.yaml": "unit/phases/test_shipped_configs.py",
    "run configs/gepa.yaml": "flows/test_gepa_bill.py",
    "run configs/": "unit/phases/test_shipped_configs.py",
}
"""What a command begins with -> the tests that run it, with files, servers or sizes of their own."""


@dataclass(frozen=True)
class Documented:
    page: Path
    line: str

    @property
    def words(self) -> list[str]:
        """Without `seedbed`, as they stand there."""
        return shlex.split(self.line, comments=True)[1:]

    @property
    def needs_key(self) -> bool:
        """The page says so beside it."""
        return _KEY.search(self.line) is not None

    @property
    def elsewhere(self) -> str | None:
        told = " ".join(self.words)
        return next((test for begin, test in ELSEWHERE.items() if told == begin or told.startswith(begin)), None)

    def in_the_folder(self) -> list[str]:
        """To be run beside the tutorials: options that may be left out are, and names stand for what is there."""
        line = self.line.replace("[--with-data]", "--with-data")  # the tutorials' sweep has data of its own
        words = shlex.split(_OPTION.sub("", line), comments=True)[1:]
        known = [STAND_INS.get(word, word) for word in words]
        if known[0] == "compare" and known[1:] == ["qa:plain", "qa:plain"]:
            known[2] = "qa:terse"
        return [word for word in known if word != "--open"]


def documented(which: str = "*.md") -> list[Documented]:
    """Every `seedbed ...` line of README and docs; those of tutorials (`**/*.md`) are run as part of these."""
    pages = [ROOT / "README.md", *sorted(DOCS.glob(which))]
    lines = [(page, line) for page in pages for line in page.read_text(encoding="utf-8").splitlines()]
    return [Documented(page, found[1]) for page, line in lines if (found := _LINE.match(line)) is not None]


def left_to_run() -> list[list[str]]:
    """Those that nobody else runs, each once."""
    done = [command[1:] for name in ("sweep", "paper", "nightly") for command in tutorial(name).commands]
    found: list[list[str]] = []
    for command in documented():
        if command.needs_key or command.elsewhere is not None:
            continue
        words = command.in_the_folder()
        if words not in done and words not in found:
            found.append(words)
    return found
