"""What a system had learnt of the user by the end of a dialogue, and how much of it is true (M2)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from seedbed.suites.finance_dialog.lexicon import Lexicon

UNKNOWN = "unknown"
FIELDS = ("risk_level_acc", "horizon_acc", "liquidity_acc", "constraints_f1", "preferences_f1")

State = Literal["eligible", "skipped", "failed"]


@dataclass(frozen=True, slots=True)
class Learnt:
    """A profile in the evaluator's terms. `from_text` where replies had to stand in for a snapshot."""

    risk: str
    horizon: str
    liquidity: str
    constraints: frozenset[str]
    preferences: frozenset[str]
    from_text: bool


def profile_state(trace: Mapping[str, Any], *, strict: bool = True) -> State:
    """Whether M2 can be asked of a dialogue. In `spec` one that crashed, or has not a single good turn, has failed; it
    is no valid dialogue then, but nobody left it out."""
    crashed = strict and trace.get("dialog_status") == "failed"
    if not trace.get("profile_gt") or not (crashed or trace.get("valid_dialog", True)):
        return "skipped"
    turns: Sequence[Mapping[str, Any]] = trace.get("turns") or []
    if crashed or (strict and not any(t.get("turn_status") == "ok" for t in turns)):
        return "failed"
    return "eligible"


def has_snapshot(trace: Mapping[str, Any]) -> bool:
    """Whether any turn came with a profile that is not empty."""
    turns: Sequence[Mapping[str, Any]] = trace.get("turns") or []
    return any(turn.get("profile_snapshot") for turn in turns)


def profile_scores(trace: Mapping[str, Any], lexicon: Lexicon, *, strict: bool) -> dict[str, float | None]:
    """The five figures and their mean. A field the gold leaves open has no figure, and then neither has the mean;
    `upstream_compat` counts it as wrong."""
    gold: Mapping[str, Any] = trace.get("profile_gt") or {}
    learnt = learnt_profile(trace, lexicon, strict=strict)
    undefined = None if strict else 0.0
    maps = (lexicon.risk_map, lexicon.horizon_map, lexicon.liquidity_map)
    names = ("risk_level_gt", "horizon_gt", "liquidity_need_gt")
    scores: dict[str, float | None] = {}
    for field, name, values, mine in zip(
        FIELDS[:3], names, maps, (learnt.risk, learnt.horizon, learnt.liquidity), strict=True
    ):
        wanted = normalised(gold.get(name), values)
        scores[field] = undefined if wanted == UNKNOWN else float(mine == wanted)
    scores["constraints_f1"] = set_f1(learnt.constraints, _set(gold.get("constraints_gt")))
    scores["preferences_f1"] = set_f1(learnt.preferences, _set(gold.get("preferences_gt")))
    parts = [scores[field] for field in FIELDS]
    known = [part for part in parts if part is not None]
    scores["profile_score"] = sum(known) / len(parts) if len(known) == len(parts) else None
    return scores


def learnt_profile(trace: Mapping[str, Any], lexicon: Lexicon, *, strict: bool) -> Learnt:
    """The last snapshot that is not empty. Without one, what the replies say in words of the closed vocabulary;
    `upstream_compat` always adds gold phrases that a reply repeats, and infers single fields from the text."""
    turns: Sequence[Mapping[str, Any]] = trace.get("turns") or []
    snapshot = next((t["profile_snapshot"] for t in reversed(turns) if t.get("profile_snapshot")), None)
    text = "\n".join(str(t.get("pred_assistant_text") or "") for t in turns)
    if snapshot is None and strict:
        return _from_text(text, lexicon, lexicon.constraint_vocab, lexicon.preference_vocab)
    given = _from_snapshot(snapshot or {}, lexicon)
    if strict:
        return given
    gold: Mapping[str, Any] = trace.get("profile_gt") or {}
    said = _from_text(text, lexicon, _set(gold.get("constraints_gt")), _set(gold.get("preferences_gt")))
    return Learnt(
        risk=said.risk if given.risk == UNKNOWN else given.risk,
        horizon=said.horizon if given.horizon == UNKNOWN else given.horizon,
        liquidity=said.liquidity if given.liquidity == UNKNOWN else given.liquidity,
        constraints=given.constraints | said.constraints,
        preferences=given.preferences | said.preferences,
        from_text=snapshot is None,
    )


def normalised(value: Any, values: Mapping[str, str]) -> str:
    """A value in the evaluator's terms, "unknown" if the lexicon has none for it."""
    return values.get(str(value or "").strip(), UNKNOWN)


def set_f1(pred: frozenset[str], gold: frozenset[str]) -> float:
    """Two empty sets agree, one empty set agrees with nothing."""
    if not pred or not gold:
        return float(pred == gold)
    return 2 * len(pred & gold) / (len(pred) + len(gold))


def _from_snapshot(snapshot: Mapping[str, Any], lexicon: Lexicon) -> Learnt:
    return Learnt(
        risk=normalised(snapshot.get("risk_level"), lexicon.risk_map),
        horizon=normalised(snapshot.get("investment_horizon"), lexicon.horizon_map),
        liquidity=normalised(snapshot.get("liquidity_need"), lexicon.liquidity_map),
        constraints=_set(snapshot.get("forbidden_assets")),
        preferences=_set(snapshot.get("preferred_topics")),
        from_text=False,
    )


def _from_text(text: str, lexicon: Lexicon, constraints: Iterable[str], preferences: Iterable[str]) -> Learnt:
    def inferred(rules: Sequence[tuple[str, Sequence[str]]]) -> str:
        return next((value for value, words in rules if any(word in text for word in words)), UNKNOWN)

    return Learnt(
        risk=inferred(lexicon.risk_infer),
        horizon=inferred(lexicon.horizon_infer),
        liquidity=inferred(lexicon.liquidity_infer),
        constraints=frozenset(phrase for phrase in constraints if phrase in text),
        preferences=frozenset(phrase for phrase in preferences if phrase in text),
        from_text=True,
    )


def _set(values: Iterable[Any] | None) -> frozenset[str]:
    return frozenset(str(value).strip() for value in values or () if str(value).strip())
