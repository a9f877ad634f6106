"""What a rater sees of an output: what the judge was about, and nothing that tells the system."""

from __future__ import annotations

from seedbed.phases.judged_answers import shown_output
from seedbed.suite import NO_OR_YES, Judged

OUTPUT = {"answer": "yes", "evidence": ["a"], "turns": [{"said": "hi", "heard": "ho", "memory": 1}, {"said": "bye"}]}


def test_only_the_fields_named_are_shown() -> None:
    assert shown_output(OUTPUT, Judged("?", NO_OR_YES, ("answer",))) == {"answer": "yes"}


def test_a_dot_leads_into_the_members_of_a_list() -> None:
    shown = shown_output(OUTPUT, Judged("?", NO_OR_YES, ("turns.heard", "turns.said")))
    assert shown == {"turns": [{"heard": "ho", "said": "hi"}, {"heard": None, "said": "bye"}]}


def test_all_is_shown_where_no_field_is_there_and_nothing_of_no_output() -> None:
    assert shown_output(OUTPUT, Judged("?", NO_OR_YES, ("reply",))) == OUTPUT
    assert shown_output(None, Judged("?", NO_OR_YES)) == {}
