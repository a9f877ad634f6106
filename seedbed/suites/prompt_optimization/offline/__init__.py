"""What the offline model knows of this suite's programs: hops, exercises, constraints, privacy, and advice for them."""

from __future__ import annotations

from seedbed.offline.skill import register
from seedbed.suites.prompt_optimization.offline.advice import BRIDGE, CHECK, REDACT
from seedbed.suites.prompt_optimization.offline.calculate import CALCULATE
from seedbed.suites.prompt_optimization.offline.comply import COMPLY
from seedbed.suites.prompt_optimization.offline.hops import HOPS
from seedbed.suites.prompt_optimization.offline.privacy import PRIVACY

register(__name__, skills=(HOPS, CALCULATE, COMPLY, *PRIVACY), advice=(BRIDGE, REDACT, CHECK))
