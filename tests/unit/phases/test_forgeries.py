"""`seedbed verify` on forged results: whatever is changed is named, with its file and its figure.

One finished sweep is forged in copies, many ways in each, since every change must be named for itself.
"""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

import pytest

from seedbed.phases.context import read_run
from seedbed.phases.verify import Difference, verify
from tests.support.cells import prepared
from tests.support.forgeries import BATCHES, CONFIG, Copy, Forgery, copy_of, renew

pytestmark = pytest.mark.slow

_NOT_HASHED = re.compile(r"/(\.locks|cache|done)/|/ledger\.sqlite|/latest$|/cell\.json$|/(plan|run|manifest)\.json$")
"""What holds the hashes, and what is compared field by field instead."""


@pytest.fixture(scope="module")
def paper(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a finished run: answers, dialogues, a search, and what is published of them."""
    folder = tmp_path_factory.mktemp("paper")
    (folder / "paper.yaml").write_text(CONFIG, encoding="utf-8")
    return prepared(folder / "paper.yaml", folder / "out").finish()


@pytest.fixture(scope="module")
def found(paper: Path, tmp_path_factory: pytest.TempPathFactory) -> object:
    """By batch: the copy, and what is said of it; each forged and verified once."""

    @cache
    def look(batch: str) -> tuple[Copy, list[Difference]]:
        copy = copy_of(paper, tmp_path_factory.mktemp(batch) / "out")
        for forgery in BATCHES[batch]:
            forgery.change(copy)
        renew(copy)
        return copy, verify(read_run(copy.run)).differences

    return look


ALL = [(batch, forgery) for batch, own in BATCHES.items() for forgery in own]


@pytest.mark.parametrize(("batch", "forgery"), ALL, ids=[forgery.what for _, forgery in ALL])
def test_a_forgery_is_named_though_all_hashes_were_renewed(found: object, batch: str, forgery: Forgery) -> None:
    assert callable(found)
    copy, differences = found(batch)
    own = [d.what for d in differences if d.file == copy.named(forgery.file)]
    assert [what for what in own if re.search(forgery.says, what)], own[:5]


def test_there_are_more_than_sixty_kinds() -> None:
    assert len({forgery.what for _, forgery in ALL}) >= 60


def test_a_changed_byte_is_named_in_every_file_where_hashes_were_not_renewed(paper: Path, tmp_path: Path) -> None:
    copy = copy_of(paper, tmp_path / "out")
    files = [path for path in sorted(copy.root.rglob("*")) if path.is_file() and not _NOT_HASHED.search(str(path))]
    for path in files:
        # Blank space behind the last line changes no figure, only the bytes.
        path.write_bytes(path.read_bytes() + b" ")
    named = {difference.file for difference in verify(read_run(copy.run), again=False).differences}
    assert [name for path in files if (name := str(path.relative_to(copy.root))) not in named] == []


def test_untouched_results_are_verified_in_another_folder_that_nobody_may_write_to(paper: Path, tmp_path: Path) -> None:
    copy = copy_of(paper, tmp_path / "elsewhere")

    def state() -> dict[str, tuple[int, int, int]]:
        return {str(p): ((s := p.stat()).st_size, s.st_mtime_ns, s.st_mode) for p in sorted(copy.root.rglob("*"))}

    for path in copy.root.rglob("*"):
        path.chmod(0o555 if path.is_dir() else 0o444)
    before = state()
    try:
        result = verify(read_run(copy.run))
    finally:
        after = state()
        for path in [copy.root, *copy.root.rglob("*")]:
            if path.is_dir():
                path.chmod(0o755)
    assert result.differences == []
    assert result.n_cells == 4
    assert after == before, "nothing is made, nothing is changed"
    assert any("search of optimizers" in sentence for sentence in result.unchecked)
