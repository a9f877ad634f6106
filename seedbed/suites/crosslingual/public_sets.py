"""Loaders of MKQA and XQuAD, as their authors publish them."""

from __future__ import annotations

import gzip
import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from seedbed.errors import UserError
from seedbed.suite import Benchmark, Case
from seedbed.suites.crosslingual.cases import benchmark, case_of, read_corpus
from seedbed.suites.crosslingual.options import CorpusOptions, XquadOptions
from seedbed.suites.crosslingual.retrieval import Document

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
    for number, row in enumerate(_mkqa_rows(file), start=1):
        try:
            answered = {lang: _accepted(answers) for lang, answers in row["answers"].items()}
            if not any(answered.values()):
                kind = next(iter(row["answers"].values()))[0]["type"]
                excluded[f"no answer text ({kind})"] += 1
                continue
            question_id = str(row["example_id"])
            for lang in sorted(answered):
                if answered[lang]:
                    cases.append(
                        case_of(f"{question_id}:{lang}", question_id, lang, row["queries"][lang], answered[lang])
                    )
                else:
                    excluded["no answer text in this language"] += 1
        except (KeyError, IndexError, TypeError, AttributeError) as error:
            what = f"{type(error).__name__}: {error}"
            raise UserError(f"{file}:{number}: not a record of MKQA ({what}); take the file as published.") from None
    corpus = file.with_name("corpus.jsonl")
    documents = read_corpus(corpus) if source.is_dir() and corpus.exists() else []
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
        for doc_id, title, paragraph in _paragraphs(path):
            if options.documents is None or lang in options.documents:
                documents.append(Document(f"{doc_id}-{lang}", lang, title, paragraph["context"]))
            for qa in paragraph["qas"]:
                gold = list(dict.fromkeys(answer["text"] for answer in qa["answers"]))
                case = case_of(f"{qa['id']}:{lang}", qa["id"], lang, qa["question"], gold)
                asked.setdefault(qa["id"], []).append(case)
    cases = [case for group in asked.values() for case in group]
    return benchmark("xquad", folder, cases, documents, options)


def _mkqa_file(folder: Path) -> Path:
    for name in _MKQA_NAMES:
        if (folder / name).exists():
            return folder / name
    raise UserError(f"{folder}: holds neither {' nor '.join(_MKQA_NAMES)}.")


def _mkqa_rows(path: Path) -> Iterator[dict[str, Any]]:
    with gzip.open(path, "rt", encoding="utf-8") if path.suffix == ".gz" else path.open(encoding="utf-8") as lines:
        for number, line in enumerate(lines, start=1):
            if not line.strip():
                continue
            try:
                yield json.loads(line)
            except json.JSONDecodeError as error:
                raise UserError(f"{path}:{number}: not valid JSON ({error.msg}); mend or remove the line.") from None


def _accepted(answers: Sequence[Mapping[str, Any]]) -> list[str]:
    texts = [text for answer in answers for text in (answer.get("text"), *(answer.get("aliases") or ()))]
    return list(dict.fromkeys(text for text in texts if text))


def _paragraphs(path: Path) -> Iterator[tuple[str, str, dict[str, Any]]]:
    """Id, title and record of each paragraph; ids are the same in all languages, for the files are parallel."""
    try:
        articles = json.loads(path.read_text(encoding="utf-8"))["data"]
        for number, article in enumerate(articles):
            for part, paragraph in enumerate(article["paragraphs"]):
                title = str(article.get("title", "")).replace("_", " ")
                yield f"{number:02d}-{part:02d}", title, {"context": paragraph["context"], "qas": paragraph["qas"]}
    except (json.JSONDecodeError, KeyError, TypeError) as error:
        what = f"{type(error).__name__}: {error}"
        raise UserError(f"{path}: not a file of XQuAD ({what}); take it as published.") from None
