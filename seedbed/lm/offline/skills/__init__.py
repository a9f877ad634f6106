"""The skills of the offline model, the first that fits a signature is used: the more particular shapes come first."""

from __future__ import annotations

from seedbed.lm.offline.skill import Skill
from seedbed.lm.offline.skills.rag_judging import JUDGING
from seedbed.lm.offline.skills.rag_synthesis import SYNTHESIS
from seedbed.lm.offline.skills.read import READ
from seedbed.lm.offline.skills.recall import RECALL

SKILLS: tuple[Skill, ...] = (*JUDGING, *SYNTHESIS, READ, RECALL)
