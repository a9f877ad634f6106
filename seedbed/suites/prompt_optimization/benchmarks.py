"""The loaders, a function a benchmark. Every case says of which kind it is; programs and scorers go by that."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, cast

from seedbed.errors import UserError
from seedbed.suite import Benchmark, Case
from seedbed.suites.prompt_optimization import split_rules
from seedbed.suites.prompt_optimization.files import DATA, Source, load, read_corpus, repeated
from seedbed.suites.prompt_optimization.options import (
    AimeOptions,
    HoverOptions,
    IfbenchOptions,
    LiveBenchOptions,
    PapillonOptions,
    SplitOptions,
)
from seedbed.suites.prompt_optimization.retrieval import Corpus

_BOXED = re.compile(r"\\(?:boxed|framebox)\{\s*(\d+)\s*\}")


def hotpot(options: SplitOptions) -> Benchmark:
    """HotpotQA, as released ([title, sentences] pairs) or as on the hub (columns). Without a corpus.jsonl the articles
    that come with the questions are searched."""
    contexts: dict[str, str] = {}

    def make(source: Source) -> Case:
        for title, sentences in _pairs(source, "context", "sentences") if source.row.get("context") else []:
            contexts.setdefault(title, "".join(sentences))
        return Case(
            sample_id=source.name("id", "_id"),
            inputs={"question": source.get("question")},
            gold=str(source.get("answer")),
            meta={"kind": "hotpot", "titles": _titles(source)},
        )

    made = load("HotpotQABench", options, make, split_rules.HOTPOT)
    articles = read_corpus(options.path, "HotpotQABench") or list(contexts.items())
    return replace(made, resources={"kind": "hotpot", "corpus": Corpus(articles)})


def hover(options: HoverOptions) -> Benchmark:
    """HoVer claims and the articles they are searched in, without which no claim can be worked on."""
    made = hover_claims(options)
    articles = read_corpus(options.path, "hoverBench")
    if not articles:
        at = options.path or DATA / "hoverBench"
        raise UserError(
            f"{at}: HoVer has no articles to search in; put them as corpus.jsonl {{title, text}} beside it."
        )
    return replace(made, resources={"kind": "hover", "corpus": Corpus(articles)})


def hover_claims(options: HoverOptions) -> Benchmark:
    """The claims alone; the articles to be found are the gold, whether the claim is true is not asked."""

    def make(source: Source) -> Case | str:
        titles = _titles(source)
        if options.hops is not None and len(titles) != options.hops:
            return f"not {options.hops} articles to find"
        return Case(
            sample_id=str(source.get("uid", "id")),
            inputs={"claim": source.get("claim")},
            gold={"titles": titles},
            meta={"kind": "hover", "label": source.row.get("label")},
        )

    return load("hoverBench", options, make, split_rules.HOVER)


def papillon(options: PapillonOptions) -> Benchmark:
    """PUPA: a user's query, the answer a strong model gave it, and the private facts in it, parted by ||.

    The hash of the public file names a conversation, of which there may be several queries: they are one cluster.
    """

    def make(source: Source) -> Case | str:
        told = str(source.may_be_empty("pii_units") or "")
        units = list(dict.fromkeys(unit.strip() for unit in told.split("||") if unit.strip()))
        if not units:
            return "no private fact to keep"
        conversation = source.row.get("conversation_hash")
        anonymous = source.row.get("id") is None and conversation
        return Case(
            sample_id=f"{conversation}:{source.number}" if anonymous else source.name("id"),
            cluster=str(conversation) if conversation else None,
            inputs={"user_query": source.get("user_query")},
            gold={"target_response": source.get("target_response"), "pii_units": units},
            meta={"kind": "papillon", "category": source.row.get("predicted_category")},
        )

    return replace(load("Papillon", options, make, split_rules.PUPA), resources={"kind": "papillon"})


def ifbench(options: IfbenchOptions) -> Benchmark:
    """IFBench prompts, whose train file has IFEval's constraints. A prompt with a constraint that no checker knows is
    left out and counted under its name."""
    from seedbed.suites.prompt_optimization.constraints import CHECKERS

    def make(source: Source) -> Case | str:
        kinds = [str(kind) for kind in source.get("instruction_id_list")]
        unknown = sorted(kind for kind in kinds if kind not in CHECKERS)
        if unknown:
            return f"no checker for {', '.join(unknown)}"
        arguments = [_given(own) for own in source.get("kwargs")]
        if len(kinds) != len(arguments):
            raise source.error("column 'kwargs' must have an entry for each constraint.")
        objections = (CHECKERS[kind].objection(own) for kind, own in zip(kinds, arguments, strict=True))
        objection = next((what for what in objections if what), None)
        return objection or Case(
            sample_id=_prompt_id(source),
            inputs={"query": source.get("prompt")},
            gold=None,
            meta={"kind": "ifbench", "constraints": kinds, "arguments": arguments},
        )

    return replace(load("IFBench", options, make, split_rules.IFBENCH), resources={"kind": "ifbench"})


def _given(arguments: Mapping[str, Any] | None) -> dict[str, Any]:
    """The hub's rows name every argument of every kind and leave most of them empty."""
    return {name: value for name, value in (arguments or {}).items() if value is not None}


