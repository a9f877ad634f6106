"""Loaders of MKQA and XQuAD, as their authors publish them."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from seedbed.errors import UserError
from seedbed.suite import Benchmark, Case
from seedbed.suites.crosslingual.cases import benchmark, case_of
from seedbed.suites.crosslingual.documents import Document
from seedbed.suites.crosslingual.options import CorpusOptions, XquadOptions
from seedbed.suites.crosslingual.scripts import language_mask
from seedbed.suites.kit.rows import Row, read_rows

_MKQA_NAMES = ("mkqa.jsonl", "mkqa.jsonl.gz")
_XQUAD_NAME = re.compile(r"xquad\.([a-z_A-Z-]+)\.json")


def load_mkqa(options: CorpusOptions) -> Benchmark:
    """mkqa.jsonl[.gz], or a folder with it and, if documents are to be retrieved, a corpus.jsonl. Questions that have
    no text for an answer, in all languages alike, are left out and counted by the type of their answer."""
    source = options.path
    assert source is not None
    file = _mkqa_file(source) if source.is_dir() else source
    cases: list[Case] = []
    excluded: Counter[str] = Counter()
    for row in read_rows(file, shape="{example_id, queries, answers}"):
        try:
            cases += _mkqa_cases(row, excluded)
        except (KeyError, IndexError, TypeError, AttributeError, ValueError, StopIteration) as error:
            raise _unlike(row, "a record of MKQA", error) from None
    corpus = file.with_name("corpus.jsonl")
    documents = corpus if source.is_dir() and corpus.exists() else []
    return benchmark(file.name.partition(".")[0], file, cases, documents, options, excluded)


def load_xquad(options: XquadOptions) -> Benchmark:
    """A folder with xquad.LANG.json files. Questions are asked question by question, each in all its languages, so that
    a limit of five hundred with five languages asks a hundred questions a language. Documents are the paragraphs."""
    folder = options.path
    assert folder is not None
    files = {match[1]: path for path in sorted(folder.glob("*.json")) if (match := _XQUAD_NAME.fullmatch(path.name))}
    if not files:
        raise UserError(f"{folder}: holds no xquad.LANG.json file; give the folder of XQuAD as published.")
    for lang in options.documents or []:
        if lang not in files:
            raise UserError(f"{folder}: documents: there is no xquad.{lang}.json; there are {', '.join(files)}.")
    asked: dict[str, list[Case]] = {}
    documents: list[Document] = []
    for lang, path in files.items():
        try:
            _known(lang)
        except ValueError as error:
            raise UserError(f"{path}: {error}; take the file out of the folder.") from None
        for doc_id, title, paragraph in _paragraphs(path):
            if options.documents is None or lang in options.documents:
                documents.append(Document(f"{doc_id}-{lang}", lang, title, paragraph["context"]))
            for question_id, question, gold in paragraph["qas"]:
                case = case_of(f"{question_id}:{lang}", question_id, lang, question, gold)
                asked.setdefault(question_id, []).append(case)
    cases = [case for group in asked.values() for case in group]
    return benchmark("xquad", folder, cases, documents, options)


def _mkqa_file(folder: Path) -> Path:
    for name in _MKQA_NAMES:
        if (folder / name).exists():
            return folder / name
    raise UserError(f"{folder}: holds neither {' nor '.join(_MKQA_NAMES)}.")


def _mkqa_cases(row: Row, excluded: Counter[str]) -> list[Case]:
    """A question in each of its languages; what is left out is counted."""
    question_id, given = str(row.data["example_id"]), row.data["answers"]
    answered = {lang: _accepted(answers) for lang, answers in given.items()}
    if not any(answered.values()):
        excluded[f"no answer text ({next(iter(given.values()))[0]['type']})"] += 1
        return []
    excluded["no answer text in this language"] += sum(not accepted for accepted in answered.values())
    return [
        case_of(f"{question_id}:{lang}", question_id, _known(lang), _text(row.data["queries"][lang]), accepted)
        for lang, accepted in sorted(answered.items())
        if accepted
    ]


def _accepted(answers: Sequence[Mapping[str, Any]]) -> list[str]:
    texts = [text for answer in answers for text in (answer.get("text"), *(answer.get("aliases") or ()))]
    return list(dict.fromkeys(_text(text) for text in texts if text))


def _paragraphs(path: Path) -> Iterator[tuple[str, str, dict[str, Any]]]:
    """Id, title and record of each paragraph; ids are the same in all languages, for the files are parallel."""
    for number, article in enumerate(read_rows(path, shape="{title, paragraphs}")):
        try:
            for part, paragraph in enumerate(article.data["paragraphs"]):
                title = str(article.data.get("title", "")).replace("_", " ")
                qas = [(str(qa["id"]), _text(qa["question"]), _texts(qa["answers"])) for qa in paragraph["qas"]]
                yield f"{number:02d}-{part:02d}", title, {"context": _text(paragraph["context"]), "qas": qas}
        except (KeyError, TypeError) as error:
            raise _unlike(article, "an article of XQuAD", error) from None


def _texts(answers: Sequence[Mapping[str, Any]]) -> list[str]:
    return list(dict.fromkeys(_text(answer["text"]) for answer in answers))


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError(f"{value!r} is not a text")
    return value


def _known(lang: str) -> str:
    """The tag, if the script of the language is known."""
    language_mask(lang)
    return lang


def _unlike(row: Row, what: str, error: Exception) -> UserError:
    return row.error(f"not {what} ({type(error).__name__}: {error}); take the file as published.")
