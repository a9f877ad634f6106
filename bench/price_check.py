"""Dollars against litellm's own calculator: every chat model of the bundled list, in twenty shapes of usage.

    python -m bench.price_check            # all of them, a minute or two
    python -m bench.price_check 50         # every fiftieth model

Prints what differs and by how much, and ends with the counts."""

from __future__ import annotations

import logging
import os
import re
import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from seedbed.lm.prices import chat_models, cost_of

os.environ.setdefault("LITELLM_LOCAL_MODEL_COST_MAP", "True")

logger = logging.getLogger("bench")

TOLERANCE_USD = 1e-12
ASKS_ELSEWHERE = frozenset({"github_copilot"})
"""Providers that litellm signs in with before it names a price."""


@dataclass(frozen=True)
class Shape:
    """A way in which a call may be used and charged."""

    name: str
    usage: Mapping[str, Any]
    service_tier: str | None = None
    batch: bool = False


def _chat(sent: int, received: int, prompt: Mapping[str, Any] | None = None, reply: Mapping[str, Any] | None = None,
          **more: Any) -> dict[str, Any]:  # fmt: skip
    usage: dict[str, Any] = {"prompt_tokens": sent, "completion_tokens": received, "total_tokens": sent + received}
    if prompt:
        usage["prompt_tokens_details"] = dict(prompt)
    if reply:
        usage["completion_tokens_details"] = dict(reply)
    return usage | more


def _anthropic(sent: int, received: int, read: int, written: int, hour: int = 0, **more: Any) -> dict[str, Any]:
    return {
        "input_tokens": sent,
        "output_tokens": received,
        "cache_read_input_tokens": read,
        "cache_creation_input_tokens": written,
        "cache_creation": {"ephemeral_5m_input_tokens": written - hour, "ephemeral_1h_input_tokens": hour},
        **more,
    }


SHAPES: Sequence[Shape] = (
    Shape("plain", _chat(1234, 567)),
    Shape("long prompt", _chat(130_001, 700)),
    Shape("longer prompt", _chat(250_000, 1_500)),
    Shape("longest prompt", _chat(600_000, 8_000)),
    Shape("cached", _chat(5_000, 300, {"cached_tokens": 4_096})),
    Shape("cached, long", _chat(300_000, 300, {"cached_tokens": 290_000})),
    Shape("written", _chat(5_000, 300, {"cached_tokens": 1_000, "cache_write_tokens": 3_000})),
    Shape("reasoning", _chat(900, 4_000, None, {"reasoning_tokens": 3_500})),
    Shape("audio in", _chat(2_000, 200, {"audio_tokens": 1_500})),
    Shape("audio out", _chat(200, 2_000, {"audio_tokens": 150}, {"audio_tokens": 1_800})),
    Shape("images", _chat(3_000, 200, {"image_tokens": 2_500, "text_tokens": 500})),
    Shape("priority", _chat(1_234, 567), service_tier="priority"),
    Shape("priority, long, cached", _chat(300_000, 900, {"cached_tokens": 200_000}), service_tier="priority"),
    Shape("flex", _chat(1_234, 567, {"cached_tokens": 1_024}), service_tier="flex"),
    Shape("flex, long", _chat(300_000, 567, None, {"reasoning_tokens": 300}), service_tier="flex"),
    Shape("served at priority", _chat(1_234, 567, service_tier="priority")),
    Shape("batch", _chat(20_000, 900, {"cached_tokens": 4_096}), batch=True),
    Shape("batch, long", _chat(300_000, 900), batch=True),
    Shape("Anthropic's form", _anthropic(700, 400, 3_000, 2_000)),
    Shape("Anthropic's, for an hour, long", _anthropic(700, 400, 230_000, 40_000, 25_000)),
)

