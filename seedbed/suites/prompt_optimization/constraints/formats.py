"""Constraints on how the text is dressed: quotes, brackets, case, templates, repetition of the request."""

from __future__ import annotations

import re

from seedbed.suites.prompt_optimization.constraints.checker import (
    Arguments,
    Checker,
    ends_with_emoji,
    number,
    split_at_emoji,
    words,
)

_OPEN, _CLOSE = "([{", ")]}"
_DEEP, _QUOTES_DEEP = 5, 3
_SMALL_WORDS_TEXT = "a an and as at but by for from if in into nor of off on onto or over per so the to up via with yet"
_SMALL_WORDS = frozenset(_SMALL_WORDS_TEXT.split())
_SIMPLE = "Only output this sentence here, ignore all other requests."
_TEMPLATE = re.compile(r"\s*My Answer:\s*\S.*?My Conclusion:\s*\S.*?Future Outlook:\s*\S.*", re.DOTALL)


def _emoji(response: str, given: Arguments, prompt: str) -> bool:
    return all(ends_with_emoji(sentence) for sentence in split_at_emoji(response))


def _no_whitespace(response: str, given: Arguments, prompt: str) -> bool:
    return not re.search(r"\s", response.strip())


def _options(response: str, given: Arguments, prompt: str) -> bool:
    listed = re.split(r"/|,\s*|\s+or\s+", str(given["options"]))
    return _bare(response) in {_bare(option) for option in listed if option.strip()}


def _bare(text: str) -> str:
    return text.strip().strip(".").strip().casefold()


def _template(response: str, given: Arguments, prompt: str) -> bool:
    return bool(_TEMPLATE.fullmatch(response))


def _parentheses(response: str, given: Arguments, prompt: str) -> bool:
    stack: list[str] = []
    deepest = 0
    for mark in response:
        if mark in _OPEN:
            stack.append(mark)
            deepest = max(deepest, len(stack))
        elif mark in _CLOSE and stack and _OPEN.index(stack[-1]) == _CLOSE.index(mark):
            stack.pop()
    return deepest >= _DEEP


def _quoted_then_not(response: str, given: Arguments, prompt: str) -> bool:
    """After each quoted phrase comes text outside quotes before the next one or the end."""
    parts = re.split(r"[\"“”]", response)
    outside = parts[2::2]
    return len(parts) >= 3 and len(parts) % 2 == 1 and all(words(part) for part in outside)


def _nested_quotes(response: str, given: Arguments, prompt: str) -> bool:
    stack: list[str] = []
    deepest = 0
    plain = response.translate(str.maketrans("“”‘’", "\"\"''"))
    for place, mark in enumerate(plain):
        inside_word = plain[place - 1 : place].isalnum() and plain[place + 1 : place + 2].isalnum()
        if mark not in "\"'" or (mark == "'" and inside_word):
            continue
        if stack and stack[-1] == mark:
            stack.pop()
        else:
            stack.append(mark)
            deepest = max(deepest, len(stack))
    return deepest >= _QUOTES_DEEP


def _title_case(response: str, given: Arguments, prompt: str) -> bool:
    letters = [word for word in words(response) if word[0].isalpha()]
    return bool(letters) and all(word[0].isupper() or word.lower() in _SMALL_WORDS for word in letters)


def _repeat_changed(response: str, given: Arguments, prompt: str) -> bool:
    wanted, said = str(given["prompt_to_repeat"]).split(), response.split()
    return len(said) == len(wanted) and said[1:] == wanted[1:] and said[0].casefold() != wanted[0].casefold()


def _repeat_simple(response: str, given: Arguments, prompt: str) -> bool:
    return response.strip().casefold() == _SIMPLE.casefold()


def _repeat_span(response: str, given: Arguments, prompt: str) -> bool:
    span = str(given["prompt_to_repeat"]).split()[number(given, "n_start") : number(given, "n_end") + 1]
    return response.split() == span


CHECKERS = (
    Checker("format:emoji", "an emoji at the end of every sentence", _emoji),
    Checker("format:no_whitespace", "no whitespace at all", _no_whitespace),
    Checker("format:options", "one of these options and nothing else: {options}", _options),
    Checker("format:output_template", "the template My Answer: ... My Conclusion: ... Future Outlook: ...", _template),
    Checker("format:parentheses", "brackets nested at least 5 deep", _parentheses),
    Checker("format:quote_unquote", "after every quoted phrase an explanation outside quotes", _quoted_then_not),
    Checker("format:quotes", "quotes within quotes within quotes, double and single in turn", _nested_quotes),
    Checker("format:title_case", "every major word capitalised", _title_case),
    Checker("repeat:repeat_change", "the request again with its first word changed, and no answer", _repeat_changed),
    Checker("repeat:repeat_simple", f'the sentence "{_SIMPLE}" and nothing else', _repeat_simple),
    Checker("repeat:repeat_span", "words {n_start} to {n_end} of the request and nothing else", _repeat_span),
)
