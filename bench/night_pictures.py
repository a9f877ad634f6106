"""Pictures of nightly runs in the Prefect UI: a night that passes, and one with a planted regression."""

from __future__ import annotations

import shutil
import time
from collections.abc import Callable
from pathlib import Path

from tests.support.chromium import Browser
from tests.support.lab import Lab, call

_CONFIG = Path(__file__).resolve().parent.parent / "configs" / "nightly.yaml"
_SIZE, _LONG = (1400, 1250), (1400, 1560)
_PLANTED = ["models.reader.options.ability=0.4"]
_DRAWN_S = 3.0
"""The UI fades in what it has loaded."""


def take(folder: Path, tab: Browser, keep: Callable[[Browser, str], None]) -> None:
    """`keep` gets the browser and a name, three times."""
    folder.mkdir()
    shutil.copy(_CONFIG, folder / "nightly.yaml")
    lab = Lab(folder, "nightly.yaml", "seedbed")
    for words in (("run", "nightly.yaml"), ("baseline", "accept", "nightly")):
        done = lab.seedbed(*words)
        if done.returncode:
            raise SystemExit(f"seedbed {' '.join(words)}: {done.stderr[-2000:]}")
    lab.deploy()
    with lab:
        lab.wait(lab.trigger(), timeout=900)
        bad = lab.trigger(overrides=_PLANTED)
        lab.wait(bad, timeout=900)
    link = lab.seedbed("ui", "--no-open").stdout.splitlines()[0]
    address = link.partition("/seedbed/")[0]
    tab.look(*_SIZE)
    tab.open(link)
    form = call("GET", "/deployments/name/launch-sweep/sweep")["id"]
    for name, size, place, said in (
        ("gate-fail", _LONG, f"artifacts/artifact/{lab.artifacts(bad)['gate-nightly']['id']}", "How the figures moved"),
        ("deployment-form", _SIZE, f"deployments/deployment/{form}/run", "Validate parameters"),
        ("nightly-run", _SIZE, f"runs/flow-run/{bad}", "is worse"),
    ):
        tab.look(*size)
        tab.call("Page.navigate", url=f"{address}/{place}")
        tab.wait(f"document.body.innerText.includes({said!r})")
        time.sleep(_DRAWN_S)
        keep(tab, name)
