"""Ways to forge the results of a sweep, as somebody would who wants other figures believed."""

from __future__ import annotations

import base64
import json
import re
import shutil
import sqlite3
import zlib
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from seedbed.phases.publish import manifest_digest
from seedbed.storage.hashing import hash_file
from seedbed.storage.store import write_json

CONFIG = """\
name: paper
seeds: [0]
models:
  small: {model: offline/small, temperature: 0.7, options: {ability: 0.92, noise: 0.05}}
roles: {translator: small, reflection: small}
experiments:
  - suite: crosslingual
    models: [small]
    benchmarks: [{name: tiny, limit: 9}]
    systems: [direct, multi]
  - suite: finance_dialog
    models: [small]
    benchmarks: [{name: dialogues, limit: 2}]
    systems: [window_only]
  - suite: prompt_optimization
    models: [small]
    benchmarks: [{name: AIMEBench, repeats: 1, limit: 4, max_train: 6, max_val: 6}]
    systems: [CoT]
    optimizers: [GEPA-2]
"""
DIRECT, MULTI = (f"experiment_runs/seed_0/tiny_{name}_Baseline_small" for name in ("direct", "multi"))
TALK = "experiment_runs/seed_0/dialogues_window_only_Baseline_small"
TUNED = "experiment_runs/seed_0/AIMEBench_CoT_GEPA-2_small"
GROUP = "experiment_runs/seed_0/groups/crosslingual_tiny_small/metrics.json"
RUN = "RUN"
"""Stands for the folder of the run in the names below."""


@dataclass(frozen=True)
class Copy:
    """A copy of results that may be spoilt."""

    root: Path
    run: Path

    def path(self, name: str) -> Path:
        return self.run / name.removeprefix(f"{RUN}/") if name.startswith(f"{RUN}/") else self.root / name

    def named(self, name: str) -> str:
        return str(self.path(name).relative_to(self.root))


Change = Callable[[Copy], None]


@dataclass(frozen=True)
class Forgery:
    what: str
    file: str
    """The file that must be named."""
    says: str
    """An expression for what must be said of it."""
    change: Change


# -- what can be done to a file ----------------------------------------------------------------------------------------


def replaced(name: str, old: str, new: str, count: int = 1) -> Change:
    """One text for another, the first time it stands there."""

    def change(copy: Copy) -> None:
        path = copy.path(name)
        text = path.read_text(encoding="utf-8")
        found, times = re.subn(old, new, text, count=count)
        assert times, f"{old!r} does not stand in {name}"
        assert found != text
        path.write_text(found, encoding="utf-8")

    return change


def edited(name: str, edit: Callable[[Any], Any]) -> Change:
    """A JSON file with something else in it."""

    def change(copy: Copy) -> None:
        path = copy.path(name)
        data = json.loads(path.read_text(encoding="utf-8"))
        given = edit(data)
        text = json.dumps(data if given is None else given, ensure_ascii=False, indent=2) + "\n"
        path.write_text(text, encoding="utf-8")

    return change


def rows_edited(name: str, edit: Callable[[list[Any]], Any]) -> Change:
    """A JSONL file with other rows."""

    def change(copy: Copy) -> None:
        path = copy.path(name)
        rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
        before = json.dumps(rows)
        given = edit(rows)
        rows = rows if given is None else given
        assert json.dumps(rows) != before, "nothing was forged"
        path.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), encoding="utf-8")

    return change


def _cells(copy: Copy) -> dict[str, str]:
    places = {"direct": DIRECT, "multi": MULTI, "talk": TALK, "tuned": TUNED}
    found = {name: json.loads((copy.root / place / "cell.json").read_text("utf-8")) for name, place in places.items()}
    return {name: f"'{data['cell_id']}'" for name, data in found.items()}


def in_ledger(statement: str) -> Change:
    """A statement on the copy's ledger that changes at least one row; cells stand in it by {name}."""

    def change(copy: Copy) -> None:
        with closing(sqlite3.connect(copy.root / "ledger.sqlite")) as connection:
            assert connection.execute(statement.format(**_cells(copy))).rowcount > 0, statement
            connection.commit()
            connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")

    return change


