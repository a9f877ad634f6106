"""The last part of a report: what its figures were made with."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from html import escape
from typing import Any

from seedbed.report.html import element, plain_table
from seedbed.report.report_inputs import ReportInputs
from seedbed.suite import Table


def made_with(manifest: Mapping[str, Any], inputs: ReportInputs) -> Iterable[str]:
    """Versions and choices in words; hashes stay in manifest.json, where a program reads them."""
    git: Mapping[str, Any] = manifest["git"]
    code = f"{git['commit'][:12]}{', with changes' if git.get('dirty') else ''}" if git else "not a checkout"
    facts = {
        "sweep": manifest["sweep"],
        "run": manifest["run"],
        "commit": code,
        "Python": manifest["python"],
        "system": manifest["platform"],
        **{f"package {name}": version for name, version in manifest["packages"].items()},
        "baseline": manifest["baseline"] or "the first system of each experiment, or the one the config names",
        "margin": f"{manifest['margin']:g}",
        "font for rare characters": manifest["cjk_font"] or "none on that machine",
    }
    yield plain_table(
        Table("Versions and choices", ["what", "value"], [[k, v] for k, v in facts.items()]), wide=["value"]
    )
    note = (
        "manifest.json beside this page has the hashes of config, data and every file; `seedbed verify` computes all "
        "that is shown here again and compares."
    )
    yield element("p", note, **{"class": "note"})
    config = json.dumps(inputs.plan.config.model_dump(mode="json"), ensure_ascii=False, indent=2)
    yield f"<details><summary>the sweep's config</summary><pre>{escape(config)}</pre></details>"
