"""For each of IFBench's 58 kinds of constraints: arguments, responses that meet it and responses that do not."""

from __future__ import annotations

from string import ascii_uppercase
from typing import Any, NamedTuple


class Examples(NamedTuple):
    arguments: dict[str, Any]
    met: list[str]
    unmet: list[str]


NAMES = "Mention names from this list of person names: Emma, Liam, Sophia, Noah, Ava ."
"""The prompt of all examples."""

_KEYWORDS = {f"keyword{i}": word for i, word in enumerate(("sun", "moon", "star", "sky", "sea"), start=1)}
_SKY = "sun moon moon star star star " + "sky " * 5 + "sea " * 7
_CAPITALS = (
    "Reykjavik, Helsinki, Oslo, Tallinn, Stockholm, Riga, Moscow, Copenhagen, Vilnius, Minsk, Dublin, Berlin, "
    "Amsterdam, Warsaw, London, Brussels, Prague, Luxembourg, Paris, Vienna, Bratislava, Budapest, Vaduz, Chisinau, "
    "Bern, Ljubljana, Zagreb"
)


def _questions(label: str = "Question {}:", option: str = "{}) x", growth: int = 1) -> str:
    options = "\n".join(option.format(letter) for letter in "ABCDE")
    return "\n".join(f"{label.format(i)} {'why ' * (5 + growth * i)}so?\n{options}" for i in range(1, 5))


_STORY = " ".join(f"{letter}nd so it went." for letter in ascii_uppercase)
_PRODUCTS = "ProductID,Category,Brand,Price,Stock\n" + "\n".join(f'{i},Tools,"A&B",9,{i}' for i in range(14))
_CITIES = "ID,Country,City,Year,Count\n" + "\n".join(f"{i},Spain,Madrid,2001,5" for i in range(7))
_GRADES = "\n".join(['"StudentID"\t"Subject"\t"Grade"\t"Semester"\t"Score"'] + ['"1"\t"Art"\t"A"\t"Fall"\t"90"'] * 3)
_COUNTRIES = "Zimbabwe\n" + "\n".join(f"Country {i:02}" for i in reversed(range(53)))
_PALINDROMES = "level radar civic kayak refer rotor madam tenet stats solos"
_REFERENCE = {"reference_text": "one two three four five six", "percentage": 50.0}
_REQUEST = {"prompt_to_repeat": "Write a poem about rain."}
_ONLY = "Only output this sentence here, ignore all other requests."
_TEMPLATE = "My Answer: a\nMy Conclusion: b\nFuture Outlook: c"

