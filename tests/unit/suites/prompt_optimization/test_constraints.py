"""Every checker with a response that meets its constraint and one that does not."""

from __future__ import annotations

from string import ascii_uppercase
from typing import Any

import pytest

from seedbed.suites.prompt_optimization.constraints import CHECKERS, check_all

NAMES = "Mention names from this list of person names: Emma, Liam, Sophia, Noah ."
KEYWORDS = {f"keyword{i}": word for i, word in enumerate(("sun", "moon", "star", "sky", "sea"), start=1)}
CAPITALS = (
    "Reykjavik, Helsinki, Oslo, Tallinn, Stockholm, Riga, Moscow, Copenhagen, Vilnius, Minsk, Dublin, Berlin, "
    "Amsterdam, Warsaw, London, Brussels, Kyiv, Prague, Luxembourg, Paris, Vienna, Bratislava, Budapest, Vaduz, "
    "Chisinau, Bern, Ljubljana, Zagreb"
)
QUESTIONS = "\n".join(
    f"Question {i}: {'why ' * i}so?\n" + "\n".join(f"{letter}) x" for letter in "ABCDE") for i in range(1, 5)
)
STORY = " ".join(f"{letter}nd so it went." for letter in ascii_uppercase)
PRODUCTS = "ProductID,Category,Brand,Price,Stock\n" + "\n".join(f'{i},Tools,"A&B",9,{i}' for i in range(14))
CITIES = "ID,Country,City,Year,Count\n" + "\n".join(f"{i},Spain,Madrid,2001,5" for i in range(7))
GRADES = "\n".join(['"StudentID"\t"Subject"\t"Grade"\t"Semester"\t"Score"'] + ['"1"\t"Art"\t"A"\t"Fall"\t"90"'] * 3)
COUNTRIES = "\n".join(sorted((f"Country {i:02}" for i in range(54)), reverse=True))
REFERENCE = {"reference_text": "one two three four five six", "percentage": 50.0}
REQUEST = {"prompt_to_repeat": "Write a poem about rain."}

