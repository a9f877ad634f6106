"""The loaders, a function a benchmark. Every case says of which kind it is; programs and scorers go by that."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from seedbed.errors import UserError
from seedbed.suite import Benchmark, Case
from seedbed.suites.prompt_optimization.files import Source, load, read_corpus, repeated
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
        for title, sentences in _pairs(source.row.get("context") or [], "sentences"):
            contexts.setdefault(str(title), "".join(sentences))
        titles = dict.fromkeys(str(title) for title, _ in _pairs(source.get("supporting_facts"), "sent_id"))
        return Case(
            sample_id=str(source.row.get("id") or source.row.get("_id") or f"row{source.number}"),
            inputs={"question": source.get("question")},
            gold=str(source.get("answer")),
            meta={"kind": "hotpot", "titles": list(titles)},
        )

    made = load("HotpotQABench", options, make)
    articles = read_corpus(options.path, "HotpotQABench") or list(contexts.items())
    return replace(made, resources={"kind": "hotpot", "corpus": Corpus(articles)})


def hover(options: HoverOptions) -> Benchmark:
    """HoVer claims; the articles to be found are the gold, whether the claim is true is not asked."""

    def make(source: Source) -> Case | str:
        titles = list(dict.fromkeys(str(title) for title, _ in _pairs(source.get("supporting_facts"), "sent_id")))
        if options.hops is not None and len(titles) != options.hops:
            return f"not {options.hops} articles to find"
        return Case(
            sample_id=str(source.get("uid", "id")),
            inputs={"claim": source.get("claim")},
            gold={"titles": titles},
            meta={"kind": "hover", "label": source.row.get("label")},
        )

    made = load("hoverBench", options, make)
    return replace(made, resources={"kind": "hover", "corpus": Corpus(read_corpus(options.path, "hoverBench"))})


def papillon(options: PapillonOptions) -> Benchmark:
    """PUPA: a user's query, the answer a strong model gave it, and the private facts in it, parted by ||.

    The hash of the public file names a conversation, of which there may be several queries: they are one cluster.
    """

    def make(source: Source) -> Case | str:
        told = str(source.may_be_empty("pii_units") or "")
        units = [unit.strip() for unit in told.split("||") if unit.strip()]
        if not units:
            return "no private fact to keep"
        conversation = source.row.get("conversation_hash")
        named = f"{conversation}:{source.number}" if conversation else f"row{source.number}"
        return Case(
            sample_id=str(source.row.get("id") or named),
            cluster=str(conversation) if conversation else None,
            inputs={"user_query": source.get("user_query")},
            gold={"target_response": source.get("target_response"), "pii_units": units},
            meta={"kind": "papillon", "category": source.row.get("predicted_category")},
        )

    return replace(load("Papillon", options, make), resources={"kind": "papillon"})


def ifbench(options: IfbenchOptions) -> Benchmark:
    """IFBench prompts. A prompt with a constraint that no checker knows is left out and counted under its name."""
    from seedbed.suites.prompt_optimization.constraints import CHECKERS

    def make(source: Source) -> Case | str:
        kinds = [str(kind) for kind in source.get("instruction_id_list")]
        unknown = sorted(kind for kind in kinds if kind not in CHECKERS)
        if unknown:
            return f"no checker for {', '.join(unknown)}"
        arguments: list[dict[str, Any]] = [
            {name: value for name, value in given.items() if value is not None} for given in source.get("kwargs")
        ]
        if len(kinds) != len(arguments):
            raise UserError(f"{source.path}:{source.number}: column 'kwargs' must have an entry for each constraint.")
        return Case(
            sample_id=str(source.get("key", "id")),
            inputs={"query": source.get("prompt")},
            gold=None,
            meta={"kind": "ifbench", "constraints": kinds, "arguments": arguments},
        )

    return replace(load("IFBench", options, make), resources={"kind": "ifbench"})


def livebench_math(options: LiveBenchOptions) -> Benchmark:
    """LiveBench's math category: the question is the first turn, the ground truth a short expression."""

    def make(source: Source) -> Case:
        turns = source.get("turns", "question", "problem")
        if not turns:
            raise UserError(f"{source.path}:{source.number}: column 'turns' is empty; the question is its first entry.")
        return Case(
            sample_id=str(source.row.get("question_id") or source.row.get("id") or f"row{source.number}"),
            inputs={"problem": turns if isinstance(turns, str) else turns[0]},
            gold=str(source.get("ground_truth", "answer")),
            meta={"kind": "math", "task": source.row.get("task")},
        )

    return replace(load("LiveBenchMathBench", options, make), resources={"kind": "math"})


def aime(options: AimeOptions) -> Benchmark:
    """AIME: integers from 0 to 999. Test problems are asked several times."""

    def make(source: Source) -> Case:
        return Case(
            sample_id=str(source.row.get("id", source.row.get("ID", f"row{source.number}"))),
            inputs={"problem": source.get("problem", "Problem", "question")},
            gold=_integer(source),
            meta={"kind": "integer", "solution": source.row.get("solution") or source.row.get("Solution")},
        )

    made = load("AIMEBench", options, make)
    return replace(made, test=repeated(made.test, options.repeats), resources={"kind": "integer"})


def _integer(source: Source) -> str:
    told = str(source.get("answer", "Answer", "solution")).strip()
    found = told if re.fullmatch(r"\d{1,3}", told) else next(iter(reversed(_BOXED.findall(told))), None)
    if found is None:
        raise UserError(f"{source.path}:{source.number}: column 'answer': {told[:40]!r} is no integer from 0 to 999.")
    return str(int(found))


def _pairs(value: Any, second: str) -> Iterable[tuple[Any, Any]]:
    """Both shapes of a list of pairs: [[title, x], ...] and {"title": [...], second: [...]}."""
    if isinstance(value, dict):
        return list(zip(value["title"], value[second], strict=True))
    return [(pair[0], pair[1]) for pair in value]
