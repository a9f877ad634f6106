"""Constraints on how many of something there are."""

from __future__ import annotations

import re

from seedbed.suites.prompt_optimization.constraints.checker import Arguments, Checker, number
from seedbed.suites.prompt_optimization.constraints.cutting import tokens, trimmed, without_punctuation, word_count

_CONJUNCTIONS = frozenset(["for", "and", "nor", "but", "or", "yet", "so"])
_PRONOUNS_TEXT = (
    "i me my mine myself you your yours yourself yourselves he him his himself she her hers herself it its itself "
    "we us our ours ourselves they them their theirs themselves this that these those who whom whose which what "
    "whoever whomever whatever whichever anybody anyone anything everybody everyone everything nobody nothing "
    "somebody someone something each either neither both all some any none"
)
_PRONOUNS = frozenset(_PRONOUNS_TEXT.split())
_TIMES = (1, 2, 3, 5, 7)
_JAPANESE = re.compile(r"[\u3040-\u30ff\u4e00-\u9fff]")
_MARKS = (".", ",", "!", "?", ";", ":")
_INTERROBANGS = ("?!", "!?")


def occurrences(response: str, keyword: str, flags: re.RegexFlag = re.IGNORECASE) -> int:
    """How often a whole word or phrase stands in a response."""
    return len(re.findall(rf"\b{re.escape(keyword.strip())}\b", response, flags))


def _conjunctions(response: str, given: Arguments, prompt: str) -> bool:
    # "And" and "and," are others than "and" here, as they are to the public checker.
    used = {word for word in response.split() if trimmed(word).lower() in _CONJUNCTIONS}
    return len(used) >= number(given, "small_n")


def _keywords(response: str, given: Arguments, prompt: str) -> bool:
    wanted = zip((given[f"keyword{i}"] for i in range(1, 6)), _TIMES, strict=True)
    return all(occurrences(response, keyword) == times for keyword, times in wanted)


def _numbers(response: str, given: Arguments, prompt: str) -> bool:
    return len(re.findall(r"\d+", without_punctuation(response))) == number(given, "N")


def _person_names(response: str, given: Arguments, prompt: str) -> bool:
    listed = re.search(r"list of person names:\s*(.*?)\s*\.", prompt, re.DOTALL)
    names = {name.strip() for name in listed[1].split(",")} if listed else set[str]()
    return sum(occurrences(response, name, re.NOFLAG) > 0 for name in names) >= number(given, "N")


def _pronouns(response: str, given: Arguments, prompt: str) -> bool:
    return sum(token in _PRONOUNS for token in tokens(response.lower().replace("/", " "))) >= number(given, "N")


def _punctuation(response: str, given: Arguments, prompt: str) -> bool:
    found = next((mark for mark in _INTERROBANGS if mark in response), None)
    if found is None and "‽" not in response:
        return False
    rest = response.replace(found, "", 1) if found else response
    return all(mark in rest for mark in _MARKS)


def _unique_words(response: str, given: Arguments, prompt: str) -> bool:
    return len({trimmed(word) for word in response.lower().split()}) >= number(given, "N")


def _word_range(response: str, given: Arguments, prompt: str) -> bool:
    return number(given, "min_words") <= word_count(response) <= number(given, "max_words")


def _japanese(response: str, given: Arguments, prompt: str) -> bool:
    every = number(given, "N")
    chosen = [trimmed(word) for word in response.split()[every - 1 :: every]]
    return all(_JAPANESE.search(word) for word in chosen if word and not word.isdigit())


CHECKERS = (
    Checker("count:conjunctions", "use at least {small_n} different coordinating conjunctions", _conjunctions),
    Checker(
        "count:keywords_multiple",
        "{keyword1} once, {keyword2} twice, {keyword3} three times, {keyword4} five times, {keyword5} seven times",
        _keywords,
    ),
    Checker("count:numbers", "exactly {N} numbers", _numbers),
    Checker("count:person_names", "at least {N} different names of the list of person names", _person_names),
    Checker("count:pronouns", "at least {N} pronouns", _pronouns),
    Checker("count:punctuation", "every standard punctuation mark, the interrobang ?! included", _punctuation),
    Checker("count:unique_word_count", "at least {N} different words", _unique_words),
    Checker("count:word_count_range", "the number of words between {min_words} and {max_words}", _word_range),
    Checker("count:words_japanese", "every {N}th word in Japanese", _japanese),
)