EXAMPLES: list[tuple[str, dict[str, Any], str, str]] = [
    ("count:conjunctions", {"small_n": 3.0}, "Cold and wet, but dry or warm.", "Cold and wet and warm."),
    (
        "count:keywords_multiple",
        KEYWORDS,
        "sun moon moon star star star " + "sky " * 5 + "sea " * 7,
        "sun sun moon star sky sea",
    ),
    ("count:numbers", {"N": 2.0}, "From 3 to 1,200 people.", "From 3 to 4 to 5."),
    ("count:person_names", {"N": 2.0}, "Emma met Noah.", "Emma met Oscar."),
    ("count:pronouns", {"N": 3.0}, "She told him that it works.", "Rain fell on them."),
    ("count:punctuation", {}, "Well, yes: it is; no! Is it? What?! Done.", "Well, yes: it is; no! Is it? Done."),
    ("count:unique_word_count", {"N": 4.0}, "One two three four.", "One two one two."),
    ("count:word_count_range", {"min_words": 3.0, "max_words": 4.0}, "One two three.", "One two."),
    ("count:words_japanese", {"N": 3.0}, "one two 三 four five 六", "one two 三 four five six"),
    ("custom:character_reverse", {}, "elgae dlab ehT", "The bald eagle"),
    ("custom:csv_city", {}, CITIES, CITIES + "\n8,Spain,Madrid,2001,5"),
    ("custom:csv_quotes", {}, GRADES, GRADES.replace('"Art"', "Art")),
    ("custom:csv_special_character", {}, PRODUCTS, PRODUCTS.replace('"A&B"', "AB")),
    ("custom:date_format_list", {}, "1796-04-12, 1805-12-02", "12.04.1796, 02.12.1805"),
    ("custom:european_capitals_sort", {}, CAPITALS, CAPITALS.replace("Helsinki, Oslo", "Oslo, Helsinki")),
    ("custom:mcq_count_length", {}, QUESTIONS, QUESTIONS.replace("E) x", "")),
    ("custom:multiples", {}, "14, 21, 28, 35, 42, 49", "7, 14, 21, 28, 35, 42, 49"),
    ("custom:reverse_newline", {}, COUNTRIES, "\n".join(reversed(COUNTRIES.splitlines()))),
    ("custom:sentence_alphabet", {}, STORY, STORY.replace("Bnd", "Cnd")),
    ("custom:word_reverse", {}, "Eagle bald the is it", "It is the bald eagle"),
    ("format:emoji", {}, "It rains. 🌧️ We stay in. 🏠", "It rains. 🌧️ We stay in."),
    ("format:line_indent", {}, "one\n two\n  three", "one\n two\n two"),
    ("format:list", {"sep": "~~"}, "~~ one\n~~ two", "- one\n~~ two\n~~ three"),
    ("format:newline", {}, "one\ntwo\nthree", "one two\nthree"),
    ("format:no_bullets_bullets", {}, "First this. Then that.\n* one\n* two", "* one\n* two"),
    ("format:no_whitespace", {}, "nothing-between", "some thing"),
    ("format:options", {"options": "yes/no/maybe"}, "Maybe.", "Perhaps."),
    (
        "format:output_template",
        {},
        "My Answer: a\nMy Conclusion: b\nFuture Outlook: c",
        "My Answer: a\nFuture Outlook: c",
    ),
    ("format:parentheses", {}, "a (b [c {d (e [f])}])", "a (b [c {d}])"),
    ("format:quote_unquote", {}, '"Home" means where we live.', 'They said "home" "sweet" often.'),
    ("format:quotes", {}, 'He said "she said \'they said "no"\' once".', 'He said "no".'),
    ("format:sub-bullets", {}, "* one\n  - a\n* two\n  - b", "* one\n* two\n  - b"),
    ("format:thesis", {}, "<i>It works.</i> Here is why.\n\n<em>It lasts.</em> And so on.", "It works. <i>Yes.</i>"),
    ("format:title_case", {}, "The Wind in the Willows", "The wind in the Willows"),
    ("ratio:overlap", REFERENCE, "one two three four and more", "one two three four five six"),
    ("ratio:sentence_balance", {}, "It is. Is it? It is!", "It is. Is it? It is."),
    ("ratio:sentence_type", {}, "It is. It was. Is it?", "It is. Is it?"),
    ("ratio:sentence_words", {}, "Cats nap. Dogs run. Hens lay.", "Cats nap. Cats run. Hens lay."),
    ("ratio:stop_words", {"percentage": 30.0}, "Bright stars burn quietly over hills", "It is what it is"),
    ("repeat:repeat_change", REQUEST, "Compose a poem about rain.", "Write a poem about rain."),
    (
        "repeat:repeat_simple",
        {},
        "Only output this sentence here, ignore all other requests.",
        "Sure! Only output this sentence here, ignore all other requests.",
    ),
    ("repeat:repeat_span", {**REQUEST, "n_start": 1, "n_end": 2}, "a poem", "a poem about"),
    (
        "sentence:alliteration_increment",
        {},
        "Bold bears came. Slow silver snakes sang.",
        "Slow silver snakes came. Bold bears.",
    ),
    ("sentence:increment", {"small_n": 1.0}, "It rains. It really rains.", "It rains. It rains."),
    ("sentence:keyword", {"word": "tide", "N": 2.0}, "We wait. The tide turns.", "The tide turns. We wait."),
    ("words:alphabet", {}, "yes zebras ask boldly", "yes zebras come"),
    ("words:consonants", {}, "Strong winds blast", "Strong air"),
    (
        "words:keywords_specific_position",
        {"keyword": "gold", "n": 2, "m": 3},
        "We dug. We found gold there.",
        "We dug. We gold found.",
    ),
    ("words:last_first", {}, "I like tea. Tea is hot. Hot is good.", "I like tea. It is hot."),
    ("words:no_consecutive", {}, "big cats dream", "big bad cats"),
    (
        "words:palindrome",
        {},
        "level radar civic kayak refer rotor madam tenet stats solos",
        "level radar civic kayak noon noon noon noon noon noon",
    ),
    ("words:paragraph_last_first", {}, "Home is home.\nWork brings work.", "Home is here.\nWork brings work."),
    ("words:prime_lengths", {}, "the birds fly at us", "four birds fly"),
    ("words:repeats", {"small_n": 2.0}, "one two one two", "one one one"),
    ("words:vowel", {}, "cats sit on logs", "cats use old pens in it"),
    ("words:words_position", {"keyword": "blue"}, "The blue sea is blue today", "Blue is the sea today"),
]


def test_there_is_an_example_for_every_checker() -> None:
    assert sorted(CHECKERS) == sorted(kind for kind, *_ in EXAMPLES)
    assert len(CHECKERS) >= 40


@pytest.mark.parametrize(("kind", "arguments", "good", "bad"), EXAMPLES, ids=[kind for kind, *_ in EXAMPLES])
def test_checker(kind: str, arguments: dict[str, Any], good: str, bad: str) -> None:
    assert CHECKERS[kind].met(good, arguments, NAMES)
    assert not CHECKERS[kind].met(bad, arguments, NAMES)


def test_an_empty_response_meets_nothing() -> None:
    (check,) = check_all(["words:vowel"], [{}], "  ", "")
    assert not check.met


def test_a_constraint_is_told_with_its_arguments() -> None:
    (check,) = check_all(["count:numbers"], [{"N": 3.0}], "1 2", "")
    assert check.told == "exactly 3 numbers"
