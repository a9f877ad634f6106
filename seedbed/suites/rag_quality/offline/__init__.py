"""What the offline model knows of RAG metrics: it judges answers and contexts, and writes cases to judge."""

from __future__ import annotations

from seedbed.offline.skill import register
from seedbed.suites.rag_quality.offline.judging import JUDGING
from seedbed.suites.rag_quality.offline.synthesis import SYNTHESIS

register(__name__, skills=(*JUDGING, *SYNTHESIS))
