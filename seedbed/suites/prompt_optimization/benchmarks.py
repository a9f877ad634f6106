"""The loaders, a function a benchmark. Every case says of which kind it is; programs and scorers go by that."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, cast

from seedbed.errors import UserError
from seedbed.suite import Benchmark, Case
from seedbed.suites.kit.repeats import repeated
from seedbed.suites.kit.rows import Row
from seedbed.suites.prompt_optimization import split_rules
from seedbed.suites.prompt_optimization.files import DATA, corpus_file, load
from seedbed.suites.prompt_optimization.options import (
    AimeOptions,
    HoverOptions,
    IfbenchOptions,
    LiveBenchOptions,
    PapillonOptions,
    SplitOptions,
)
from seedbed.suites.prompt_optimization.retrieval import Corpus, read_articles

_BOXED = re.compile(r"\\(?:boxed|framebox)\{\s*(\d+)\s*\}")


def hotpot(options: SplitOptions) -> Benchmark:
    """HotpotQA, as released ([title, sentences] pairs) or as on the hub (columns). Without a corpus.jsonl the articles
    that come with the questions are searched."""
    contexts: dict[str, str] = {}

    def make(row: Row) -> Case:
        for title, sentences in _pairs(row, "context", "sentences") if row.data.get("context") else []:
            contexts.setdefault(title, "".join(sentences))
        return Case(
            sample_id=_name(row, "id", "_id"),
            inputs={"question": row.text("question")},
            gold=row.text("answer"),
            meta={"kind": "hotpot", "titles": _titles(row)},
        )

    made = load("HotpotQABench", options, make, split_rules.HOTPOT)
    file = corpus_file(options.path, "HotpotQABench")
    articles = read_articles(file) if file else list(contexts.items())
    return replace(made, resources={"kind": "hotpot", "corpus": Corpus(articles)})


def hover(options: HoverOptions) -> Benchmark:
    """HoVer claims and the articles they are searched in, without which no claim can be worked on."""
    made = hover_claims(options)
    file = corpus_file(options.path, "hoverBench")
    if file is None:
        at = options.path or DATA / "hoverBench"
        raise UserError(
            f"{at}: HoVer has no articles to search in; put them as corpus.jsonl {{title, text}} beside it."
        )
    return replace(made, resources={"kind": "hover", "corpus": Corpus(read_articles(file))})


def hover_claims(options: HoverOptions) -> Benchmark:
    """The claims alone; the articles to be found are the gold, whether the claim is true is not asked."""

    def make(row: Row) -> Case | str:
        titles = _titles(row)
        if options.hops is not None and len(titles) != options.hops:
            return f"not {options.hops} articles to find"
        return Case(
            sample_id=row.identity("uid", "id"),
            inputs={"claim": row.text("claim")},
            gold={"titles": titles},
            meta={"kind": "hover", "label": row.data.get("label")},
        )

    return load("hoverBench", options, make, split_rules.HOVER)


def papillon(options: PapillonOptions) -> Benchmark:
    """PUPA: a user's query, the answer a strong model gave it, and the private facts in it, parted by ||.

    The hash of the public file names a conversation, of which there may be several queries: they are one cluster.
    """

    def make(row: Row) -> Case | str:
        if "pii_units" not in row.data:
            row.need("pii_units")
        told = (unit.strip() for text in row.texts("pii_units") for unit in text.split("||"))
        units = list(dict.fromkeys(unit for unit in told if unit))
        if not units:
            return "no private fact to keep"
        conversation = row.data.get("conversation_hash")
        anonymous = row.data.get("id") is None and conversation
        return Case(
            sample_id=f"{conversation}:{row.position}" if anonymous else _name(row, "id"),
            cluster=str(conversation) if conversation else None,
            inputs={"user_query": row.text("user_query")},
            gold={"target_response": row.text("target_response"), "pii_units": units},
            meta={"kind": "papillon", "category": row.data.get("predicted_category")},
        )

    return replace(load("Papillon", options, make, split_rules.PUPA), resources={"kind": "papillon"})


def ifbench(options: IfbenchOptions) -> Benchmark:
    """IFBench prompts, whose train file has IFEval's constraints. A prompt with a constraint that no checker knows is
    left out and counted under its name."""
    from seedbed.suites.prompt_optimization.constraints import CHECKERS

    def make(row: Row) -> Case | str:
        kinds = [str(kind) for kind in _list(row, "instruction_id_list")]
        unknown = sorted(kind for kind in kinds if kind not in CHECKERS)
        if unknown:
            return f"no checker for {', '.join(unknown)}"
        arguments = [_given(row, own) for own in _list(row, "kwargs")]
        if len(kinds) != len(arguments):
            raise row.error(
                f"field kwargs: has {len(arguments)} entries for {len(kinds)} constraints; give each one its own."
            )
        objections = (CHECKERS[kind].objection(own) for kind, own in zip(kinds, arguments, strict=True))
        objection = next((what for what in objections if what), None)
        return objection or Case(
            sample_id=_prompt_id(row),
            inputs={"query": row.text("prompt")},
            gold=None,
            meta={"kind": "ifbench", "constraints": kinds, "arguments": arguments},
        )

    return replace(load("IFBench", options, make, split_rules.IFBENCH), resources={"kind": "ifbench"})


def _given(row: Row, arguments: Any) -> dict[str, Any]:
    """The hub's rows name every argument of every kind and leave most of them empty."""
    if not isinstance(arguments or {}, Mapping):
        raise row.wrong("kwargs", arguments, "is no object of arguments; write {...}")
    own = cast("Mapping[str, Any]", arguments or {})
    return {name: value for name, value in own.items() if value is not None}


