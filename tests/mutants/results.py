"""Figures, verdicts, files."""

from __future__ import annotations

from tests.mutants.bug import Planted

_BASELINE = "seedbed/nightly/baseline.py"
_FIGURES = "tests/unit/nightly/test_figures.py::test_"
_GATE = "seedbed/nightly/gate.py"
_GATE_TEST = "tests/unit/nightly/test_gate.py::test_what_is_just_allowed_passes_and_a_little_more_fails"
_RULE = "seedbed/analysis/gate_rule.py"
_RULE_TEST = "tests/unit/analysis/test_gate_rule.py::test_at_its_limits_the_gate_passes_and_just_beyond_it_does_not"
_CHECKER_TEST = "tests/unit/phases/verification/test_checker.py::test_"
_CELL_FILES = "seedbed/phases/verification/cell_files.py"
_RENEWED_TEST = "tests/unit/phases/test_renewed_hashes.py::test_what_does_not_follow_from_the_rows_is_found"
_FLIPS_TEST = "tests/unit/analysis/test_significance.py::test_the_permutation_test_of_"
_GUARD_TEST = "tests/unit/phases/test_guard.py::test_"

RESULTS = (
    Planted(
        "experiments that name one benchmark keep their own options of it",
        "seedbed/sweep/plan.py",
        "key = (cell.experiment, cell.benchmark)",
        "key = (0, cell.benchmark)",
        ("tests/unit/sweep/test_plan.py::test_experiments_that_name_the_same_benchmark_keep_their_own_options_of_it",),
    ),
    Planted(
        "the models of the roles are part of a cell's id",
        "seedbed/sweep/identity.py",
        '"roles": {role: model_identity(models[role]) for role in resolved.answer_roles},',
        '"roles": {},',
        ("tests/unit/sweep/test_cell.py::test_what_changes_answers_changes_the_id",),
    ),
    Planted(
        "an end of the search that an optimizer swallowed is raised",
        "seedbed/phases/optimise.py",
        "    if guard.cause is not None:\n        raise guard.reason(context.cell.title) from guard.cause\n",
        "",
        (f"{_GUARD_TEST}an_end_that_the_optimizer_swallows_is_raised_all_the_same",),
    ),
    Planted(
        "the retries are gone through twice before a search is given up",
        "seedbed/phases/guard.py",
        "_ROUNDS = (False, True)",
        "_ROUNDS = (True,)",
        (f"{_GUARD_TEST}the_retries_are_gone_through_twice_before_a_search_is_given_up",),
    ),
    Planted(
        "high risks taken for low ones are counted over all high risks",
        "seedbed/suites/contract_risk/metrics.py",
        '"high_to_low_rate": _share(cells[0][2], sum(cells[0])),',
        '"high_to_low_rate": _share(cells[0][2], sum(cells[0][:3])),',
        (
            "tests/unit/suites/contract_risk/test_cell_figures.py::"
            "test_risks_taken_for_lower_ones_are_counted_over_all_high_risks_those_without_a_level_too",
        ),
    ),
    Planted(
        "a verdict stays with its context past a blank one",
        "seedbed/suites/rag_quality/evaluate.py",
        "for place, hold, reason in zip(shown, judged.holds, judged.reasons, strict=True):",
        "for place, hold, reason in zip(range(len(shown)), judged.holds, judged.reasons, strict=True):",
        ("tests/unit/suites/rag_quality/test_evaluate.py::test_a_blank_context_is_irrelevant_without_being_shown",),
    ),
    Planted(
        "a sample that failed without the optimizer is no gain",
        "seedbed/suites/prompt_optimization/scorers.py",
        'before = {row.sample_id: row.scores["score"] for row in base or () if row.status == "ok"}',
        'before = {row.sample_id: row.scores.get("score") for row in base or ()}',
        (
            "tests/unit/suites/prompt_optimization/test_verdicts.py::"
            "test_a_sample_that_failed_without_the_optimizer_is_no_gain",
        ),
    ),
    Planted(
        "a baseline's samples are all that were asked, those that failed too",
        _BASELINE,
        'n_samples=sum(own["n"] + own["n_errors"] + own["n_skipped"] for own in seeds)',
        'n_samples=sum(own["n"] + own["n_skipped"] for own in seeds)',
        (f"{_FIGURES}the_samples_of_a_run_are_all_that_were_asked_those_that_failed_too",),
    ),
    Planted(
        "an unknown price in a baseline is not 0",
        _BASELINE,
        "return None if None in known else sum(",
        "return sum(",
        (f"{_FIGURES}one_unknown_price_makes_the_dollars_of_a_system_unknown",),
    ),
    Planted(
        "a cell's latency is that of its answers",
        "seedbed/lm/ledger/reads.py",
        '_a.c.phase == "generate", _a.c.outcome == "paid",',
        '_a.c.outcome == "paid",',
        (f"{_FIGURES}the_latency_of_a_cell_is_that_of_its_answers_paid_since_the_fresh_start",),
    ),
    Planted(
        "a bound at the margin passes the gate",
        _RULE,
        "self.lowest >= -margin",
        "self.lowest > -margin",
        (_RULE_TEST,),
    ),
    Planted(
        "a drop of the margin itself does not fail",
        _RULE,
        "self.difference < -margin:",
        "self.difference <= -margin:",
        (_RULE_TEST,),
    ),
    Planted(
        "the share of errors that is allowed passes",
        _GATE,
        "own.error_share > allowed",
        "own.error_share >= allowed",
        (_GATE_TEST,),
    ),
    Planted(
        "the growth of costs that is allowed passes", _GATE, "growth > allowed", "growth >= allowed", (_GATE_TEST,)
    ),
    Planted(
        "the growth of latency that is allowed passes",
        _GATE,
        "own.latency_s - base.latency_s > max(",
        "own.latency_s - base.latency_s >= max(",
        (_GATE_TEST,),
    ),
    Planted(
        "a figure that most resamples do not define has no interval",
        "seedbed/analysis/bootstrap.py",
        "if len(defined) < _MIN_DEFINED * len(values):",
        "if not len(defined):",
        ("tests/unit/analysis/test_bootstrap.py::test_a_figure_that_most_resamples_do_not_define_has_no_interval",),
    ),
    Planted(
        "sign patterns as far from 0 as the one seen count in its rank",
        "seedbed/analysis/significance.py",
        "(np.abs(totals) >= abs(float(values.sum())) - slack)",
        "(np.abs(totals) > abs(float(values.sum())) + slack)",
        (f"{_FLIPS_TEST}few_pairs_tries_every_sign",),
    ),
    Planted(
        "random sign patterns as far from 0 as the one seen count in its rank",
        "seedbed/analysis/significance.py",
        "(np.abs(signs @ chosen) >= bar)",
        "(np.abs(signs @ chosen) > bar + 2 * _SLACK * np.abs(chosen).sum(axis=0))",
        ("tests/unit/analysis/test_significance.py::test_what_rounding_leaves_of_a_total_of_nothing_is_no_evidence",),
    ),
    Planted(
        "every hint of a key is tried, not only the first",
        "seedbed/storage/redact.py",
        "            at = text.find(hint, at + 1)\n",
        "            break\n",
        ("tests/unit/storage/test_redact.py::test_a_key_is_masked_after_words_that_only_begin_like_one",),
    ),
    Planted(
        "a secret that begins with another is masked whole",
        "seedbed/storage/redact.py",
        "key=lambda form: (-len(form), form)",
        "key=lambda form: (len(form), form)",
        (
            "tests/unit/storage/test_redact.py::"
            "test_a_secret_that_begins_with_another_is_masked_whole_in_whatever_order_they_are_set",
        ),
    ),
    Planted(
        "a failed write leaves no temporary file",
        "seedbed/storage/store.py",
        "        Path(temporary).unlink(missing_ok=True)\n",
        "",
        ("tests/unit/storage/test_store.py::test_a_write_that_fails_on_the_disk_leaves_nothing_beside_what_was_there",),
    ),
    Planted(
        "what is published may differ by rounding only",
        "seedbed/phases/verification/checker.py",
        "_SAME = 1e-9\n",
        "_SAME = 1e-2\n",
        (f"{_CHECKER_TEST}a_number_may_differ_by_rounding_and_by_no_more", _RENEWED_TEST),
    ),
    Planted(
        "the account in a cell's figures is compared",
        _CELL_FILES,
        'told = {"metrics": {cell.label: metrics}, "usage": usage}',
        'told = {"metrics": {cell.label: metrics}, "usage": published["usage"]}',
        (_RENEWED_TEST,),
    ),
    Planted(
        "the account of a cell is that of the ledger",
        _CELL_FILES,
        "    if engine is not None:\n        usage = {",
        "    if not done:\n        usage = {",
        (_RENEWED_TEST,),
    ),
)
