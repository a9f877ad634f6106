from __future__ import annotations

import enum
import subprocess
import sys
from typing import Literal

import dspy
import pytest
from pydantic import BaseModel, Field

from seedbed.lm.types import Attempt
from seedbed.offline import OfflineModel, OfflineOptions
from seedbed.offline.lexicon import Lexicon

TOWNS = [f"{a}{b}" for a in ("Al", "Ber", "Cor", "Dun", "El", "Far", "Gol", "Hal", "Il", "Jor") for b in ("by", "ham")]


def attempt(seed: int | None = None, *, repeat: int = 0, rollout: int | None = None) -> Attempt:
    return Attempt("key", seed, repeat, 1, 5.0, rollout)


def towns_body(town: str, *, temperature: float = 0.0, instructions: str = "Shortest span.") -> dict[str, object]:
    """A question about one of twenty towns, with every town's sentence in the context."""
    context = [f"The tower of {name} is {100 + i} metres high." for i, name in enumerate(TOWNS)]
    signature = dspy.Signature("question, context: list[str] -> answer", instructions)
    inputs = {"question": f"How high is the tower of {town}?", "context": context}
    return {"messages": dspy.ChatAdapter().format(signature, [], inputs), "temperature": temperature}


def right_answers(model: OfflineModel, seed: int | None = None, temperature: float = 0.0) -> set[str]:
    replies = {t: model.reply(towns_body(t, temperature=temperature), attempt(seed)) for t in TOWNS}
    return {town for i, town in enumerate(TOWNS) if f"\n{100 + i} metres\n" in replies[town]}


def model(lexicon: Lexicon, name: str = "offline/test", **options: float) -> OfflineModel:
    return OfflineModel(name, OfflineOptions(**options), lexicon=lexicon)  # pyright: ignore[reportArgumentType]


def test_the_same_request_gets_the_same_reply(lexicon: Lexicon) -> None:
    body = towns_body("Corby", temperature=0.7)
    assert model(lexicon).reply(body, attempt(3)) == model(lexicon).reply(body, attempt(3))


def test_seeds_and_repeats_do_not_matter_at_temperature_zero(lexicon: Lexicon) -> None:
    poor = model(lexicon, ability=0.5)
    for town in TOWNS:
        body = towns_body(town)
        assert len({poor.reply(body, attempt(s, repeat=r)) for s in (None, 1, 2) for r in (0, 1)}) == 1


def test_seeds_differ_above_temperature_zero(lexicon: Lexicon) -> None:
    assert len({frozenset(right_answers(model(lexicon), seed, 0.7)) for seed in range(4)}) > 1


def test_repeats_differ_above_temperature_zero(lexicon: Lexicon) -> None:
    body = towns_body("Corby", temperature=1.0)
    poor = model(lexicon, ability=0.5)
    assert len({poor.reply(body, attempt(1, repeat=r)) for r in range(12)}) > 1


def test_rollouts_differ_above_temperature_zero_only(lexicon: Lexicon) -> None:
    poor = model(lexicon, ability=0.5)
    warm, cold = towns_body("Corby", temperature=1.0), towns_body("Corby")
    assert len({poor.reply(warm, attempt(1, rollout=r)) for r in range(12)}) > 1
    assert len({poor.reply(cold, attempt(1, rollout=r)) for r in range(12)}) == 1


def test_choices_of_one_request_differ(lexicon: Lexicon) -> None:
    body = towns_body("Corby", temperature=1.0)
    poor = model(lexicon, ability=0.5)
    assert len({poor.reply(body, attempt(1), choice=c) for c in range(12)}) > 1


def test_full_ability_answers_everything(lexicon: Lexicon) -> None:
    assert right_answers(model(lexicon, ability=1.0)) == set(TOWNS)


def test_less_ability_answers_fewer_of_the_same(lexicon: Lexicon) -> None:
    good, fair, poor = (right_answers(model(lexicon, ability=ability)) for ability in (0.9, 0.6, 0.3))
    assert poor < fair < good


def test_noise_lowers_accuracy_only_above_temperature_zero(lexicon: Lexicon) -> None:
    noisy = model(lexicon, ability=1.0, noise=0.5)
    assert len(right_answers(noisy)) == len(TOWNS)
    assert len(right_answers(noisy, seed=1, temperature=0.7)) < len(TOWNS)


def test_models_of_other_names_err_elsewhere(lexicon: Lexicon) -> None:
    assert right_answers(model(lexicon, "offline/a", ability=0.6)) != right_answers(
        model(lexicon, "offline/b", ability=0.6)
    )


def test_rewording_the_instructions_does_not_throw_the_dice_again(lexicon: Lexicon) -> None:
    poor = model(lexicon, ability=0.5)
    for town in TOWNS:
        replies = {
            poor.reply(towns_body(town, instructions=text), attempt())
            for text in ("Shortest span.", "Only the answer, please.", "Be brief; give a short answer.")
        }
        assert len(replies) == 1


def test_json_is_given_when_json_is_asked_for(connect) -> None:
    engine = connect()
    with dspy.context(adapter=dspy.JSONAdapter()):
        dspy.Predict("question -> answer")(question="Who?")
    assert engine.replies == ['{\n  "answer": "I don\'t know."\n}']


class Colour(enum.Enum):
    RED = "red"
    BLUE = "blue"


class Item(BaseModel):
    name: str
    weight: float = Field(ge=1, le=2)
    tags: list[str]
    parent: Item | None = None


class Typed(dspy.Signature):
    """Do something that no skill knows."""

    text: str = dspy.InputField()
    word: str = dspy.OutputField()
    count: int = dspy.OutputField()
    share: float = dspy.OutputField(ge=0.0, le=1.0)
    ok: bool = dspy.OutputField()
    verdict: Literal["high", "very low"] = dspy.OutputField()
    level: Literal[1, 2, 3] = dspy.OutputField()
    colour: Colour = dspy.OutputField()
    names: list[str] = dspy.OutputField()
    table: dict[str, int] = dspy.OutputField()
    item: Item = dspy.OutputField()
    items: list[Item] = dspy.OutputField()
    maybe: int | None = dspy.OutputField()


@pytest.mark.parametrize("adapter", [dspy.ChatAdapter(use_json_adapter_fallback=False), dspy.JSONAdapter()])
@pytest.mark.parametrize("text", ["Two red 7 things. And 12 more.", "", '{"a": [1', "[[ ## ok ## ]]"])
def test_every_type_is_filled_when_no_skill_fits(connect, adapter: dspy.Adapter, text: str) -> None:
    engine = connect()
    with dspy.context(adapter=adapter):
        prediction = dspy.Predict(Typed)(text=text)
    assert 0 <= prediction.share <= 1
    assert 1 <= prediction.item.weight <= 2
    assert len(engine.replies) == 1


def test_a_plain_prompt_gets_plain_text(connect) -> None:
    engine = connect()
    dspy.settings.lm("Say something.")
    assert "[[ ##" not in engine.replies[0]


def test_a_model_with_all_its_skills_stays_light() -> None:
    code = (
        "import sys; from seedbed.offline import OfflineModel; OfflineModel('offline/test'); "
        "print({'dspy', 'litellm', 'prefect', 'pandas', 'numpy'} & set(sys.modules))"
    )
    found = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert found.stdout.strip() == "set()"
