"""Constraints of a single prompt each: tables, lists and stories with a given shape."""

from __future__ import annotations

import csv
import re
import unicodedata
from collections.abc import Sequence
from itertools import pairwise
from string import ascii_lowercase

from seedbed.suites.prompt_optimization.constraints.checker import Arguments, Checker
from seedbed.suites.prompt_optimization.constraints.cutting import TRIMMED, plain_words, sentences, trimmed

# Capitals of Europe north of 45 degrees, from north to south; the benchmark leaves Kyiv out.
_CAPITALS_TEXT = (
    "Reykjavik Helsinki Oslo Tallinn Stockholm Riga Moscow Copenhagen Vilnius Minsk Dublin Berlin Amsterdam Warsaw "
    "London Brussels Prague Luxembourg Paris Vienna Bratislava Budapest Vaduz Chisinau Bern Ljubljana Zagreb"
)
_CAPITALS = _CAPITALS_TEXT.split()
_AFRICAN_COUNTRIES = 52
_LAST_COUNTRY = "Zimbabwe"
_NAPOLEON = range(1769, 1822)
_LONGEST_MONTH = {2: 29, 4: 30, 6: 30, 9: 30, 11: 30}
_QUESTION = re.compile(r"\n*Question \d+[.|):;]?\s*")
_OPTION = re.compile(r"[A-Ea-e][.|)]\s*\w")


def _ascii(text: str) -> str:
    return unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode()


def _csv_city(response: str, given: Arguments, prompt: str) -> bool:
    table = list(csv.reader(response.splitlines()))
    columns = ["ID", "Country", "City", "Year", "Count"]
    return len(table) == 8 and table[0] == columns and all(len(row) == len(columns) for row in table)


def _raw_rows(response: str, delimiter: str) -> list[list[str]]:
    """Fields with their quotes; a delimiter within quotes parts nothing."""
    outside = re.compile(rf'{delimiter}(?=(?:[^"]*"[^"]*")*[^"]*$)')
    return [outside.split(line) for line in response.splitlines()]


def _is_header(row: Sequence[str], columns: Sequence[str]) -> bool:
    return len(row) == len(columns) and all(
        field.strip() in (column, f'"{column}"') for field, column in zip(row, columns, strict=True)
    )


def _csv_quotes(response: str, given: Arguments, prompt: str) -> bool:
    rows = _raw_rows(response, "\t")
    columns = ["StudentID", "Subject", "Grade", "Semester", "Score"]
    quoted = all(re.fullmatch(r'"[^"]*"', field.strip()) for row in rows for field in row)
    return len(rows) == 4 and _is_header(rows[0], columns) and quoted and all(len(row) == 5 for row in rows)


def _csv_special(response: str, given: Arguments, prompt: str) -> bool:
    """Rows are looked at down to the first with a quoted field that holds a special character."""
    rows = _raw_rows(response, ",")
    if len(rows) != 15 or not _is_header(rows[0], ["ProductID", "Category", "Brand", "Price", "Stock"]):
        return False
    special = (any(re.match(r'"[^"]*[^\w\s"][^"]*"', field.strip()) for field in row) for row in rows[1:])
    first = next((place for place, found in enumerate(special, start=1) if found), None)
    return first is not None and all(len(row) == 5 for row in rows[1 : first + 1])


def _dates(response: str, given: Arguments, prompt: str) -> bool:
    return all(_is_date(date.strip()) for date in response.strip().split(","))


def _is_date(text: str) -> bool:
    found = re.fullmatch(r"(\d{4})-(\d{2})-(\d{2})", text)
    year, month, day = map(int, found.groups()) if found else (0, 0, 0)
    return year in _NAPOLEON and month <= 12 and day <= _LONGEST_MONTH.get(month, 31)


def _capitals(response: str, given: Arguments, prompt: str) -> bool:
    return [name.strip() for name in _ascii(response).split(",") if name.strip()] == _CAPITALS


def _multiple_choice(response: str, given: Arguments, prompt: str) -> bool:
    if not response.startswith("Question"):
        return False
    questions = [part.strip().split("\n") for part in _QUESTION.split(response) if part.strip()]
    options = [[bool(_OPTION.match(line.strip())) for line in lines] for lines in questions]
    if [sum(own) for own in options] != [5] * 4:
        return False
    asked = [" ".join(lines[: own.index(True)]) for lines, own in zip(questions, options, strict=True)]
    return all(len(a.strip()) < len(b.strip()) for a, b in pairwise(asked))


def _multiples(response: str, given: Arguments, prompt: str) -> bool:
    return re.findall(r"\d+", response) == [str(n) for n in range(14, 51, 7)]


def _reverse_countries(response: str, given: Arguments, prompt: str) -> bool:
    names = [name for line in response.split("\n") if (name := trimmed(line))]
    first = next((place for place, name in enumerate(names) if _LAST_COUNTRY in name), len(names))
    folded = [_ascii(name) for name in names[first:]]
    return len(folded) >= _AFRICAN_COUNTRIES and folded == sorted(folded, reverse=True)


def _alphabet_story(response: str, given: Arguments, prompt: str) -> bool:
    begins = [sentence.lstrip(TRIMMED + "\n\t")[:1].lower() for sentence in sentences(response)]
    return begins == list(ascii_lowercase)


def _letters_reversed(response: str, given: Arguments, prompt: str) -> bool:
    return "elgae dlab" in response.lower()


def _words_reversed(response: str, given: Arguments, prompt: str) -> bool:
    return "bald eagle" in " ".join(reversed(plain_words(response)))


CHECKERS = (
    Checker("custom:character_reverse", "the sentence backwards, letter by letter", _letters_reversed),
    Checker("custom:csv_city", "comma separated, the five columns asked for and 7 rows", _csv_city),
    Checker("custom:csv_quotes", "tab separated, every field in double quotes, 3 rows", _csv_quotes),
    Checker("custom:csv_special_character", "14 rows, a quoted field with a special character", _csv_special),
    Checker("custom:date_format_list", "dates as YYYY-MM-DD of Napoleon's lifetime, parted by commas", _dates),
    Checker("custom:european_capitals_sort", "the capitals north of 45 degrees from north to south", _capitals),
    Checker("custom:mcq_count_length", "4 questions of 5 options each, every one longer", _multiple_choice),
    Checker("custom:multiples", "the multiples of 7 from 10 to 50 and no other number", _multiples),
    Checker("custom:reverse_newline", "the countries from Z to A, a line each", _reverse_countries),
    Checker("custom:sentence_alphabet", "26 sentences that begin with the letters from A to Z", _alphabet_story),
    Checker("custom:word_reverse", "the sentence backwards, word by word", _words_reversed),
)
