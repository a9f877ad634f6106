"""Constraints on how many of something there are."""

from __future__ import annotations

import re

from seedbed.suites.prompt_optimization.constraints.checker import Arguments, Checker, number, words

_CONJUNCTIONS = frozenset(["for", "and", "nor", "but", "or", "yet", "so"])
_PRONOUNS_TEXT = (
    "i me my mine myself you your yours yourself yourselves he him his himself she her hers herself it its itself "
    "we us our ours ourselves they them their theirs themselves"
)
_PRONOUNS = frozenset(_PRONOUNS_TEXT.split())
_TIMES = (1, 2, 3, 5, 7)
_JAPANESE = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uff66-\uff9f]")
_MARKS = (".", ",", "!", "?", ";", ":")


def _occurrences(response: str, keyword: str) -> int:
    return len(re.findall(rf"\b{re.escape(keyword)}\b", response, re.IGNORECASE))


def _conjunctions(response: str, given: Arguments, prompt: str) -> bool:
    return len({word.lower() for word in words(response)} & _CONJUNCTIONS) >= number(given, "small_n")


def _keywords(response: str, given: Arguments, prompt: str) -> bool:
    wanted = zip((given[f"keyword{i}"] for i in range(1, 6)), _TIMES, strict=True)
    return all(_occurrences(response, keyword) == times for keyword, times in wanted)


def _numbers(response: str, given: Arguments, prompt: str) -> bool:
    return len(re.findall(r"\d+(?:[.,]\d+)*", response)) == number(given, "N")


def _person_names(response: str, given: Arguments, prompt: str) -> bool:
    listed = re.search(r"list of person names:\s*(.*?)\s*\.", prompt, re.DOTALL)
    names = [name.strip() for name in listed[1].split(",")] if listed else []
    return sum(_occurrences(response, name) > 0 for name in names) >= number(given, "N")


def _pronouns(response: str, given: Arguments, prompt: str) -> bool:
    return sum(word.lower() in _PRONOUNS for word in words(response.replace("'", " "))) >= number(given, "N")


def _punctuation(response: str, given: Arguments, prompt: str) -> bool:
    without = response.replace("?!", "").replace("!?", "").replace("‽", "")
    return len(without) < len(response) and all(mark in without for mark in _MARKS)


def _unique_words(response: str, given: Arguments, prompt: str) -> bool:
    return len({word.lower() for word in words(response)}) >= number(given, "N")


def _word_range(response: str, given: Arguments, prompt: str) -> bool:
    return number(given, "min_words") <= len(response.split()) <= number(given, "max_words")


def _japanese(response: str, given: Arguments, prompt: str) -> bool:
    every = number(given, "N")
    chosen = response.split()[every - 1 :: every]
    return bool(chosen) and all(_JAPANESE.search(word) for word in chosen)


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