def reply_changed(copy: Copy) -> None:
    """Another answer in a reply that the ledger holds."""
    query = (
        "SELECT r.key, r.body FROM responses r JOIN attempts a ON a.key = r.key"
        f" WHERE a.cell = {_cells(copy)['multi']} AND a.role = 'task' ORDER BY a.id DESC LIMIT 1"
    )
    with closing(sqlite3.connect(copy.root / "ledger.sqlite")) as connection:
        key, body = connection.execute(query).fetchone()
        said = json.loads(zlib.decompress(body))
        message = said["choices"][0]["message"]
        before = message["content"]
        message["content"] = re.sub(r"(## answer ## \]\]\n).*", r"\1forged", before)
        assert message["content"] != before
        packed = zlib.compress(json.dumps(said).encode())
        connection.execute("UPDATE responses SET body = ? WHERE key = ?", (packed, key))
        connection.commit()
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")


def image_changed(name: str, old: str, new: str) -> Change:
    """Other text in a drawing inside report.html; `name` begins its title."""

    def change(copy: Copy) -> None:
        path = copy.path(f"{RUN}/report.html")
        page = path.read_text(encoding="utf-8")
        found = re.search(rf'<img alt="{name}[^>]*base64,([^"]*)"', page)
        assert found
        svg = base64.b64decode(found[1]).decode()
        other = re.sub(old, new, svg, count=1)
        assert other != svg
        path.write_text(page.replace(found[1], base64.b64encode(other.encode()).decode()), encoding="utf-8")

    return change


def sample_changed(copy: Copy) -> None:
    """Another answer in the packed samples of report.html."""
    path = copy.path(f"{RUN}/report.html")
    page = path.read_text(encoding="utf-8")
    found = re.search(r'id="chunk-0">([^<]*)<', page)
    assert found
    samples = json.loads(zlib.decompress(base64.b64decode(found[1])))
    samples[0]["output"]["answer"] = "forged"
    packed = base64.b64encode(zlib.compress(json.dumps(samples).encode())).decode()
    path.write_text(page.replace(found[1], packed), encoding="utf-8")


def pixel_changed(copy: Copy) -> None:
    path = copy.path(f"{RUN}/plots/crosslingual-seeds.png")
    data = path.read_bytes()
    path.write_bytes(data[:-30] + bytes([data[-30] ^ 1]) + data[-29:])


def swap(name: str, field: str) -> Change:
    """Two samples change places in one field."""

    def edit(rows: list[Any]) -> None:
        other = next(row for row in rows[1:] if row[field] != rows[0][field])
        rows[0][field], other[field] = other[field], rows[0][field]

    return rows_edited(name, edit)


def renew(copy: Copy) -> None:
    """Bring all sizes, hashes and digests in step with the files: what a careful forger does last."""
    for marker in copy.root.glob("experiment_runs/seed_*/*/done/*.json"):
        data = json.loads(marker.read_text(encoding="utf-8"))
        folder = marker.parent.parent
        there = [name for name in data["sha256"] if (folder / name).exists()]
        data["sha256"] = {name: hash_file(folder / name) for name in there}
        data["files"] = {name: (folder / name).stat().st_size for name in there}
        data.pop("schema_version")
        write_json(marker, data)
    path = copy.run / "manifest.json"
    data = json.loads(path.read_text(encoding="utf-8"))
    data["files"] = {name: hash_file(copy.run / name) for name in data["files"] if (copy.run / name).exists()}
    data["results"] = {n: hash_file(copy.root / n) for n in data["results"] if (copy.root / n).exists()}
    data.pop("schema_version")
    data.pop("digest")
    write_json(path, {**data, "digest": manifest_digest(data)})


def copy_of(run: Path, target: Path) -> Copy:
    root = run.parents[2]
    shutil.copytree(root, target)
    return Copy(target, target / run.relative_to(root))


def seen_changed(section: str, pattern: str, new: str) -> Change:
    """Other text in what a section of report.html shows; group 1 of the pattern is what is replaced."""

    def change(copy: Copy) -> None:
        path = copy.path(f"{RUN}/report.html")
        page = path.read_text(encoding="utf-8")
        start = page.index(f'<section id="{section}">')
        found = re.compile(pattern, re.DOTALL).search(page, start, page.find("</section>", start))
        assert found, f"{pattern!r} is not in section {section}"
        assert found[1] != new
        path.write_text(page[: found.start(1)] + new + page[found.end(1) :], encoding="utf-8")

    return change


