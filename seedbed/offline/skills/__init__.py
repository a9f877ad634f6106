"""The general skills of the offline model: what any suite may ask for, the more particular shapes first."""

from __future__ import annotations

from pathlib import Path

from seedbed.offline.advice import INTEGER, SHORT, STEPS
from seedbed.offline.skill import register
from seedbed.offline.skills.plain import PLAIN
from seedbed.offline.skills.propose import PROPOSE
from seedbed.offline.skills.read import READ
from seedbed.offline.skills.recall import RECALL
from seedbed.offline.skills.reflect import REFLECT
from seedbed.offline.skills.relate import RELATE
from seedbed.offline.skills.translate import TRANSLATE

register(
    __name__,
    skills=(REFLECT, PROPOSE, TRANSLATE, READ, RECALL, PLAIN, RELATE),
    advice=(SHORT, INTEGER, STEPS),
    data=(Path(__file__).parents[1],),
)