_PRIORITY = ("priority", "priority, long, cached", "served at priority")
_BATCH = ("batch", "batch, long")
EXCEPTIONS: Sequence[tuple[str, Sequence[str], str]] = (
    (r"github_copilot/", (), "litellm signs in at GitHub before it names a price"),
    (r"fireworks_ai/", _PRIORITY, "litellm's function for them takes no service tier; its list has one"),
    (r"bedrock_mantle/us-gov-", (), "litellm drops the region of the name and takes the price of another"),
    (r".*twelvelabs\.pegasus-1-", (), "videos are charged by the second, which no usage tells"),
    (r"together-ai-.*b$", (), "names of sizes, not of models; litellm reads another size out of them"),
    (r"together_ai/togethercomputer/CodeLlama-34b", (), "no price by the token; litellm guesses one by its size"),
    (r"perplexity/(pplx-\d+b-online|sonar-(small|medium)-online)$", (), "litellm leaves its list's fee a request out"),
    (r"(jamba-|azure/mistral-large-latest$)", _BATCH, "litellm does not find its own entry in a batch, and says 0"),
    (r"(deepseek-chat|gemini-exp-1206)$", (), "two entries of the list for one model; litellm takes the other"),
    (r"gemini-3\.1-pro-preview-customtools$", _PRIORITY, "litellm takes another entry, that of Google's own endpoint"),
    (r"moonshotai\.kimi-k2\.5$", (*_PRIORITY, "batch"), "litellm takes the entry of another region"),
)  # fmt: skip
"""Models, and shapes of usage (all, where none is named), whose figures differ, with the reason."""


def excused(model: str, shape: str) -> str | None:
    """The reason why a figure may differ; None where there is none."""
    found = (why for name, shapes, why in EXCEPTIONS if re.match(name, model) and (not shapes or shape in shapes))
    return next(found, None)


@dataclass
class Found:
    same: int = 0
    unpriced: list[str] = field(default_factory=list[str])
    """Neither of the two knows a price."""
    differ: dict[str, dict[str, tuple[float | None, float | None]]] = field(
        default_factory=dict[str, dict[str, tuple[float | None, float | None]]]
    )
    """By model and shape: ours and litellm's."""


def compare(models: Sequence[str], shapes: Sequence[Shape] = SHAPES) -> Found:
    """Both calculators on all of it."""
    found = Found()
    for model in models:
        ours: list[float | None] = []
        for shape in shapes:
            own, theirs = cost_of(model, shape.usage, service_tier=shape.service_tier, batch=shape.batch), None
            ours.append(own)
            if own is not None or not ours[:-1]:
                theirs = reference(model, shape)
            if own is None and not theirs:
                continue
            if own is None or theirs is None or abs(own - theirs) > TOLERANCE_USD:
                found.differ.setdefault(model, {})[shape.name] = (own, theirs)
            else:
                found.same += 1
        if all(own is None for own in ours) and model not in found.differ:
            found.unpriced.append(model)
    return found


def reference(model: str, shape: Shape) -> float | None:
    """litellm's figure, by the model's name alone or else with the provider that its list names; None where it has
    none."""
    import litellm

    litellm.suppress_debug_info = True
    provider = str(litellm.model_cost[model].get("litellm_provider", ""))
    if provider in ASKS_ELSEWHERE:
        return None
    reply = {"id": "x", "object": "chat.completion", "created": 1, "model": model, "choices": [],
             "usage": {**shape.usage}}  # fmt: skip
    more: dict[str, Any] = {"call_type": "aretrieve_batch"} if shape.batch else {}
    for named in (None, provider):
        try:
            return litellm.completion_cost(
                completion_response=reply, model=model, custom_llm_provider=named,
                service_tier=shape.service_tier, **more,
            )  # fmt: skip
        except Exception as error:
            logger.debug("%s: %s", model, error)
    return None


def main(arguments: Sequence[str]) -> int:
    models = chat_models()[:: int(arguments[0]) if arguments else 1]
    began = datetime.now(UTC)
    found = compare(models)
    wrong = list(_unexcused(found))
    print(*wrong, sep="\n", end="\n" if wrong else "")
    reasons = Counter(excused(model, shape) for model, shapes in found.differ.items() for shape in list(shapes)[:1])
    for why, count in reasons.most_common():
        print(f"{count} models: {why or 'NO REASON KNOWN'}")
    print(
        f"{len(models)} chat models x {len(SHAPES)} shapes: {found.same} figures equal to {TOLERANCE_USD:g}, "
        f"{sum(map(len, found.differ.values()))} of {len(found.differ)} models differ for the reasons above, "
        f"{len(wrong)} for none; {len(found.unpriced)} models have no price by the token "
        f"({(datetime.now(UTC) - began).total_seconds():.0f} s)"
    )
    return 1 if wrong else 0


def _unexcused(found: Found) -> Iterator[str]:
    for model, shapes in found.differ.items():
        for name, (ours, theirs) in shapes.items():
            if excused(model, name) is None:
                yield f"{model}: {name}: {ours} here, {theirs} by litellm"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
