"""IFEval's constraints on the form: placeholders, bullets, highlights, sections, titles, beginnings and ends."""

from __future__ import annotations

import json
import re

from seedbed.suites.prompt_optimization.constraints.checker import Arguments, Checker, number

_ANSWERS = ("My answer is yes.", "My answer is no.", "My answer is maybe.")
_BULLET = re.compile(r"\s*(?:\*[^*]|-)")
_POSTSCRIPTS = {"P.S.": r"p\.\s?s\.", "P.P.S": r"p\.\s?p\.\s?s"}
_FENCE = re.compile(r"```(?:json|Json|JSON)?")
_TITLE = re.compile(r"<<[^\n]+>>")
_SIX_STARS = "*" * 6


def _placeholders(response: str, given: Arguments, prompt: str) -> bool:
    return len(re.findall(r"\[.*?\]", response)) >= number(given, "num_placeholders")


def _postscript(response: str, given: Arguments, prompt: str) -> bool:
    marker = str(given["postscript_marker"]).strip()
    pattern = _POSTSCRIPTS.get(marker, re.escape(marker.lower()))
    return bool(re.search(pattern, response.lower()))


def _bullets(response: str, given: Arguments, prompt: str) -> bool:
    return sum(bool(_BULLET.match(line)) for line in response.split("\n")) == number(given, "num_bullets")


def _constrained(response: str, given: Arguments, prompt: str) -> bool:
    return any(answer in response for answer in _ANSWERS)


def _highlights(response: str, given: Arguments, prompt: str) -> bool:
    single = re.findall(r"\*([^\n*]*)\*", response)
    double = re.findall(r"\*\*([^\n*]*)\*\*", response)
    return sum(bool(text.strip()) for text in (*single, *double)) >= number(given, "num_highlights")


def _sections(response: str, given: Arguments, prompt: str) -> bool:
    splitter = re.escape(str(given["section_spliter"]).strip())
    return len(re.findall(rf"{splitter}\s?\d+", response)) >= number(given, "num_sections")


def _json(response: str, given: Arguments, prompt: str) -> bool:
    inside = response.strip()
    opening = _FENCE.match(inside)
    inside = inside[opening.end() :] if opening else inside
    try:
        json.loads(inside.removesuffix("```"))
    except ValueError:
        return False
    return True


def _title(response: str, given: Arguments, prompt: str) -> bool:
    return any(found.strip("<>").strip() for found in _TITLE.findall(response))


def _two_responses(response: str, given: Arguments, prompt: str) -> bool:
    parts = [part.strip() for part in response.split(_SIX_STARS)]
    inside = parts[1 if not parts[0] else 0 : -1 if not parts[-1] else None]
    return len(inside) == 2 and all(inside) and inside[0] != inside[1]


def _repeat(response: str, given: Arguments, prompt: str) -> bool:
    return response.strip().lower().startswith(str(given["prompt_to_repeat"]).strip().lower())


def _ends_with(response: str, given: Arguments, prompt: str) -> bool:
    return response.strip().strip('"').lower().endswith(str(given["end_phrase"]).strip().lower())


def _quoted(response: str, given: Arguments, prompt: str) -> bool:
    return bool(re.fullmatch(r'".*"', response.strip(), re.DOTALL))


CHECKERS = (
    Checker(
        "combination:repeat_prompt", "the request word for word, then the answer", _repeat, unsaid=("prompt_to_repeat",)
    ),
    Checker("combination:two_responses", "two different responses parted by ******", _two_responses),
    Checker(
        "detectable_content:number_placeholders",
        "at least {num_placeholders} placeholders in square brackets",
        _placeholders,
    ),
    Checker("detectable_content:postscript", "a postscript that starts with {postscript_marker}", _postscript),
    Checker("detectable_format:constrained_response", "one of: My answer is yes. / no. / maybe.", _constrained),
    Checker("detectable_format:json_format", "JSON and nothing else", _json),
    Checker(
        "detectable_format:multiple_sections",
        "{num_sections} sections that begin with {section_spliter} and a number",
        _sections,
    ),
    Checker("detectable_format:number_bullet_lists", "exactly {num_bullets} bullet points", _bullets),
    Checker(
        "detectable_format:number_highlighted_sections",
        "at least {num_highlights} passages highlighted by asterisks",
        _highlights,
    ),
    Checker("detectable_format:title", "a title in double angular brackets", _title),
    Checker("startend:end_checker", "the phrase {end_phrase} at the very end", _ends_with),
    Checker("startend:quotation", "all of it in double quotation marks", _quoted),
)