def row_dropped(section: str) -> Change:
    """The last row of a section's last table is gone."""

    def change(copy: Copy) -> None:
        path = copy.path(f"{RUN}/report.html")
        page = path.read_text(encoding="utf-8")
        start = page.index(f'<section id="{section}">')
        end = page.rindex("</tr></tbody>", start, page.index("</section>", start))
        path.write_text(page[: page.rindex("<tr>", start, end)] + page[end + 5 :], encoding="utf-8")

    return change


def _set(*keys: Any, to: Any) -> Callable[[Any], None]:
    def edit(data: Any) -> None:
        for key in keys[:-1]:
            data = data[key]
        data[keys[-1]] = to(data[keys[-1]]) if callable(to) else to

    return edit


def _first_system(data: Any) -> None:
    system = next(iter(data["metrics"]))
    name = next(n for n, v in data["metrics"][system].items() if isinstance(v, float))
    data["metrics"][system][name] += 0.01


def _answer(row: Any) -> None:
    row["output"]["answer"] = "forged"


def more(value: float) -> float:
    return value + 1


PUBLISHED = [
    Forgery("a figure in a table", f"{RUN}/report.html", r"tables, table .* shows '0\.999'",
            seen_changed("tables", r'<td class="num">([\d.]+)</td>', "0.999")),
    Forgery("a bold figure", f"{RUN}/report.html", r"tables, table .*\*\*",
            seen_changed("tables", r"<b>[^<]*(</b>)", "</b><b></b>")),
    Forgery("a verdict", f"{RUN}/report.html", r"overview, table .* shows 'much better'",
            seen_changed("overview", r"<td[^>]*>([^<]*)</td></tr>", "much better")),
    Forgery("a difference", f"{RUN}/report.html", r"comparisons, table .* shows '\+0\.999'",
            seen_changed("comparisons", r'<td class="num">([+-][\d.]+)</td>', "+0.999")),
    Forgery("a heading of a column", f"{RUN}/report.html", r"costs, table .* shows 'gained \$'",
            seen_changed("costs", r"<th[^>]*>(spent \$)</th>", "gained $")),
    Forgery("a row of a table", f"{RUN}/report.html", r"plots, table .* has \d+ rows", row_dropped("plots")),
    Forgery("a tile", f"{RUN}/report.html", r"section 'overview' has .*completely",
            seen_changed("overview", r"<b>(completed)</b>", "completely")),
    Forgery("a note under a table", f"{RUN}/report.html", r"section 'tables' has .*forged",
            seen_changed("tables", r'<p class="note">([^<]*)<', "forged")),
    Forgery("a commit in the manifest", f"{RUN}/report.html", r"section 'manifest' has .*c0ffee",
            seen_changed("manifest", r"(config_hash)", "c0ffee")),
    Forgery("the config in the report", f"{RUN}/report.html", r"section 'samples' has|section 'samples'",
            seen_changed("samples", r"(search samples)", "find samples")),
    Forgery("a drawing in the report", f"{RUN}/report.html", r"plots, drawing .*: line \d+ of the SVG",
            image_changed("", r"(\d+)\.\d{4,}", r"\g<1>.5")),
    Forgery("an answer among the samples", f"{RUN}/report.html", r"sample \S+\.output\.answer is 'forged'",
            sample_changed),
    Forgery("an embedded figure", f"{RUN}/report.html", r"figures\.n_cells is 40",
            replaced(f"{RUN}/report.html", r'"n_cells":4\b', '"n_cells":40')),
    Forgery("the list of samples", f"{RUN}/report.html", r"samples-index\.n_samples is",
            replaced(f"{RUN}/report.html", r'("chunk":\d+,"n_samples":)\d+', r"\g<1>99")),
    Forgery("a mean in summary.json", f"{RUN}/summary.json", r"rows\[0\]\.n is",
            edited(f"{RUN}/summary.json", _set("rows", 0, "n", to=more))),
    Forgery("a verdict in summary.json", f"{RUN}/summary.json", r"comparisons\[0\]\.verdict is 'much better'",
            edited(f"{RUN}/summary.json", _set("comparisons", 0, "verdict", to="much better"))),
    Forgery("a figure in summary.csv", f"{RUN}/summary.csv", r"line \d+ is",
            replaced(f"{RUN}/summary.csv", r"0\.\d{2}", "0.99")),
    Forgery("a figure in summary.md", f"{RUN}/summary.md", r"line \d+ is",
            replaced(f"{RUN}/summary.md", r"0\.\d{3} ", "0.999 ")),
    Forgery("a figure in summary.tex", f"{RUN}/summary.tex", r"line \d+ is",
            replaced(f"{RUN}/summary.tex", r"0?\.\d{3}", "0.999")),
    Forgery("tokens in costs.csv", f"{RUN}/costs.csv", r"line 2 is", replaced(f"{RUN}/costs.csv", r",\d{3,},", ",1,")),
    Forgery("a coordinate in an SVG", f"{RUN}/plots/crosslingual-pareto.svg", r"line \d+ of the SVG has",
            replaced(f"{RUN}/plots/crosslingual-pareto.svg", r"(\d+)\.\d{4,}", r"\g<1>.5")),
    Forgery("a label in an SVG", f"{RUN}/plots/crosslingual-seeds.svg", r"line \d+ of the SVG has .*forged",
            replaced(f"{RUN}/plots/crosslingual-seeds.svg", r">[A-Za-z0-9]+</text>", ">forged</text>")),
    Forgery("a pixel", f"{RUN}/plots/crosslingual-seeds.png", r"another picture", pixel_changed),
    Forgery("another drawing", f"{RUN}/plots/more.svg", r"not expected",
            lambda copy: shutil.copy(copy.run / "plots/crosslingual-pareto.svg", copy.run / "plots/more.svg") and None),
    Forgery("simulated in the manifest", f"{RUN}/manifest.json", r"simulated is False",
            edited(f"{RUN}/manifest.json", _set("simulated", to=False))),
]  # fmt: skip
"""In the run's own folder; all at once, since each must be named for itself."""

