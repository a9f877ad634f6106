"""What a config may say of this suite's benchmarks and systems."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

from pydantic import Field, model_validator

from seedbed.storage.hashing import hash_file
from seedbed.suite import BenchmarkOptions, Options


class DialogueOptions(BenchmarkOptions):
    """`path` is a dialogues file, or a folder with dialogues.jsonl and, if it brings its own words, lexicon.yaml."""

    profile: Literal["spec", "upstream_compat"] = "spec"
    """How figures are counted; `upstream_compat` is for comparing with tables made by MemFinRobot itself."""
    judge: bool = False
    """Have the judge model rate each explained turn from 1 to 5 too. Its score stands beside the counted one."""


class _FromTraces(Options):
    """Options that name a trace file. The file's hash becomes part of the cell, so another content is another cell."""

    trace_sha256: str | None = None
    """Filled from the file."""

    @model_validator(mode="before")
    @classmethod
    def _hash_traces(cls, data: Any) -> Any:
        found: Mapping[str, Any] = data if isinstance(data, Mapping) else {}
        given = found.get("path") or found.get("resume_from")
        if given is None:
            return data
        if not Path(str(given)).is_file():
            raise ValueError(f"{given} is no file; give a dialog_trace.jsonl, from the folder you start in")
        return {**found, "trace_sha256": hash_file(Path(str(given)))}


class AgentOptions(_FromTraces):
    """What every agent understands."""

    turn_timeout_s: float = Field(default=120.0, gt=0)
    """How long a turn may take. A turn that takes longer has status `timeout`, and the dialogue goes on."""
    turn_attempts: int = Field(default=1, ge=1)
    """How often a turn is tried before it counts as failed."""
    risk_template: bool = True
    """Close replies with the disclosures that belong to what they speak of."""
    compliance_guard: bool = True
    """Tell the model what it must never say, and strike out what it says all the same."""
    resume_from: Path | None = None
    """A dialog_trace.jsonl of an earlier run: dialogues that are ok there are taken over, the others played again."""


class WindowOptions(AgentOptions):
    window: int = Field(default=3, ge=1)
    """Pairs of turns kept in the short-term memory."""


class MemoryOptions(WindowOptions):
    short_term: bool = True
    long_term: bool = True
    profile: bool = True
    top_k: int = Field(default=4, ge=1)
    """Memories that a search brings back."""


class Mem0Options(AgentOptions):
    top_k: int = Field(default=5, ge=1)


class LlmOnlyOptions(AgentOptions):
    ignore_memory_keys: bool = False
    """Score as a baseline without memory: required keys are emptied in a copy, M1 is null and the manifest says so."""


class GivenOptions(_FromTraces):
    path: Path
    """Traces made elsewhere, one dialogue a line."""
    ignore_memory_keys: bool = False


class ScoreFileOptions(Options):
    """Options of `seedbed score finance_dialog`."""

    profile: Literal["spec", "upstream_compat"] = "spec"
    """How figures are counted; upstream_compat as MemFinRobot counts them."""
    lexicon: Path | None = None
    """A lexicon.yaml; null is the one shipped with the suite."""
    ignore_memory_keys: bool = False
    """Empty the memory keys, for systems without memory: M1 is null."""
