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
from seedbed.suites.custom.command_servers import CommandServers
from seedbed.suites.custom.commands import Command
from seedbed.suites.custom.options import PromptOptions, signature_fields
from seedbed.suites.custom.python_systems import from_python
from seedbed.suites.custom.replies import JsonReply
from seedbed.suites.kit.images import has_images, is_image
from seedbed.suites.kit.program import Program
from seedbed.sweep.given import given

_make_signature = cast(Any, dspy.Signature)
"""Its metaclass makes a class where a call would make an instance."""


def build(context: PhaseContext, options: PromptOptions) -> Callable[..., Any]:
    wrong = options.misfit(context.benchmark)
    if wrong is not None:
        raise UserError(f"field {wrong[0]}: {wrong[1]}")
    if options.command is not None:
        _ = options.words  # what may not be started, or is not there, is no failure of a sample
        return Command(context, options) if options.kind == "program" else CommandServers(context, options)
    _check_images(context)
    if options.python is not None:
        return from_python(given(options.python), options.answer)
    shown = _drawn(context.benchmark, options.examples, context.seed)
    if options.prompt is not None:
        return Templated(options, shown)
    first = context.benchmark.test[0].inputs
    return Signed(options, shown, [name for name, value in first.items() if is_image(value)])


def _check_images(context: PhaseContext) -> None:
    if has_images(context.benchmark.test[:1]) and cast(Any, context.lm("task")).takes_images is False:
        model = context.lm("task").model
        raise UserError(f"{model}: takes no images, and the cases have some; ask a model that does.")


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

    def __init__(self, options: PromptOptions, examples: Sequence[Case], images: Sequence[str] = ()) -> None:
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
        for name in [name for name in self._inputs if name in images]:
            signature = signature.with_updated_fields(name, type_=dspy.Image)
        if options.choices is not None:
            signature = signature.with_updated_fields(self.answer_field, type_=Literal[tuple(options.choices)])
        if options.json_schema is not None:
            told = f"a JSON object of the schema {json.dumps(options.json_schema, ensure_ascii=False)}"
            signature = signature.with_updated_fields(self.answer_field, type_=dict[str, Any], desc=told)
        self.predict = dspy.Predict(signature) if options.module == "predict" else dspy.ChainOfThought(signature)
        for predictor in self.predictors():
            predictor.demos = [_example(case, self.answer_field, images=True) for case in examples]

    async def aforward(self, **inputs: Any) -> dspy.Prediction:
        given = {name: inputs[name] for name in self._inputs}
        reply = await self.predict.acall(**{name: _as_image(v) if is_image(v) else v for name, v in given.items()})
        found = dict(reply.items())
        answer = found[self.answer_field]
        if self._reply is not None:
            answer = self._reply.checked(answer)
            found |= answer
            answer = _scored_field(answer, None)
        return dspy.Prediction(**{**found, "answer": answer})


def _as_image(url: str) -> Any:
    return cast(Any, dspy.Image)(url)


def _scored_field(answer: dict[str, Any], chosen: str | None) -> Any:
    """What of an object is compared with the gold answer: the field chosen or named so, its only one, or all of it."""
    name = chosen or "answer"
    if name in answer:
        return answer[name]
    return next(iter(answer.values())) if len(answer) == 1 else answer


def _drawn(benchmark: Benchmark, count: int, seed: int) -> list[Case]:
    return random.Random(seed).sample(list(benchmark.train), count)  # noqa: S311 - a reproducible draw, no secret


def _example(case: Case, answer: str, *, images: bool = False) -> dspy.Example:
    gold = case.gold[0] if isinstance(case.gold, list) and case.gold else case.gold
    inputs = {name: _as_image(value) if images and is_image(value) else value for name, value in case.inputs.items()}
    return dspy.Example(**{**inputs, answer: gold}).with_inputs(*inputs)