CELLS = [
    Forgery("a reply in lm_history", f"{DIRECT}/lm_history.jsonl", r"row 1 \(.*\)\.response\.",
            rows_edited(f"{DIRECT}/lm_history.jsonl",
                        _set(0, "response", "choices", 0, "message", "content", to="forged"))),
    Forgery("a call in lm_history", f"{MULTI}/lm_history.jsonl", r"has \d+ rows, the ledger gives",
            rows_edited(f"{MULTI}/lm_history.jsonl", lambda rows: rows[1:])),
    Forgery("tokens in lm_history", f"{TALK}/lm_history.jsonl", r"row 1 .*tokens_in is",
            rows_edited(f"{TALK}/lm_history.jsonl", _set(0, "tokens_in", to=more))),
    Forgery("a metric of a cell", f"{DIRECT}/metrics.json", r"metrics\.direct\.\w+ is",
            edited(f"{DIRECT}/metrics.json", _first_system)),
    Forgery("usage of a cell", f"{MULTI}/metrics.json", r"usage\.generate\.tokens_in is",
            edited(f"{MULTI}/metrics.json", _set("usage", "generate", "tokens_in", to=more))),
    Forgery("a metric of a group", GROUP, r"metrics\.direct\.\w+ is", edited(GROUP, _first_system)),
    Forgery("a result", f"{DIRECT}/evaluation_results/result.json", r"score is",
            edited(f"{DIRECT}/evaluation_results/result.json", _set("score", to=99.0))),
    Forgery("a result's text", f"{DIRECT}/evaluation_results/evaluation_result.txt", r"line 2 is '99",
            replaced(f"{DIRECT}/evaluation_results/evaluation_result.txt", r"\n\d+\.\d+,", "\n99.0,")),
    Forgery("a row of the metric log", f"{DIRECT}/metric_logs/test.jsonl", r"row 1 \(.*\)\.score is",
            rows_edited(f"{DIRECT}/metric_logs/test.jsonl", _set(0, "score", to=0.123))),
    Forgery("a judgement on val", f"{TUNED}/metric_logs/val.jsonl", r"val_score of candidate \d+",
            rows_edited(f"{TUNED}/metric_logs/val.jsonl", _set(0, "score", to=lambda score: 1.0 - score))),
    Forgery("a judgement on train", f"{TUNED}/metric_logs/train.jsonl", r"train_score of candidate|judged on",
            rows_edited(f"{TUNED}/metric_logs/train.jsonl", lambda rows: rows[:-1])),
    Forgery("a figure of a dialogue", f"{TALK}/metrics_summary.json", r"metrics\.",
            replaced(f"{TALK}/metrics_summary.json", r'("metrics": \{[\s\S]*?: )\d[\d.]*', r"\g<1>77")),
    Forgery("a turn of a dialogue", f"{TALK}/turn_eval.jsonl", r"has \d+ rows, the replies in the ledger give",
            rows_edited(f"{TALK}/turn_eval.jsonl", lambda rows: rows[:-1])),
    Forgery("a trace of a dialogue", f"{TALK}/dialog_trace.jsonl", r"dialog_status is 'fine'",
            rows_edited(f"{TALK}/dialog_trace.jsonl", _set(0, "dialog_status", to="fine"))),
    Forgery("a suite's manifest", f"{TALK}/run_manifest.json", r"profile is 'upstream_compat'",
            edited(f"{TALK}/run_manifest.json", _set("profile", to="upstream_compat"))),
    Forgery("a temperature", f"{DIRECT}/config.json", r"model\.temperature is 0\.1",
            edited(f"{DIRECT}/config.json", _set("model", "temperature", to=0.1))),
    Forgery("an option of a system", f"{MULTI}/config.json", r"system_options\.\w+ is|system_options",
            edited(f"{MULTI}/config.json", _set("system_options", "k", to=99))),
    Forgery("the data's hash", f"{DIRECT}/manifest.json", r"data_hash is",
            edited(f"{DIRECT}/manifest.json", _set("data_hash", to="0" * 64))),
    Forgery("a cell's name", f"{MULTI}/cell.json", r"title is", edited(f"{MULTI}/cell.json", _set("title", to="best"))),
    Forgery("a key in a marker", f"{TALK}/done/generate.json", r"key is",
            edited(f"{TALK}/done/generate.json", _set("key", to="0" * 64))),
    Forgery("usage in a marker", f"{DIRECT}/done/generate.json", r"result\.usage\.spent_usd is",
            edited(f"{DIRECT}/done/generate.json", _set("result", "usage", "spent_usd", to=0.0))),
    Forgery("a count in a marker", f"{MULTI}/done/generate.json", r"result\.n and n_errors",
            edited(f"{MULTI}/done/generate.json", _set("result", "n", to=more))),
    Forgery("the search in a marker", f"{TUNED}/done/optimise.json", r"result\.metric_calls is",
            edited(f"{TUNED}/done/optimise.json", _set("result", "metric_calls", to=more))),
]  # fmt: skip
"""In the folders of cells and groups, where what lies below is left as it was."""

