"""For each of IFEval's kinds of constraints: arguments, responses that meet it and responses that do not."""

from __future__ import annotations

from tests.support.ifbench_examples import Examples

_REQUEST = {"prompt_to_repeat": "Name a river. "}

IFEVAL: dict[str, Examples] = {
    "change_case:capital_word_frequency": Examples(
        {"capital_frequency": 2, "capital_relation": "at least"},
        ["NASA and ESA met.", "I AM here.", "A B c"],
        ["Nasa met.", "only NASA", "no capitals"],
    ),
    "change_case:english_capital": Examples(
        {},
        ["THE WEATHER IS NICE TODAY.", "WHERE DID ALL THE PEOPLE GO?", "THERE ARE 3 ROOMS IN THIS OLD HOUSE."],
        ["The weather is nice today.", "DAS WETTER IST HEUTE SCHÖN UND WARM.", "THE WEATHER IS nice TODAY."],
    ),
    "change_case:english_lowercase": Examples(
        {},
        ["the weather is nice today.", "where did all the people go?", "this house has 3 rooms."],
        ["The weather is nice today.", "das wetter ist heute schön und warm.", "the weather in Rome is nice."],
    ),
    "combination:repeat_prompt": Examples(
        _REQUEST,
        ["Name a river. The Rhine.", "name a river. Nile", "\nName a river.\n\nThe Po."],
        ["The Rhine.", "Sure: Name a river. The Rhine.", "Name the river. The Rhine."],
    ),
    "combination:two_responses": Examples(
        {},
        ["One way.\n******\nAnother way.", "******\na\n******\nb\n******", "a ****** b"],
        ["a ****** a", "Only one way.", "a ****** b ****** c"],
    ),
    "detectable_content:number_placeholders": Examples(
        {"num_placeholders": 2},
        ["Dear [name], from [place].", "[a][b][c]", "Call [number]\nor write to [address]."],
        ["Dear [name].", "Dear (name), (place).", "[open only"],
    ),
    "detectable_content:postscript": Examples(
        {"postscript_marker": "P.S."},
        ["Bye.\nP.S. Write soon.", "Bye. p.s. again", "Bye\n\nP. S. Later"],
        ["Bye.", "PS: Write soon.", "Bye. P.S"],
    ),
    "detectable_format:constrained_response": Examples(
        {},
        ["My answer is yes.", "Well. My answer is maybe.", " My answer is no. "],
        ["Yes.", "my answer is yes.", "My answer is yes"],
    ),
    "detectable_format:json_format": Examples(
        {},
        ['{"a": 1}', '```json\n{"a": [1, 2]}\n```', "```\n[]\n```"],
        ["a: 1", '{"a": 1,}', 'Here: {"a": 1}'],
    ),
    "detectable_format:multiple_sections": Examples(
        {"section_spliter": "Section", "num_sections": 2},
        ["Section 1\na\nSection 2\nb", "Section1 x Section2 y", "Section 1 a Section 2 b Section 3 c"],
        ["Section 1\na", "SECTION 1\nSECTION 2", "Section one, Section two"],
    ),
    "detectable_format:number_bullet_lists": Examples(
        {"num_bullets": 2},
        ["* a\n* b", "Some:\n- a\n- b", "  * a\ntext\n- b"],
        ["* a", "* a\n* b\n* c", "**a**\n**b**"],
    ),
    "detectable_format:number_highlighted_sections": Examples(
        {"num_highlights": 2},
        ["*one* and *two*", "**one** and **two**", "*a* b **c**"],
        ["*one* only", "* a\n* b", "** ** and **"],
    ),
    "detectable_format:title": Examples(
        {},
        ["<<A day>>\nIt was.", "Text <<x>> text", "<< Of mice >>"],
        ["<A day>", "<<>>", "<<A\nday>>"],
    ),
    "keywords:existence": Examples(
        {"keywords": ["tide", "moon"]},
        ["The moon moves the tide.", "TIDES, MOONS", "Moonlit tides"],
        ["The moon.", "The tide.", "Neither."],
    ),
    "keywords:forbidden_words": Examples(
        {"forbidden_words": ["sea", "ship"]},
        ["A lake.", "The season of friendship.", "Seas and ships?"],
        ["The sea.", "A SHIP sails.", "By the sea, a ship."],
    ),
    "keywords:frequency": Examples(
        {"keyword": "dig", "frequency": 2, "relation": "at least"},
        ["dig and dig", "Dig! He digs.", "digital digits"],
        ["dig", "nothing", "dug and dug"],
    ),
    "keywords:letter_frequency": Examples(
        {"letter": "S", "let_frequency": 3, "let_relation": "less than"},
        ["Sun", "moon", "a sea star"],
        ["Sisters", "grass is", "SSS"],
    ),
    "language:response_language": Examples(
        {"language": "de"},
        ["Das Wetter ist heute schön und warm.", "Wir gehen morgen in die Stadt.", "Wo ist denn mein Hund geblieben?"],
        ["The weather is nice and warm today.", "Il fait beau et chaud aujourd'hui.", "天气很好，我们出去走走。"],
    ),
    "length_constraints:nth_paragraph_first_word": Examples(
        {"num_paragraphs": 2, "nth_paragraph": 2, "first_word": "Total"},
        ["One.\n\nTotal is two.", "One.\n\n'total, it is.", "One\nmore.\n\nTOTAL!"],
        ["Total.\n\nOne.", "One.\n\nTotally.", "One.\n\nTotal.\n\nThree."],
    ),
    "length_constraints:number_paragraphs": Examples(
        {"num_paragraphs": 2},
        ["a\n***\nb", "a *** b", "***\na\n***\nb"],
        ["a", "a *** b *** c", "a *** *** b"],
    ),
    "length_constraints:number_sentences": Examples(
        {"num_sentences": 3, "relation": "less than"},
        ["One. Two.", "See Dr. Ray at 3.15 p.m. today. Go!", "No end"],
        ["One. Two. Three.", "A! B? C. D.", "1. One. 2. Two."],
    ),
    "length_constraints:number_words": Examples(
        {"num_words": 3, "relation": "at least"},
        ["one two three", "It isn't", "a, b, c, d"],
        ["one two", "hello", "well-known"],
    ),
    "punctuation:no_comma": Examples({}, ["No pause here.", "a; b", "Ein、Strich"], ["Well, yes.", "1,000", "a,b"]),
    "startend:end_checker": Examples(
        {"end_phrase": "Any other questions?"},
        ["Done. Any other questions?", '"Any other QUESTIONS?"', "any other questions?\n"],
        ["Any other questions? Yes.", "Done.", "Any questions?"],
    ),
    "startend:quotation": Examples(
        {},
        ['"All of it."', ' "a\nb" ', '"He said "no"."'],
        ["“All of it.”", '"Open', '"'],
    ),
}