def _prompt_id(source: Source) -> str:
    """The train file counts its keys anew, so that they clash with those of the test file."""
    return f"train:{source.number}" if "train" in source.path.stem.lower() else str(source.get("key", "id"))


def livebench_math(options: LiveBenchOptions) -> Benchmark:
    """LiveBench's math category: the question is the first turn; how its answer is judged, its subtask tells."""

    def make(source: Source) -> Case:
        turns = source.get("turns", "question", "problem")
        if not turns:
            raise source.error("column 'turns' is empty; the question is its first entry.")
        truth = source.get("ground_truth", "answer")
        return Case(
            sample_id=source.name("question_id", "id"),
            inputs={"problem": turns if isinstance(turns, str) else turns[0]},
            gold=str(truth[-1] if isinstance(truth, list) else truth),
            meta={"kind": "math", "task": source.row.get("task"), "subtask": source.row.get("subtask")},
        )

    return replace(load("LiveBenchMathBench", options, make, split_rules.LIVEBENCH), resources={"kind": "math"})


def aime(options: AimeOptions) -> Benchmark:
    """AIME: integers from 0 to 999. Test problems are asked several times."""

    def make(source: Source) -> Case:
        return Case(
            sample_id=source.name("id", "ID", "problem_idx"),
            inputs={"problem": source.get("problem", "Problem", "question")},
            gold=_integer(source),
            meta={
                "kind": "integer",
                "solution": source.row.get("solution") or source.row.get("Solution"),
                "lenient": options.lenient,
            },
        )

    made = load("AIMEBench", options, make, split_rules.AIME)
    return replace(made, test=repeated(made.test, options.repeats), resources={"kind": "integer"})


def _integer(source: Source) -> str:
    told = str(source.get("answer", "Answer", "solution")).strip()
    found = told if re.fullmatch(r"\d{1,3}", told) else next(iter(reversed(_BOXED.findall(told))), None)
    if found is None:
        raise source.error(f"column 'answer': {told[:40]!r} is no integer from 0 to 999.")
    return str(int(found))


def _titles(source: Source) -> list[str]:
    """The articles that the supporting facts are from, each once."""
    return list(dict.fromkeys(title for title, _ in _pairs(source, "supporting_facts", "sent_id")))


def _pairs(source: Source, column: str, second: str) -> list[tuple[str, Any]]:
    """Titles with what belongs to them, in each of the shapes that releases and the hub have: [[title, x], ...],
    {"title": [...], second: [...]} and [{"key": title, "value": x}, ...]."""
    value = source.get(column)
    try:
        if isinstance(value, Mapping):
            own = cast("Mapping[str, Any]", value)
            return list(zip(map(str, own["title"]), own[second], strict=True))
        return [_pair(entry) for entry in value]
    except (KeyError, IndexError, TypeError, ValueError):
        raise source.error(f"column {column!r}: {str(value)[:60]!r} names no titles.") from None


def _pair(entry: Any) -> tuple[str, Any]:
    if isinstance(entry, Mapping):
        own = cast("Mapping[str, Any]", entry)
        return str(own["key"] if "key" in own else own["title"]), own.get("value")
    return str(entry[0]), entry[1]
