"""The ragas side of rag_bench.py. Runs in a venv of its own and imports nothing of Seedbed.

usage: rag_bench_ragas.py CASES.json LATENCY_MS AT_ONCE PROMPTS.jsonl
"""

from __future__ import annotations

import asyncio
import json
import sys
import time
from pathlib import Path
from typing import Any

from ragas.embeddings.base import BaseRagasEmbedding
from ragas.llms.base import InstructorBaseRagasLLM
from ragas.metrics.collections import (
    AnswerCorrectness,
    AnswerRelevancy,
    ContextPrecision,
    ContextRecall,
    ContextRelevance,
    Faithfulness,
)


class FakeLLM(InstructorBaseRagasLLM):
    """Waits as long as told and gives a value of the type asked for: lists have two items, verdicts hold."""

    def __init__(self, latency_s: float) -> None:
        self.latency_s = latency_s
        self.prompts: list[str] = []

    def generate(self, prompt: str, response_model: Any) -> Any:
        self.prompts.append(prompt)
        schema = response_model.model_json_schema()
        return response_model.model_validate(_value(schema, schema))

    async def agenerate(self, prompt: str, response_model: Any) -> Any:
        await asyncio.sleep(self.latency_s)
        return self.generate(prompt, response_model)


class FakeEmbeddings(BaseRagasEmbedding):
    def embed_text(self, text: str, **_: Any) -> list[float]:
        return [1.0, float(len(text))]

    async def aembed_text(self, text: str, **_: Any) -> list[float]:
        return self.embed_text(text)


def _value(schema: dict[str, Any], root: dict[str, Any]) -> Any:
    if "$ref" in schema:
        return _value(root["$defs"][schema["$ref"].rpartition("/")[2]], root)
    match schema.get("type"):
        case "object":
            return {name: _value(part, root) for name, part in schema.get("properties", {}).items()}
        case "array":
            return [_value(schema["items"], root)] * 2
        case "integer" | "number":
            return 1
        case "boolean":
            return False
        case _:
            return "a statement"


async def _score(case: dict[str, Any], llm: FakeLLM, embeddings: FakeEmbeddings) -> None:
    question, answer, truth = case["question"], case["answer"], case["ground_truth_answer"]
    contexts = case["retrieved_contexts"]
    await asyncio.gather(
        Faithfulness(llm=llm).ascore(user_input=question, response=answer, retrieved_contexts=contexts),
        ContextRelevance(llm=llm).ascore(user_input=question, retrieved_contexts=contexts),
        ContextRecall(llm=llm).ascore(user_input=question, retrieved_contexts=contexts, reference=truth),
        ContextPrecision(llm=llm).ascore(user_input=question, reference=truth, retrieved_contexts=contexts),
        AnswerRelevancy(llm=llm, embeddings=embeddings).ascore(user_input=question, response=answer),
        AnswerCorrectness(llm=llm, embeddings=embeddings).ascore(user_input=question, response=answer, reference=truth),
    )


async def _main(cases: list[dict[str, Any]], latency_s: float, at_once: int) -> tuple[float, list[str]]:
    llm, embeddings, gate = FakeLLM(latency_s), FakeEmbeddings(), asyncio.Semaphore(at_once)

    async def one(case: dict[str, Any]) -> None:
        async with gate:
            await _score(case, llm, embeddings)

    started = time.perf_counter()
    await asyncio.gather(*(one(case) for case in cases))
    return time.perf_counter() - started, llm.prompts


if __name__ == "__main__":
    file, latency_ms, at_once, prompts_file = sys.argv[1:]
    loaded = json.loads(Path(file).read_text(encoding="utf-8"))
    seconds, prompts = asyncio.run(_main(loaded, float(latency_ms) / 1000, int(at_once)))
    Path(prompts_file).write_text("".join(json.dumps(prompt) + "\n" for prompt in prompts), encoding="utf-8")
    print(json.dumps({"calls": len(prompts), "seconds": seconds}))
