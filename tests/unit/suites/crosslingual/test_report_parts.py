"""What the report shows of this suite."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from seedbed.suite import CellResult, Figure, Table
from seedbed.suites.crosslingual.report import console, report


def cell(
    folder: Path, label: str, cost: float, f1: float, options: dict[str, Any] | None = None, seed: int = 0
) -> CellResult:
    path = folder / f"{label}-{seed}"
    path.mkdir()
    (path / "config.json").write_text(json.dumps({"schema_version": 1, "system_options": options or {}}))
    rows = [
        {
            "sample_id": f"a-{lang}",
            "status": "ok",
            "scores": {"f1": f1, "em": 0.0, "cost": cost},
            "details": {"lang": lang},
        }
        for lang in ("en", "zh")
    ]
    (path / "scores.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    metrics = {"f1": f1, "cost": cost, "f1_gain": 0.1, "f1_gain_low": 0.05, "f1_gain_high": 0.15, "n_paired": 2}
    return CellResult("tiny", label, "reader", seed, metrics, path)


def budgets(folder: Path) -> list[CellResult]:
    return [
        cell(folder, "multi", 0.0, 0.3),
        cell(folder, "cross", 300.0, 0.5, {"pivot": "en"}),
        cell(folder, "lbrag-b0", 0.0, 0.3, {"budget": 0}),
        cell(folder, "lbrag-b70", 60.0, 0.45, {"budget": 70}),
        cell(folder, "lbrag-b70", 64.0, 0.47, {"budget": 70}, seed=1),
    ]


def test_the_budget_curve_has_multi_and_cross_as_its_ends(tmp_path: Path) -> None:
    curves = [part for part in report(budgets(tmp_path)) if isinstance(part, Figure) and "against" in part.title]
    assert len(curves) == 1
    assert curves[0].svg.startswith("<svg")
    assert all(f"<!-- {text} -->" in curves[0].svg for text in ("B=0", "B=70", "multi", "cross"))


def test_there_is_no_curve_of_a_single_budget(tmp_path: Path) -> None:
    parts = report(budgets(tmp_path)[:3])
    assert not [part for part in parts if "against" in part.title]


def test_languages_and_gains_are_tables_with_their_counts(tmp_path: Path) -> None:
    tables = {part.title: part for part in report(budgets(tmp_path)) if isinstance(part, Table)}
    by_language = tables["By language of the question: tiny · reader"]
    assert by_language.rows[0][:3] == ["multi", "en", "0.300"]
    assert [row[-1] for row in by_language.rows if row[0] == "lbrag-b70"] == [2, 2]
    assert tables["Gain over direct answers: tiny · reader"].rows[0][2:4] == ["0.100", "+0.050 to +0.150"]
    semantic = by_language.columns.index("Sem")
    assert {row[semantic] for row in by_language.rows} == {None}


def test_the_console_is_the_seed_s_own_banner_and_all() -> None:
    figures = {"em": (0, 0), "f1": (0.289, 0.341), "rlc": (0.759, 0.317), "cost": (29.8, 18.2)}
    figures |= {"cnbe": (0.00237, 0.01157), "semantic_score": (0.7, 0.422)}
    own = {key: mean for key, (mean, _) in figures.items()} | {f"{key}_std": std for key, (_, std) in figures.items()}
    line = (
        "lbrag    | EM=0.000±0.000 | F1=0.289±0.341 | RLC=0.759±0.317 | Cost=29.8±18.2 | CNBE=0.00237±0.01157 | "
        "Sem=0.700±0.422"
    )
    rule = "=" * 80
    assert console({"lbrag": own}) == f"{rule}\nExperiment Results Summary\n{rule}\n{line}\n{rule}"
