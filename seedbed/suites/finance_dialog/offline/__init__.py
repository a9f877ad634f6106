"""What the offline model knows of private investors: it notes what they say, advises them, and rates advice."""

from __future__ import annotations

from seedbed.offline.skill import register
from seedbed.suites.finance_dialog.offline.adviser import ADVISER
from seedbed.suites.finance_dialog.offline.notes import NOTES

register(__name__, skills=(*NOTES, *ADVISER))
