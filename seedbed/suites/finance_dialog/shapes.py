"""What dialogues and traces must look like where the metrics look into them; everything else stays as it is."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict

Texts = list[str] | None


class _Shape(BaseModel):
    model_config = ConfigDict(extra="allow", strict=True)


class Tags(_Shape):
    memory_required_keys_gt: Texts = None
    risk_disclosure_required_gt: Texts = None
    explainability_rubric_gt: Texts = None
    compliance_label_gt: str | None = None


class ProfileGt(_Shape):
    """Null where the gold leaves a field open."""

    risk_level_gt: Literal["保守", "稳健", "进取"] | None = None
    horizon_gt: Literal["<=6月", "6-24月", "2年以上"] | None = None
    liquidity_need_gt: Literal["高", "中", "低"] | None = None
    constraints_gt: Texts = None
    preferences_gt: Texts = None


class ForbiddenEntry(_Shape):
    patterns: Texts = None


class Blueprint(_Shape):
    forbidden_list: list[str | ForbiddenEntry] | None = None


class DialogueTurn(_Shape):
    role: str | None = None
    text: str | None = None
    turn_tags: Tags | None = None


class Dialogue(_Shape):
    dialog_id: str | int
    profile_gt: ProfileGt | None = None
    blueprint: Blueprint | None = None
    turns: list[DialogueTurn] | None = None


class Recall(_Shape):
    items: list[dict[str, Any]] | None = None


class Compliance(_Shape):
    violations: list[dict[str, Any]] | None = None


class Snapshot(_Shape):
    preferred_topics: Texts = None
    forbidden_assets: Texts = None


class TraceTurn(_Shape):
    turn_pair_id: int | None = None
    turn_status: Literal["ok", "timeout", "error"]
    user_text: str | None = None
    pred_assistant_text: str | None = None
    gt_turn_tags: Tags | None = None
    recall: Recall | None = None
    compliance: Compliance | None = None
    profile_snapshot: Snapshot | None = None


class TraceProfile(_Shape):
    """Other words than ours for a level are known to no lexicon, and no error."""

    constraints_gt: Texts = None
    preferences_gt: Texts = None


class Trace(_Shape):
    dialog_id: str | int
    valid_dialog: bool | None = None
    profile_gt: TraceProfile | None = None
    blueprint: Blueprint | None = None
    raw_turns: list[dict[str, Any]] | None = None
    turns: list[TraceTurn]