def _prompt_id(row: Row) -> str:
    """The train file counts its keys anew, so that they clash with those of the test file."""
    return f"train:{row.position}" if "train" in row.path.stem.lower() else row.identity("key", "id")


def _list(row: Row, name: str) -> list[Any]:
    value = row.need(name)
    if not isinstance(value, list):
        raise row.wrong(name, value, "is no list; write [...]")
    return cast("list[Any]", value)


def _name(row: Row, *fields: str) -> str:
    """The id of the first of the fields that the row has, else its number in the file."""
    return row.identity(*fields) if any(row.data.get(field) is not None for field in fields) else f"row{row.position}"


def livebench_math(options: LiveBenchOptions) -> Benchmark:
    """LiveBench's math category: the question is the first turn; how its answer is judged, its subtask tells."""

    def make(row: Row) -> Case:
        truth = row.need("ground_truth", "answer")
        return Case(
            sample_id=_name(row, "question_id", "id"),
            inputs={"problem": _first_turn(row)},
            gold=str(truth[-1] if isinstance(truth, list) else truth),
            meta={"kind": "math", "task": row.data.get("task"), "subtask": row.data.get("subtask")},
        )

    return replace(load("LiveBenchMathBench", options, make, split_rules.LIVEBENCH), resources={"kind": "math"})


def _first_turn(row: Row) -> str:
    name = next((name for name in ("turns", "question", "problem") if row.data.get(name) is not None), "turns")
    turns = row.texts(name) if row.need(name) else []
    if not turns:
        raise row.error(f"field {name} is empty; the question is its first entry.")
    return turns[0]


def aime(options: AimeOptions) -> Benchmark:
    """AIME: integers from 0 to 999. Test problems are asked several times."""

    def make(row: Row) -> Case:
        return Case(
            sample_id=_name(row, "id", "ID", "problem_idx"),
            inputs={"problem": row.text("problem", "Problem", "question")},
            gold=_integer(row),
            meta={
                "kind": "integer",
                "solution": row.data.get("solution") or row.data.get("Solution"),
                "lenient": options.lenient,
            },
        )

    made = load("AIMEBench", options, make, split_rules.AIME)
    return replace(made, test=repeated(made.test, options.repeats), resources={"kind": "integer"})


def _integer(row: Row) -> str:
    told = str(row.need("answer", "Answer", "solution")).strip()
    found = told if re.fullmatch(r"\d{1,3}", told) else next(iter(reversed(_BOXED.findall(told))), None)
    if found is None:
        raise row.wrong("answer", told, "is no integer from 0 to 999, nor ends in a boxed one")
    return str(int(found))


def _titles(row: Row) -> list[str]:
    """The articles that the supporting facts are from, each once."""
    return list(dict.fromkeys(title for title, _ in _pairs(row, "supporting_facts", "sent_id")))


def _pairs(row: Row, column: str, second: str) -> list[tuple[str, Any]]:
    """Titles with what belongs to them, in each of the shapes that releases and the hub have: [[title, x], ...],
    {"title": [...], second: [...]} and [{"key": title, "value": x}, ...]."""
    value = row.need(column)
    try:
        if isinstance(value, Mapping):
            own = cast("Mapping[str, Any]", value)
            return list(zip(map(str, own["title"]), own[second], strict=True))
        return [_pair(entry) for entry in value]
    except (KeyError, IndexError, TypeError, ValueError):
        raise row.wrong(column, value, 'names no titles; write [["title", 0], ...]') from None


def _pair(entry: Any) -> tuple[str, Any]:
    if isinstance(entry, Mapping):
        own = cast("Mapping[str, Any]", entry)
        return str(own["key"] if "key" in own else own["title"]), own.get("value")
    return str(entry[0]), entry[1]
