"""What the offline model knows of contracts: it reviews a clause and checks a draft."""

from __future__ import annotations

from seedbed.offline.skill import register
from seedbed.suites.contract_risk.offline.review import REVIEW

register(__name__, skills=(REVIEW,))
