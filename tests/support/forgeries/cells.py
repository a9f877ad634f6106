"""Forgeries in the folders of cells and groups, and in the plan they were made by."""

from __future__ import annotations

import shutil
from typing import Any

from tests.support.forgeries.copies import DIRECT, GROUP, MULTI, RUN, TALK, TUNED, Forgery
from tests.support.forgeries.edits import edited, more, put, replaced, rows_edited, swap


def _first_system(data: Any) -> None:
    system = next(iter(data["metrics"]))
    name = next(n for n, v in data["metrics"][system].items() if isinstance(v, float))
    data["metrics"][system][name] += 0.01


def _answer(row: Any) -> None:
    row["output"]["answer"] = "forged"


CELLS = [
    Forgery("a reply in lm_history", f"{DIRECT}/lm_history.jsonl", r"row 1 \(.*\)\.response\.",
            rows_edited(f"{DIRECT}/lm_history.jsonl",
                        put(0, "response", "choices", 0, "message", "content", to="forged"))),
    Forgery("a call in lm_history", f"{MULTI}/lm_history.jsonl", r"has \d+ rows, the ledger gives",
            rows_edited(f"{MULTI}/lm_history.jsonl", lambda rows: rows[1:])),
    Forgery("tokens in lm_history", f"{TALK}/lm_history.jsonl", r"row 1 .*tokens_in is",
            rows_edited(f"{TALK}/lm_history.jsonl", put(0, "tokens_in", to=more))),
    Forgery("a metric of a cell", f"{DIRECT}/metrics.json", r"metrics\.direct\.\w+ is",
            edited(f"{DIRECT}/metrics.json", _first_system)),
    Forgery("usage of a cell", f"{MULTI}/metrics.json", r"usage\.generate\.tokens_in is",
            edited(f"{MULTI}/metrics.json", put("usage", "generate", "tokens_in", to=more))),
    Forgery("a metric of a group", GROUP, r"metrics\.direct\.\w+ is", edited(GROUP, _first_system)),
    Forgery("a result", f"{DIRECT}/evaluation_results/result.json", r"score is",
            edited(f"{DIRECT}/evaluation_results/result.json", put("score", to=99.0))),
    Forgery("a result's text", f"{DIRECT}/evaluation_results/evaluation_result.txt", r"line 2 is '99",
            replaced(f"{DIRECT}/evaluation_results/evaluation_result.txt", r"\n\d+\.\d+,", "\n99.0,")),
    Forgery("a row of the metric log", f"{DIRECT}/metric_logs/test.jsonl", r"row 1 \(.*\)\.score is",
            rows_edited(f"{DIRECT}/metric_logs/test.jsonl", put(0, "score", to=0.123))),
    Forgery("a judgement on val", f"{TUNED}/metric_logs/val.jsonl", r"val_score of candidate \d+",
            rows_edited(f"{TUNED}/metric_logs/val.jsonl", put(0, "score", to=lambda score: 1.0 - score))),
    Forgery("a judgement on train", f"{TUNED}/metric_logs/train.jsonl", r"train_score of candidate|judged on",
            rows_edited(f"{TUNED}/metric_logs/train.jsonl", lambda rows: rows[:-1])),
    Forgery("a figure of a dialogue", f"{TALK}/metrics_summary.json", r"metrics\.",
            replaced(f"{TALK}/metrics_summary.json", r'("metrics": \{[\s\S]*?: )\d[\d.]*', r"\g<1>77")),
    Forgery("a turn of a dialogue", f"{TALK}/turn_eval.jsonl", r"has \d+ rows, the replies in the ledger give",
            rows_edited(f"{TALK}/turn_eval.jsonl", lambda rows: rows[:-1])),
    Forgery("a trace of a dialogue", f"{TALK}/dialog_trace.jsonl", r"dialog_status is 'fine'",
            rows_edited(f"{TALK}/dialog_trace.jsonl", put(0, "dialog_status", to="fine"))),
    Forgery("a suite's manifest", f"{TALK}/run_manifest.json", r"profile is 'upstream_compat'",
            edited(f"{TALK}/run_manifest.json", put("profile", to="upstream_compat"))),
    Forgery("a temperature", f"{DIRECT}/config.json", r"model\.temperature is 0\.1",
            edited(f"{DIRECT}/config.json", put("model", "temperature", to=0.1))),
    Forgery("an option of a system", f"{MULTI}/config.json", r"system_options\.\w+ is|system_options",
            edited(f"{MULTI}/config.json", put("system_options", "k", to=99))),
    Forgery("the data's hash", f"{DIRECT}/manifest.json", r"data_hash is",
            edited(f"{DIRECT}/manifest.json", put("data_hash", to="0" * 64))),
    Forgery("a cell's name", f"{MULTI}/cell.json", r"title is", edited(f"{MULTI}/cell.json", put("title", to="best"))),
    Forgery("a key in a marker", f"{TALK}/done/generate.json", r"key is",
            edited(f"{TALK}/done/generate.json", put("key", to="0" * 64))),
    Forgery("usage in a marker", f"{DIRECT}/done/generate.json", r"result\.usage\.spent_usd is",
            edited(f"{DIRECT}/done/generate.json", put("result", "usage", "spent_usd", to=0.0))),
    Forgery("a count in a marker", f"{MULTI}/done/generate.json", r"result\.n and n_errors",
            edited(f"{MULTI}/done/generate.json", put("result", "n", to=more))),
    Forgery("the search in a marker", f"{TUNED}/done/optimise.json", r"result\.metric_calls is",
            edited(f"{TUNED}/done/optimise.json", put("result", "metric_calls", to=more))),
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
PLAN = [
    Forgery("a cell is gone", f"{RUN}/summary.json", r"says nothing of 'multi",
            lambda copy: shutil.rmtree(copy.root / MULTI)),
    Forgery("a temperature in the plan", f"{RUN}/plan.json", r"the part 'model' of 'direct",
            replaced(f"{RUN}/plan.json", r'"temperature": 0\.7', '"temperature": 0.0')),
    Forgery("a seed in the plan", f"{RUN}/plan.json", r"the id of 'CoT",
            edited(f"{RUN}/plan.json", put("cells", -1, "answers", "seed", to="0" * 64))),
    Forgery("another chosen candidate", f"{TUNED}/candidates.jsonl", r"\d candidates are chosen",
            rows_edited(f"{TUNED}/candidates.jsonl", lambda rows: [{**row, "chosen": True} for row in rows])),
    Forgery("another config in the manifest", f"{RUN}/manifest.json", r"config_hash is",
            edited(f"{RUN}/manifest.json", put("config_hash", to="0" * 64))),
]  # fmt: skip
