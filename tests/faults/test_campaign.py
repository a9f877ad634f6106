"""The campaign in its short form; .github/workflows/campaign.yml runs the long one every week."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.faults.campaign.campaign import Campaign

pytestmark = [pytest.mark.slow, pytest.mark.timeout(900)]


def test_a_short_campaign_holds(tmp_path: Path) -> None:
    campaign = Campaign(tmp_path, kills=2, faults=0.2, seed=1, whole=False)
    problems = campaign.run(requests=240)
    assert problems == [], campaign.told()
