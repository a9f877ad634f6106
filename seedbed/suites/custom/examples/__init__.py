"""The examples that `seedbed init` writes: a folder each, with a config of its name."""

from __future__ import annotations

from pathlib import Path

EXAMPLES = ("qa", "judge", "rag", "optimise", "agent")


def example_files(name: str) -> list[Path]:
    return sorted(path for path in (Path(__file__).parent / name).iterdir() if path.is_file())
