"""Constraints of a single prompt each: tables, lists and stories with a given shape."""

from __future__ import annotations

import csv
import re
from itertools import pairwise
from string import ascii_lowercase

from seedbed.suites.prompt_optimization.constraints.checker import Arguments, Checker, lines, sentences, words

# Capitals of Europe north of 45 degrees, from north to south.
_CAPITALS = (
    *("reykjavik", "helsinki", "oslo", "tallinn", "stockholm", "riga", "moscow", "copenhagen", "vilnius", "minsk"),
    *("dublin", "berlin", "amsterdam", "warsaw", "london", "brussels", "kyiv", "prague", "luxembourg", "paris"),
    *("vienna", "bratislava", "budapest", "vaduz", "chisinau", "bern", "ljubljana", "zagreb"),
)
_OTHER_NAMES = {"reykjavík": "reykjavik", "kiev": "kyiv", "chișinău": "chisinau", "luxembourg city": "luxembourg"}
_AFRICAN_COUNTRIES = range(52, 57)
"""Counts differ by a few, depending on who is recognised."""


def _table(response: str, delimiter: str) -> list[list[str]]:
    return list(csv.reader(lines(response), delimiter=delimiter))


def _is_table(response: str, delimiter: str, columns: list[str], rows: int) -> bool:
    table = _table(response, delimiter)
    same_width = all(len(row) == len(columns) for row in table)
    return len(table) == rows + 1 and [cell.strip() for cell in table[0]] == columns and same_width


def _csv_city(response: str, given: Arguments, prompt: str) -> bool:
    return _is_table(response, ",", ["ID", "Country", "City", "Year", "Count"], 7)


def _csv_quotes(response: str, given: Arguments, prompt: str) -> bool:
    quoted = all(re.fullmatch(r'"[^"]*"', cell) for line in lines(response) for cell in line.split("\t"))
    return quoted and _is_table(response, "\t", ["StudentID", "Subject", "Grade", "Semester", "Score"], 3)


def _csv_special(response: str, given: Arguments, prompt: str) -> bool:
    special = re.search(r'"[^"\n]*[^\w\s"][^"\n]*"', response)
    return bool(special) and _is_table(response, ",", ["ProductID", "Category", "Brand", "Price", "Stock"], 14)


def _dates(response: str, given: Arguments, prompt: str) -> bool:
    date = r"\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\d|3[01])"
    return bool(re.fullmatch(rf"\s*{date}(?:\s*,\s*{date})+\s*\.?\s*", response))


def _capitals(response: str, given: Arguments, prompt: str) -> bool:
    named = [name.strip().strip(".").casefold() for name in response.split(",")]
    return [_OTHER_NAMES.get(name, name) for name in named] == list(_CAPITALS)


def _multiple_choice(response: str, given: Arguments, prompt: str) -> bool:
    questions = [part.strip() for part in re.split(r"(?m)^(?=Question)", response) if part.strip()]
    if len(questions) != 4 or not all(question.startswith("Question") for question in questions):
        return False
    options = [len(re.findall(r"(?m)^\s*\(?[A-Ea-e][).:]", question)) for question in questions]
    lengths = [len(re.split(r"(?m)^\s*\(?[Aa][).:]", question)[0]) for question in questions]
    return options == [5] * 4 and all(a < b for a, b in pairwise(lengths))


def _multiples(response: str, given: Arguments, prompt: str) -> bool:
    return [int(found) for found in re.findall(r"\d+", response)] == list(range(14, 51, 7))


def _reverse_countries(response: str, given: Arguments, prompt: str) -> bool:
    names = [line.strip().casefold() for line in lines(response)]
    return len(names) in _AFRICAN_COUNTRIES and all(a > b for a, b in pairwise(names))


def _alphabet_story(response: str, given: Arguments, prompt: str) -> bool:
    return [words(sentence)[0][0].lower() for sentence in sentences(response)] == list(ascii_lowercase)


def _letters_reversed(response: str, given: Arguments, prompt: str) -> bool:
    return "bald eagle" in response[::-1].casefold()


def _words_reversed(response: str, given: Arguments, prompt: str) -> bool:
    return "bald eagle" in " ".join(reversed([word.casefold() for word in words(response)]))


CHECKERS = (
    Checker("custom:character_reverse", "the sentence backwards, letter by letter", _letters_reversed),
    Checker("custom:csv_city", "comma separated, the five columns asked for and 7 rows", _csv_city),
    Checker("custom:csv_quotes", "tab separated, every field in double quotes, 3 rows", _csv_quotes),
    Checker("custom:csv_special_character", "14 rows, a quoted field with a special character", _csv_special),
    Checker("custom:date_format_list", "dates as YYYY-MM-DD parted by commas and nothing else", _dates),
    Checker("custom:european_capitals_sort", "the capitals north of 45 degrees from north to south", _capitals),
    Checker("custom:mcq_count_length", "4 questions of 5 options each, every one longer", _multiple_choice),
    Checker("custom:multiples", "the multiples of 7 from 10 to 50 and no other number", _multiples),
    Checker("custom:reverse_newline", "the countries from Z to A, a line each", _reverse_countries),
    Checker("custom:sentence_alphabet", "26 sentences that begin with the letters from A to Z", _alphabet_story),
    Checker("custom:word_reverse", "the sentence backwards, word by word", _words_reversed),
)
