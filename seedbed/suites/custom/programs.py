"""From the options of a system to a DSPy module, which every optimizer can work on."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Sequence
from typing import Any, Literal, cast

import dspy

from seedbed.errors import UserError
from seedbed.suite import Benchmark, Case, PhaseContext
from seedbed.suites.custom.adapter import TemplateAdapter
from seedbed.suites.custom.options import PromptOptions, signature_fields
from seedbed.suites.custom.python_systems import from_python
from seedbed.suites.custom.replies import JsonReply
from seedbed.suites.kit.program import Program
from seedbed.sweep.given import given

_make_signature = cast(Any, dspy.Signature)
"""Its metaclass makes a class where a call would make an instance."""


def build(context: PhaseContext, options: PromptOptions) -> Callable[..., Any]:
    wrong = options.misfit(context.benchmark)
    if wrong is not None:
        raise UserError(f"field {wrong[0]}: {wrong[1]}")
    if options.python is not None:
        return from_python(given(options.python), options.answer)
    shown = _drawn(context.benchmark, options.examples, context.seed)
    return Templated(options, shown) if options.prompt is not None else Signed(options, shown)


class Templated(Program):
    """A prompt of the user's own, sent as it is written."""

    def __init__(self, options: PromptOptions, examples: Sequence[Case]) -> None:
        super().__init__()
        self._columns = options.template_columns
        self._reply = None if options.json_schema is None else JsonReply(options.json_schema)
        # A column may have the name of the output.
        self.answer_field = "answer" if "answer" not in self._columns else "reply"
        self._scored = options.answer
        user = options.prompt if options.system is not None else None
        self._adapter = TemplateAdapter(user, self._columns, options.choices or (), self._reply)
        fields: dict[str, Any] = {name: (Any, dspy.InputField()) for name in self._columns}
        fields[self.answer_field] = (Any, dspy.OutputField())
        text = options.system if options.system is not None else options.prompt
        self.predict = dspy.Predict(_make_signature(fields, text or ""))
        self.predict.demos = [_example(case, self.answer_field) for case in examples]

    async def aforward(self, **inputs: Any) -> dspy.Prediction:
        given = {name: inputs[name] for name in self._columns}
        with dspy.context(adapter=self._adapter):
            reply = await self.predict.acall(**given, config=self._config())
        answer = reply[self.answer_field]
        if self._reply is None:
            return dspy.Prediction(answer=answer)
        return dspy.Prediction(**{**answer, "answer": _scored_field(answer, self._scored)})

    def _config(self) -> dict[str, Any]:
        lm = cast(Any, dspy.settings.lm)
        takes = self._reply is not None and "response_format" in lm.supported_params
        return {"response_format": self._reply.response_format} if self._reply is not None and takes else {}


class Signed(Program):
    """A signature in DSPy's own format."""

    def __init__(self, options: PromptOptions, examples: Sequence[Case]) -> None:
        super().__init__()
        text = options.signature or ""
        self._inputs, outputs = signature_fields(text)
        self.answer_field = options.answer or ("answer" if "answer" in outputs else outputs[-1])
        if self.answer_field not in outputs:
            raise UserError(f"field answer: {self.answer_field!r} is no output of {text!r}; name one of its outputs.")
        self._reply = None if options.json_schema is None else JsonReply(options.json_schema)
        try:
            signature = _make_signature(text, *([options.instructions] if options.instructions else []))
        except Exception as error:
            raise UserError(f"field signature: DSPy cannot read {text!r} ({error}).") from None
        if options.choices is not None:
            signature = signature.with_updated_fields(self.answer_field, type_=Literal[tuple(options.choices)])
        if options.json_schema is not None:
            told = f"a JSON object of the schema {json.dumps(options.json_schema, ensure_ascii=False)}"
            signature = signature.with_updated_fields(self.answer_field, type_=dict[str, Any], desc=told)
        self.predict = dspy.Predict(signature) if options.module == "predict" else dspy.ChainOfThought(signature)
        for predictor in self.predictors():
            predictor.demos = [_example(case, self.answer_field) for case in examples]

    async def aforward(self, **inputs: Any) -> dspy.Prediction:
        reply = await self.predict.acall(**{name: inputs[name] for name in self._inputs})
        found = dict(reply.items())
        answer = found[self.answer_field]
        if self._reply is not None:
            answer = self._reply.checked(answer)
            found |= answer
            answer = _scored_field(answer, None)
        return dspy.Prediction(**{**found, "answer": answer})


def _scored_field(answer: dict[str, Any], chosen: str | None) -> Any:
    """What of an object is compared with the gold answer: the field chosen or named so, its only one, or all of it."""
    name = chosen or "answer"
    if name in answer:
        return answer[name]
    return next(iter(answer.values())) if len(answer) == 1 else answer


def _drawn(benchmark: Benchmark, count: int, seed: int) -> list[Case]:
    return random.Random(seed).sample(list(benchmark.train), count)  # noqa: S311 - a reproducible draw, no secret


def _example(case: Case, answer: str) -> dspy.Example:
    gold = case.gold[0] if isinstance(case.gold, list) and case.gold else case.gold
    return dspy.Example(**{**case.inputs, answer: gold}).with_inputs(*case.inputs)
