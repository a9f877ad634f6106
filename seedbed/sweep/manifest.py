"""What a result was made with: enough to make it again, or to say why it cannot be."""

from __future__ import annotations

import platform
import subprocess
import sys
from collections.abc import Mapping
from functools import lru_cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

_PACKAGES = (
    "seedbed",
    "dspy",
    "prefect",
    "litellm",
    "openai",
    "gepa",
    "numpy",
    "pandas",
    "scipy",
    "matplotlib",
    "FlagEmbedding",
    "torch",
)

MADE_WITH = ("git", "python", "platform", "packages")
"""Fields that say on what machine and with which versions something was made: nobody can compute them again."""


def manifest(*, cell_id: str, config_hash: str, data_hash: str, simulated: bool, **more: Any) -> Mapping[str, Any]:
    """The manifest of a run; `simulated` is true where the offline model had a part in it."""
    return {
        "cell_id": cell_id,
        "config_hash": config_hash,
        "data_hash": data_hash,
        "simulated": simulated,
        **made_with(),
        **more,
    }


def made_with() -> dict[str, Any]:
    """The fields of `MADE_WITH`, as they are here and now."""
    return {
        "git": dict(git_state()),
        "python": sys.version.split()[0],
        "platform": platform.platform(),
        "packages": dict(package_versions()),
    }


@lru_cache(maxsize=1)
def package_versions() -> tuple[tuple[str, str], ...]:
    """Installed versions, found without importing the packages."""
    found: list[tuple[str, str]] = []
    for name in _PACKAGES:
        try:
            found.append((name, version(name)))
        except PackageNotFoundError:
            continue
    return tuple(found)


@lru_cache(maxsize=1)
def git_state() -> tuple[tuple[str, Any], ...]:
    """Commit of the code that ran, and whether it was changed since; empty outside a checkout."""
    folder = Path(__file__).resolve().parent

    def git(*arguments: str) -> str | None:
        try:
            done = subprocess.run(  # noqa: S603
                ["git", "-C", str(folder), *arguments],  # noqa: S607
                capture_output=True,
                text=True,
                timeout=10,
                check=True,
            )
        except (OSError, subprocess.SubprocessError):
            return None
        return done.stdout.strip()

    commit = git("rev-parse", "HEAD")
    if commit is None:
        return ()
    return ("commit", commit), ("dirty", bool(git("status", "--porcelain", "--untracked-files=no")))