ROWS = [
    Forgery("a score", f"{DIRECT}/scores.jsonl", r"row 1 \(.*\)\.scores\.\w+ is 0\.123",
            rows_edited(f"{DIRECT}/scores.jsonl",
                        lambda rows: rows[0]["scores"].update({next(iter(rows[0]["scores"])): 0.123}))),
    Forgery("scores change places", f"{MULTI}/scores.jsonl", r"row \d+ \(.*\)\.scores",
            swap(f"{MULTI}/scores.jsonl", "scores")),
    Forgery("a dialogue's score is gone", f"{TALK}/scores.jsonl", r"has 1 rows, the replies in the ledger give 2",
            rows_edited(f"{TALK}/scores.jsonl", lambda rows: rows[:1])),
    Forgery("an answer", f"{TUNED}/predictions.jsonl", r"row 1 \(.*\)\.output\.answer is 'forged'",
            rows_edited(f"{TUNED}/predictions.jsonl", lambda rows: _answer(rows[0]))),
]  # fmt: skip
ANSWERS = [
    Forgery("answers change places", f"{DIRECT}/predictions.jsonl", r"row \d+ \(.*\)\.output",
            swap(f"{DIRECT}/predictions.jsonl", "output")),
    Forgery("an answer is gone", f"{MULTI}/predictions.jsonl", r"has 8 rows, the replies in the ledger give 9",
            rows_edited(f"{MULTI}/predictions.jsonl", lambda rows: rows[:-1])),
    Forgery("other prompts in a program", f"{TUNED}/program.json", r"instructions\.",
            replaced(f"{TUNED}/program.json", r'("instructions": \{\s*"[^"]*": ")', r"\1Be right. ")),
    Forgery("all scores are gone", f"{TALK}/scores.jsonl", r"has 0 rows|cannot be checked",
            lambda copy: copy.path(f"{TALK}/scores.jsonl").write_text("") and None),
]  # fmt: skip
LEDGER = [
    Forgery("tokens in the ledger", f"{TUNED}/lm_history.jsonl", r"row \d+.*tokens_in is \d+, the ledger gives 7777",
            in_ledger("UPDATE attempts SET tokens_in = 7777 WHERE id ="
                      " (SELECT max(id) FROM attempts WHERE cell = {tuned} AND outcome = 'paid')")),
    Forgery("dollars in the ledger", f"{RUN}/costs.csv", r"line \d+ is",
            in_ledger("UPDATE attempts SET spent_usd = spent_usd + 1 WHERE id ="
                      " (SELECT max(id) FROM attempts WHERE cell = {tuned} AND outcome = 'paid')")),
    Forgery("a reply in the ledger", f"{MULTI}/predictions.jsonl", r"row \d+ \(.*\)\.output\.answer is",
            reply_changed),
    Forgery("a call gone from the ledger", f"{TALK}/lm_history.jsonl", r"has \d+ rows, the ledger gives \d+",
            in_ledger("DELETE FROM attempts WHERE id = (SELECT max(id) FROM attempts WHERE cell = {talk})")),
    Forgery("a sample in the ledger", f"{DIRECT}/lm_history.jsonl", r"sample is '.*', the ledger gives 'another'",
            in_ledger("UPDATE attempts SET sample = 'another' WHERE id ="
                      " (SELECT min(id) FROM attempts WHERE cell = {direct})")),
]  # fmt: skip
GONE = [
    Forgery("a file is gone", f"{RUN}/summary.tex", r"is missing",
            lambda copy: copy.path(f"{RUN}/summary.tex").unlink()),
    Forgery("a drawing is gone", f"{RUN}/plots/crosslingual-pareto.svg", r"is missing",
            lambda copy: copy.path(f"{RUN}/plots/crosslingual-pareto.svg").unlink()),
    Forgery("a history is gone", f"{DIRECT}/lm_history.jsonl", r"is missing",
            lambda copy: (copy.root / DIRECT / "lm_history.jsonl").unlink()),
    Forgery("a cell called failed", f"{RUN}/summary.json", r"missing names 'direct.*which has a result",
            edited(f"{RUN}/summary.json", _set("missing", to=[{"cell": "direct · tiny · small · seed 0",
                                                               "reason": "failed"}]))),
]  # fmt: skip
PLAN = [
    Forgery("a cell is gone", f"{RUN}/summary.json", r"says nothing of 'multi",
            lambda copy: shutil.rmtree(copy.root / MULTI)),
    Forgery("a temperature in the plan", f"{RUN}/plan.json", r"the part 'model' of 'direct",
            replaced(f"{RUN}/plan.json", r'"temperature": 0\.7', '"temperature": 0.0')),
    Forgery("a seed in the plan", f"{RUN}/plan.json", r"the id of 'CoT",
            edited(f"{RUN}/plan.json", _set("cells", -1, "answers", "seed", to="0" * 64))),
    Forgery("another chosen candidate", f"{TUNED}/candidates.jsonl", r"\d candidates are chosen",
            rows_edited(f"{TUNED}/candidates.jsonl", lambda rows: [{**row, "chosen": True} for row in rows])),
    Forgery("another config in the manifest", f"{RUN}/manifest.json", r"config_hash is",
            edited(f"{RUN}/manifest.json", _set("config_hash", to="0" * 64))),
]  # fmt: skip
BATCHES = {
    "published": PUBLISHED, "cells": CELLS, "rows": ROWS, "answers": ANSWERS, "ledger": LEDGER, "gone": GONE,
    "plan": PLAN,
}  # fmt: skip
"""Forgeries that can be made in one copy and still be told apart."""
