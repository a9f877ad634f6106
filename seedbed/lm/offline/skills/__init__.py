"""The skills of the offline model, the first that fits a signature is used: the more particular shapes come first."""

from __future__ import annotations

from seedbed.lm.offline.skill import Skill
from seedbed.lm.offline.skills.calculate import CALCULATE
from seedbed.lm.offline.skills.comply import COMPLY
from seedbed.lm.offline.skills.finance_advice import ADVICE
from seedbed.lm.offline.skills.finance_notes import NOTES
from seedbed.lm.offline.skills.hops import HOPS
from seedbed.lm.offline.skills.privacy import PRIVACY
from seedbed.lm.offline.skills.propose import PROPOSE
from seedbed.lm.offline.skills.rag_judging import JUDGING
from seedbed.lm.offline.skills.rag_synthesis import SYNTHESIS
from seedbed.lm.offline.skills.read import READ
from seedbed.lm.offline.skills.recall import RECALL
from seedbed.lm.offline.skills.reflect import REFLECT
from seedbed.lm.offline.skills.review import REVIEW
from seedbed.lm.offline.skills.semantic import SEMANTIC
from seedbed.lm.offline.skills.translate import TRANSLATE

SKILLS: tuple[Skill, ...] = (
    *NOTES,
    *ADVICE,
    REFLECT,
    PROPOSE,
    HOPS,
    CALCULATE,
    COMPLY,
    *PRIVACY,
    REVIEW,
    *JUDGING,
    *SYNTHESIS,
    SEMANTIC,
    TRANSLATE,
    READ,
    RECALL,
)
