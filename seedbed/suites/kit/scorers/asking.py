"""Asking the judge: one call, and one repair call where the reply cannot be used."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from seedbed.errors import SeedbedError, is_stop
from seedbed.suite import PhaseContext


class Unjudged(SeedbedError):
    """The judge gave nothing usable, even when asked to mend it."""


async def ask_judge(
    context: PhaseContext,
    asked: Mapping[str, str],
    signature: Callable[[Mapping[str, str]], Any],
    problem_of: Callable[[Any], str | None],
    vote: int,
) -> Any:
    """The judge's reply to what is asked, if `problem_of` finds nothing wrong with it; never a verdict by default."""
    import dspy
    from dspy.utils.exceptions import AdapterParseError

    for last in (False, True):
        # Votes are draws of their own; without this an equal request would get the first one's answer.
        config = {"rollout_id": vote} if vote else {}
        with dspy.context(lm=context.lm("judge"), adapter=dspy.ChatAdapter(use_json_adapter_fallback=False)):
            try:
                reply: Any = await dspy.Predict(signature(asked)).acall(**asked, config=config)
            except AdapterParseError as error:
                problem = f"it lacks the fields asked for; it began: {str(error.lm_response)[:200]!r}"
            except Exception as error:
                if is_stop(error):
                    raise
                raise Unjudged(f"{type(error).__name__}: {str(error)[:300]}") from error
            else:
                found = problem_of(reply)
                if found is None:
                    return reply
                problem = found
        if last:
            raise Unjudged(f"the judge's reply could not be used, nor its repair: {problem}")
        asked = {**asked, "problem": f"{problem}. Reply again, in full and in the format asked for."}
    raise AssertionError("the last round returns or raises")


def with_rubric(given: Mapping[str, Any], option: str, folder: Path) -> dict[str, Any]:
    """Options with the rubric that `file:` names in its place."""
    read = dict(given)
    if isinstance(name := read.pop("file", None), str):
        try:
            read[option] = (folder / name).read_text(encoding="utf-8-sig").strip()
        except (OSError, ValueError):
            raise ValueError(f"file: {name!r} cannot be read; paths are taken from the config's folder.") from None
    return read
