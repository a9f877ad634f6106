"""`seedbed synth`: documents in, a JSONL of cases with its manifest and its rejects out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from seedbed import __version__
from seedbed.lm.session import open_session
from seedbed.storage.store import write_json, write_jsonl
from seedbed.suites.rag_quality.synth.generate import Reject, TestSet, Wish, as_case, make_test_set
from seedbed.suites.rag_quality.synth.units import Document, read_documents
from seedbed.sweep.model_config import ModelConfig


def synthesise(paths: Sequence[Path], out: Path, wish: Wish, model: ModelConfig, max_usd: float | None = None) -> str:
    """Writes OUT, OUT's stem + .manifest.json and .rejects.jsonl, and keeps the ledger beside them."""
    documents = read_documents(paths)
    ledger = out.with_suffix(".ledger.sqlite")
    with open_session("synth", out.name, model, ledger, seed=wish.seed, max_usd=max_usd) as session:
        made = session.run(make_test_set(documents, wish, session))
        usage = session.usage().to_json()
    params = {"model": model.model, "seed": wish.seed}
    filled = sorted(made.filled.items())
    cases = [as_case(slot, s, w, made.personas[s.persona], params) for slot, (s, w) in filled]
    write_jsonl(out.with_suffix(".rejects.jsonl"), [_reject(reject, made) for reject in made.rejects])
    write_json(out.with_suffix(".manifest.json"), _manifest(documents, made, wish, model, usage))
    write_jsonl(out, (case.model_dump(mode="json") for case in cases))
    return _shown(made, wish, model, usage, out)


def _manifest(
    documents: Sequence[Document], made: TestSet, wish: Wish, model: ModelConfig, usage: dict[str, Any]
) -> dict[str, Any]:
    return {
        "seedbed": __version__,
        "model": model.model_dump(mode="json"),
        "simulated": model.simulated,
        "wish": asdict(wish),
        "documents": [
            {
                "document_id": document.document_id,
                "sha256": document.sha256,
                "language": document.language,
                "units": sum(unit.document_id == document.document_id for unit in made.units),
            }
            for document in documents
        ],
        "personas": [
            {**persona.model_dump(), "cases": count}
            for persona, count in zip(made.personas, _per_persona(made), strict=True)
        ],
        "counts": {
            "scenarios": len(made.filled) + len(made.rejects),
            "accepted": len(made.filled),
            "rejected": made.gate_counts(),
        },
        "usage": usage,
    }


def _per_persona(made: TestSet) -> list[int]:
    counts = Counter(scenario.persona for scenario, _ in made.filled.values())
    return [counts[index] for index in range(len(made.personas))]


def _reject(reject: Reject, made: TestSet) -> dict[str, Any]:
    written = reject.written
    return {
        "gate": reject.gate,
        "reason": reject.reason,
        "slot": reject.slot + 1,
        "scenario": reject.scenario.scenario_id,
        "persona": made.personas[reject.scenario.persona].name,
        "units": [unit.unit_id for unit in reject.scenario.units],
        "question": written.question if written else None,
        "answer": written.answer if written else None,
        "quotes": [quote.model_dump() for quote in written.quotes] if written else [],
    }


def _shown(made: TestSet, wish: Wish, model: ModelConfig, usage: dict[str, Any], out: Path) -> str:
    rejected = ", ".join(f"{gate} {count}" for gate, count in made.gate_counts().items() if count) or "none"
    people = zip(made.personas, _per_persona(made), strict=True)
    lines = [
        f"{len(made.filled)} of {wish.cases} cases from {len(made.units)} units; rejected: {rejected}",
        f"personas: {', '.join(f'{persona.name} {count}' for persona, count in people)}",
        f"model {model.model}{' (simulated)' if model.simulated else ''}, {usage['calls']} calls, "
        f"{usage['outcomes']['reused']} answers reused",
        str(out),
    ]
    if len(made.filled) < wish.cases:
        lines.insert(1, "The units are used up: give more documents, or ask for fewer cases.")
    return "\n".join(lines)
