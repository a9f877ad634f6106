"""What checks the code agrees with what the project says."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable
from pathlib import Path

import yaml

ROOT = Path(__file__).resolve().parents[2]
HOOKS = yaml.safe_load((ROOT / ".pre-commit-config.yaml").read_text(encoding="utf-8"))["repos"][0]["hooks"]


def plain(requirement: str) -> str:
    """A requirement without its extras, spelt as indexes compare names."""
    name, sign, version = re.sub(r"\[.*?\]", "", requirement).partition("==")
    return f"{re.sub('[-_.]+', '-', name).lower()}{sign}{version}"


def names(requirements: Iterable[str]) -> set[str]:
    return {re.split(r"[<>=!~]", plain(requirement))[0] for requirement in requirements}


def test_hooks_run_the_versions_of_the_constraints() -> None:
    pinned = {plain(line) for line in (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines()}
    wanted = {plain(line) for hook in HOOKS for line in hook["additional_dependencies"]}
    assert sorted(wanted - pinned) == []


def test_the_hook_for_types_knows_every_library_the_package_needs() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    types = next(hook for hook in HOOKS if hook["id"] == "types")
    assert sorted(names(project["dependencies"]) - names(types["additional_dependencies"])) == []
