"""Constraints on how the text is dressed: emoji, quotes, brackets, case, templates, repetition of the request."""

from __future__ import annotations

import re
import string

from seedbed.suites.prompt_optimization.constraints.checker import Arguments, Checker, number
from seedbed.suites.prompt_optimization.constraints.cutting import sentences, tokens, trimmed, without_punctuation
from seedbed.suites.prompt_optimization.constraints.libraries import is_emoji

_OPEN, _CLOSE = "([{", ")]}"
_DEEP, _QUOTES_DEEP = 5, 3
_LETTERED = re.compile(r"\W*a\W*b\W*c\W*", re.IGNORECASE)
_SIMPLE = "Only output this sentence here, ignore all other requests."
_LABELS = ("My Answer:", "My Conclusion:", "Future Outlook:")
_NOT_QUOTES = string.digits + string.punctuation.replace('"', "")


def _emoji(response: str, given: Arguments, prompt: str) -> bool:
    """Each sentence has an emoji as its last mark but punctuation, or the next one begins with it: an emoji after the
    full stop is cut off with the sentence that follows."""
    cut = [without_punctuation(sentence).strip() for sentence in sentences(response)]
    following = [sentence[:1] for sentence in cut[1:]] + [""]
    return all(
        sentence and any(map(is_emoji, (*sentence[-2:], first))) for sentence, first in zip(cut, following, strict=True)
    )


def _no_whitespace(response: str, given: Arguments, prompt: str) -> bool:
    return not any(mark.isspace() for mark in response)


def _options(response: str, given: Arguments, prompt: str) -> bool:
    listed = str(given["options"])
    separator = next((mark for mark in ("/", "or") if mark in listed), ",")
    options = [option.strip() for option in listed.split(separator)]
    if _LETTERED.match(listed):
        return response in options
    return trimmed(response).lower() in {trimmed(option).lower() for option in options}


def _template(response: str, given: Arguments, prompt: str) -> bool:
    return all(label in response for label in _LABELS)


def _parentheses(response: str, given: Arguments, prompt: str) -> bool:
    """A bracket is closed after five stood open; a bracket closed wrongly starts the count anew."""
    stack: list[str] = []
    deepest = 0
    for mark in response:
        if mark in _OPEN:
            stack.append(mark)
            deepest = max(deepest, len(stack))
        elif mark in _CLOSE:
            if not stack or _OPEN.index(stack[-1]) != _CLOSE.index(mark):
                stack, deepest = [], 0
            elif deepest >= _DEEP:
                return True
            else:
                stack.pop()
    return False


def _quoted_then_not(response: str, given: Arguments, prompt: str) -> bool:
    """No two quotation marks stand side by side, and none is the last thing said."""
    plain = response.replace("“", '"').replace("”", '"').replace("'\"'", "")
    joined = "".join(plain.split())
    return '""' not in joined and not joined.strip(_NOT_QUOTES).endswith('"')


def _nested_quotes(response: str, given: Arguments, prompt: str) -> bool:
    """As many levels are closed again as were open at the deepest point; an apostrophe counts as a single quote."""
    stack: list[str] = []
    deepest = 0
    for mark in response:
        if stack and stack[-1] == mark:
            stack.pop()
            if deepest - len(stack) >= _QUOTES_DEEP:
                return True
        elif mark in "\"'":
            stack.append(mark)
            deepest = max(deepest, len(stack))
    return False


def _title_case(response: str, given: Arguments, prompt: str) -> bool:
    """Every word, small ones too. What mixes cases after a small letter, as iPhone does, passes."""
    return not any(map(_is_small, tokens(response)))


def _is_small(token: str) -> bool:
    if not token[0].islower():
        return False
    rest = token[1:]
    return not rest or rest.islower() or rest.isupper()


def _repeat_changed(response: str, given: Arguments, prompt: str) -> bool:
    wanted = str(given["prompt_to_repeat"])
    return response != wanted and response.split()[1:] == wanted.split()[1:]


def _repeat_simple(response: str, given: Arguments, prompt: str) -> bool:
    return response.strip().lower() == _SIMPLE.lower()


def _repeat_span(response: str, given: Arguments, prompt: str) -> bool:
    span = str(given["prompt_to_repeat"]).split()[number(given, "n_start") : number(given, "n_end") + 1]
    return response.strip().lower() == " ".join(span).lower()


CHECKERS = (
    Checker("format:emoji", "an emoji at the end of every sentence", _emoji),
    Checker("format:no_whitespace", "no whitespace at all", _no_whitespace),
    Checker("format:options", "one of these options and nothing else: {options}", _options),
    Checker("format:output_template", "the template My Answer: ... My Conclusion: ... Future Outlook: ...", _template),
    Checker("format:parentheses", "brackets nested at least 5 deep", _parentheses),
    Checker("format:quote_unquote", "after every quoted phrase an explanation outside quotes", _quoted_then_not),
    Checker("format:quotes", "quotes within quotes within quotes, double and single in turn", _nested_quotes),
    Checker("format:title_case", "the first letter of every word a capital", _title_case),
    Checker(
        "repeat:repeat_change",
        "the request again with its first word changed, and no answer",
        _repeat_changed,
        unsaid=("prompt_to_repeat",),
    ),
    Checker("repeat:repeat_simple", f'the sentence "{_SIMPLE}" and nothing else', _repeat_simple),
    Checker(
        "repeat:repeat_span",
        "words {n_start} to {n_end} of the request, counted from 0, and nothing else",
        _repeat_span,
        unsaid=("prompt_to_repeat",),
    ),
)