IFBENCH: dict[str, Examples] = {
    "count:conjunctions": Examples(
        {"small_n": 3.0},
        ["Cold and wet, but dry or warm.", "He ran, for it rained, yet so slowly.", "And now nor then, but no."],
        ["Cold and wet.", "Rain fell all day.", "Cold and wet and warm and dry."],
    ),
    "count:keywords_multiple": Examples(
        _KEYWORDS,
        [_SKY, _SKY.title(), f"A sunny day. {_SKY}."],
        ["sun sun moon star sky sea", _SKY.replace("sun", ""), _SKY + "sea"],
    ),
    "count:numbers": Examples(
        {"N": 2.0},
        ["From 3 to 1,200 people.", "7 cats, 3.5 dogs", "In 1999 there were 12."],
        ["From 3 to 4 to 5.", "One and two.", "Only 7."],
    ),
    "count:person_names": Examples(
        {"N": 2.0},
        ["Emma met Noah.", "Liam, Sophia and Ava left.", "Noah's dog bit Emma."],
        ["Emma met Oscar.", "emma met noah.", "Emmas and Noahs."],
    ),
    "count:pronouns": Examples(
        {"N": 3.0},
        ["She told him that it works.", "she/her/hers", "Who knows what they want?"],
        ["Rain fell on them.", "Dogs bark.", "He left home."],
    ),
    "count:punctuation": Examples(
        {},
        ["Well, yes: it is; no! Is it? What?! Done.", "Why!? A, b; c: d! e? f.", "‽ , ; : ! ? ."],
        ["Well, yes: it is; no! Is it? Done.", "What?! Yes, no; so: it.", "Plain."],
    ),
    "count:unique_word_count": Examples(
        {"N": 4.0},
        ["One two three four.", "a, b, c, d, a", "The cat; the dog; a bird"],
        ["One two one two.", "yes Yes YES", "One, one! Two? two; three."],
    ),
    "count:word_count_range": Examples(
        {"min_words": 3.0, "max_words": 4.0},
        ["One two three.", "It isn't so.", "one-two three"],
        ["One two.", "one two three four five", "don't won't can't"],
    ),
    "count:words_japanese": Examples(
        {"N": 3.0},
        ["one two 三 four five 六", "いち に さん", "one two 10 four five ろく."],
        ["one two 三 four five six", "one two three", "一 二 drei"],
    ),
    "custom:character_reverse": Examples(
        {},
        ["elgae dlab ehT", "Elgae Dlab", "...elgae dlab eht si tI"],
        ["The bald eagle", "eagle bald", "elgae"],
    ),
    "custom:csv_city": Examples(
        {},
        [_CITIES, _CITIES + "\n", _CITIES.replace("Madrid", '"Madrid, old"')],
        [_CITIES + "\n8,Spain,Madrid,2001,5", _CITIES.replace("Count\n", "Number\n"), _CITIES.replace(",2001", "")],
    ),
    "custom:csv_quotes": Examples(
        {},
        [_GRADES, _GRADES + "\n", _GRADES.replace("Fall", "Fall\tterm")],
        [_GRADES.replace('"Art"', "Art"), _GRADES.replace("\t", ","), _GRADES + '\n"2"\t"Art"\t"B"\t"Fall"\t"80"'],
    ),
    "custom:csv_special_character": Examples(
        {},
        [_PRODUCTS, _PRODUCTS.replace("A&B", "A,B"), _PRODUCTS.replace("ProductID", '"ProductID"')],
        [_PRODUCTS.replace('"A&B"', "AB"), _PRODUCTS + "\n14,Tools,C,9,1", _PRODUCTS.replace("A&B", "AB")],
    ),
    "custom:date_format_list": Examples(
        {},
        ["1796-04-12, 1805-12-02", "1815-06-18", "1800-02-29,1812-09-07"],
        ["12.04.1796, 02.12.1805", "1796-04-31", "1915-06-18, and more"],
    ),
    "custom:european_capitals_sort": Examples(
        {},
        [_CAPITALS, _CAPITALS.replace("Reykjavik", "Reykjavík"), _CAPITALS + ","],
        [
            _CAPITALS.replace("Helsinki, Oslo", "Oslo, Helsinki"),
            _CAPITALS.replace("Brussels,", "Brussels, Kyiv,"),
            _CAPITALS.lower(),
        ],
    ),
    "custom:mcq_count_length": Examples(
        {},
        [_questions(), _questions("Question {}."), _questions(option="{}. x")],
        [_questions(growth=0), "Sure!\n" + _questions(), _questions().replace("E) x", "")],
    ),
    "custom:multiples": Examples(
        {},
        ["14, 21, 28, 35, 42, 49", "14\n21\n28\n35\n42\n49", "14,21,28,35,42,49."],
        ["7, 14, 21, 28, 35, 42, 49", "14, 21, 28, 35, 42", "49, 42, 35, 28, 21, 14"],
    ),
    "custom:reverse_newline": Examples(
        {},
        [_COUNTRIES, "Here they are:\n" + _COUNTRIES, _COUNTRIES.replace("Country 51", "Côuntry 51")],
        [
            "\n".join(reversed(_COUNTRIES.splitlines())),
            _COUNTRIES.replace("Zimbabwe\n", ""),
            "\n".join(_COUNTRIES.splitlines()[:50]),
        ],
    ),
    "custom:sentence_alphabet": Examples(
        {},
        [_STORY, _STORY.replace("went.", "went!"), _STORY.replace("Bnd", '"Bnd')],
        [_STORY.replace("Bnd", "Cnd"), _STORY + " And more.", _STORY[: len(_STORY) // 2]],
    ),
    "custom:word_reverse": Examples(
        {},
        ["Eagle bald the is it", "US the of symbol the is eagle bald the.", "eagle, bald"],
        ["It is the bald eagle", "elgae dlab", "eagle the bald"],
    ),
    "format:emoji": Examples(
        {},
        ["It rains 🌧. We stay in 🏠.", "It rains. 🌧 We stay in 🏠!", "Good 😀"],
        ["It rains. 🌧️ We stay in.", "No emoji here.", "🌧 It rains."],
    ),
    "format:line_indent": Examples(
        {},
        ["one\n two\n  three", "one\n\n two", "  one\n    two\n      three"],
        ["one\n two\n two", "one\ntwo", "  one\n two"],
    ),
    "format:list": Examples(
        {"sep": "~~"},
        ["~~ one\n~~ two", "Things: ~~ a ~~ b", "~~one\n~~two\n~~three"],
        ["- one\n~~ two", "* one\n* two", "one, two"],
    ),
    "format:newline": Examples(
        {},
        ["one\ntwo\nthree", "one,\n\ntwo.", "one"],
        ["one two\nthree", "one two", "a\nb c\nd"],
    ),
    "format:no_bullets_bullets": Examples(
        {},
        [
            "First this. Then that.\n* one\n* two",
            "First this.\nThen that.\n\n* one\n* two\n* three",
            "One. Two. Three.\n  * a\n  * b",
        ],
        ["* one\n* two", "Only one.\n* one\n* two", "First this. Then that.\n* one\n* two\nAnd an end."],
    ),
    "format:no_whitespace": Examples(
        {}, ["nothing-between", "Onlyoneword.", "日本語"], ["some thing", "trailing ", "two\nlines"]
    ),
    "format:options": Examples(
        {"options": "yes/no/maybe"},
        ["Maybe.", "yes", " NO! "],
        ["Perhaps.", "yes, of course", "yes/no"],
    ),
    "format:output_template": Examples(
        {},
        [_TEMPLATE, "My Answer: a My Conclusion: b Future Outlook: c", "So. " + _TEMPLATE],
        ["My Answer: a\nFuture Outlook: c", _TEMPLATE.lower(), "An answer and an outlook."],
    ),
    "format:parentheses": Examples(
        {},
        ["a (b [c {d (e [f])}])", "(((((x)))))", "([{([x])}])"],
        ["a (b [c {d}])", "(((((", "(((( x ))))"],
    ),
    "format:quote_unquote": Examples(
        {},
        ['"Home" means where we live.', "No quotes at all.", 'Say "yes", that is agree, or "no", refuse.'],
        ['They said "home" "sweet" often.', 'It is called "home".', 'He said: "no"'],
    ),
    "format:quotes": Examples(
        {},
        [
            'He said "she said \'they said "no"\' once".',
            "'a \"b 'c' d\" e'",
            'It reads: "one \'two "three" two\' one"',
        ],
        ['He said "no".', "\"a 'b' c\"", "No quotes."],
    ),
    "format:sub-bullets": Examples(
        {},
        ["* one\n  - a\n* two\n  - b", "* one\n- a", "No bullet at all."],
        ["* one\n* two\n  - b", "* one", "* a\n- b\n* c"],
    ),
    "format:thesis": Examples(
        {},
        ["<i>It works.</i> Here is why.", "<em>It lasts.</em>\nAnd so on.", "Intro. <i>So.</i> More."],
        ["It works.", "<i>It works.</i>", "<i></i> Here is why."],
    ),
    "format:title_case": Examples(
        {},
        ["The Wind In The Willows", "A 3 Day Trip", "My iPhone Works."],
        ["The wind in the Willows", "The Wind in The Willows", "all small"],
    ),
    "ratio:overlap": Examples(
        _REFERENCE,
        ["one two three four and more", "nine one two three four ten", "three four five six ten nine"],
        ["one two three four five six", "seven eight nine ten", "one two"],
    ),
    "ratio:sentence_balance": Examples(
        {},
        ["It is. Is it? It is!", "Go! Why? So.", "So be it. Fine. Why? How? Go! Now!"],
        ["It is. Is it? It is.", "It is.", "Why? Why!"],
    ),
    "ratio:sentence_type": Examples(
        {},
        ["It is. It was. Is it?", "One. Why? Two.", "One. Two. Three. Four. Five? Six?"],
        ["It is. Is it?", "It is.", "Why? How?"],
    ),
    "ratio:sentence_words": Examples(
        {},
        ["Cats nap. Dogs run. Hens lay.", "Big seas. Old owls. Few cars.", "Red sun. Big sea. Old man."],
        ["Cats nap. Cats run. Hens lay.", "Cats nap. Dogs sleep. Hens lay.", "Cats nap. Dogs run."],
    ),
    "ratio:stop_words": Examples(
        {"percentage": 30.0},
        ["Bright stars burn quietly over hills", "Rain falls", "The sea gleams silver tonight"],
        ["It is what it is", "The cat is on the mat", "Don't"],
    ),
    "repeat:repeat_change": Examples(
        _REQUEST,
        ["Compose a poem about rain.", "Sing a poem about rain.", "Draft  a poem\nabout rain."],
        ["Write a poem about rain.", "Compose a poem about snow.", "Sure! Compose a poem about rain."],
    ),
    "repeat:repeat_simple": Examples(
        {}, [_ONLY, f" {_ONLY}\n", _ONLY.upper()], [f"Sure! {_ONLY}", _ONLY[:-1], "Only output this."]
    ),
    "repeat:repeat_span": Examples(
        {**_REQUEST, "n_start": 1, "n_end": 2},
        ["a poem", "A Poem", " a poem\n"],
        ["a poem about", "Write a", "poem"],
    ),
    "sentence:alliteration_increment": Examples(
        {},
        ["Bold bears came. Slow silver snakes sang.", "It rains. Cold cats.", "One sentence only."],
        ["Slow silver snakes came. Bold bears.", "Bold bears. Cold cats.", "It rains. We stay."],
    ),
    "sentence:increment": Examples(
        {"small_n": 1.0},
        ["It rains. It really rains.", "Go. Go now. Go right now.", "Alone."],
        ["It rains. It rains.", "Go. Go right now.", "It really rains. It rains."],
    ),
    "sentence:keyword": Examples(
        {"word": "tide", "N": 2.0},
        ["We wait. The tide turns.", "See Dr. Ray. Tide is up.", "Well! High tide? Yes."],
        ["The tide turns. We wait.", "We wait.", "We wait. Tides turn."],
    ),
    "words:alphabet": Examples(
        {},
        ["yes zebras ask boldly", "A big cat dozes.", "One"],
        ["yes zebras come", "9 lives", "a c"],
    ),
    "words:consonants": Examples(
        {}, ["Strong winds blast", "My shy dryads", "Thing."], ["Strong air", "a", "Blast - strong"]
    ),
    "words:keywords_specific_position": Examples(
        {"keyword": "gold", "n": 2, "m": 3},
        ["We dug. We found gold there.", "Yes! A lump, gold.", "It rained. Then came GOLD."],
        ["We dug. We gold found.", "We found gold.", "We dug. We found golden rings."],
    ),
    "words:last_first": Examples(
        {},
        ["I like tea. Tea is hot. Hot is good.", "Alone.", "We saw rain! Rain fell?"],
        ["I like tea. It is hot.", "I like tea. Teas are hot.", "We saw rain. Rain fell. It ended."],
    ),
    "words:no_consecutive": Examples(
        {}, ["big cats dream", "One", "red, blue; red"], ["big bad cats", "Cold cats", "a (apple)"]
    ),
    "words:odd_even_syllables": Examples(
        {},
        ["The water was very hot", "Silver cups", "Go"],
        ["The cat sat", "Silver water", "Hot very water"],
    ),
    "words:palindrome": Examples(
        {},
        [_PALINDROMES, _PALINDROMES.title().replace(" ", ", "), f"Here: {_PALINDROMES} and more."],
        [_PALINDROMES.replace("level", "noon"), "level radar", "Nothing of the kind."],
    ),
    "words:paragraph_last_first": Examples(
        {},
        ["Home is home.\nWork brings work.", "Rain", "Time after time!\n\nDay by day."],
        ["Home is here.\nWork brings work.", "One two", "Home is home.\nWork is life."],
    ),
    "words:prime_lengths": Examples(
        {}, ["the birds fly at us", "Go!", "it's so red"], ["four birds fly", "a bird", "Birds sing"]
    ),
    "words:repeats": Examples(
        {"small_n": 2.0},
        ["one two one two", "One fish, two fish", "yes"],
        ["one one one", "One, one. ONE!", "the cat the dog the hen"],
    ),
    "words:start_verb": Examples(
        {},
        ["Imagine a world of cats.", "Write it down first.", "Is it late?"],
        ["The dog runs.", "Water is wet.", "3 birds sing."],
    ),
    "words:vowel": Examples(
        {},
        ["cats sit on logs", "Dry myth", "All tall men"],
        ["cats use old pens in it", "cats sit\non logs", "Education"],
    ),
    "words:words_position": Examples(
        {"keyword": "blue"},
        ["The blue sea is blue today", "Oh, Blue skies, blue seas!", "So blue, blue indeed."],
        ["Blue is the sea today", "The blue sea is deep", "blue"],
    ),
}
