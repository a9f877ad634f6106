"""The offline model: reads a request, picks the skill that fits its signature, writes the reply."""

from __future__ import annotations

from collections.abc import Mapping

from seedbed.lm.types import Attempt, JsonDict
from seedbed.offline.chance import Chance, digest
from seedbed.offline.expertise import gather, lexicon_of
from seedbed.offline.fill import fit
from seedbed.offline.lexicon import Lexicon
from seedbed.offline.options import OfflineOptions
from seedbed.offline.prompt import OutputField, Prompt, parse
from seedbed.offline.render import render
from seedbed.offline.skill import Call


class OfflineModel:
    """Deterministic: at temperature 0 a reply depends on the request alone, above it on seed, repeat, rollout."""

    def __init__(self, name: str, options: OfflineOptions | None = None, *, lexicon: Lexicon | None = None) -> None:
        self.name = name
        self.options = options or OfflineOptions()
        self._expertise = gather()
        self._lexicon = lexicon

    def reply(self, body: JsonDict, attempt: Attempt, *, choice: int = 0) -> str:
        """The text of the reply; `choice` counts through the replies of a request that wants several."""
        prompt = parse(body)
        known = self._expertise
        lexicon = self._lexicon or lexicon_of(known.data)
        skill = next((skill for skill in known.skills if skill.fits(prompt)), None)
        case = skill.case(prompt) if skill and skill.case else sorted(prompt.inputs.items())
        call = Call(prompt, self._chance(case, body, attempt, choice), lexicon, known.advice)
        answers: Mapping[str, object] = skill.answer(call) if skill else {}
        return render(prompt, {field.name: _value(field, answers, call) for field in prompt.output_fields})

    def _chance(self, case: object, body: JsonDict, attempt: Attempt, choice: int) -> Chance:
        sampled = float(body.get("temperature") or 0) > 0
        # Instructions and demos are left out on purpose. Whether the model masters a case is a property of the case,
        # so a better prompt scores better by what it says and not by a new throw of the dice.
        rollout = () if attempt.rollout is None else (attempt.rollout,)
        sampling = (attempt.seed, attempt.repeat, choice, *rollout) if sampled else ()
        seed = digest(self.name, case, sampling)
        return Chance(seed, self.options.ability, self.options.noise if sampled else 0.0)


def _value(field: OutputField, answers: Mapping[str, object], call: Call) -> object:
    return fit(field, answers.get(field.name, _hint(field, call.prompt)), call.chance)


def _hint(field: OutputField, prompt: Prompt) -> str:
    """What to fill a field from when no skill knows it: an input that shares its name's last word, else the longest."""
    word = field.name.rpartition("_")[2]
    namesake = next((value for name, value in prompt.inputs.items() if name.rpartition("_")[2] == word), "")
    return namesake or max(prompt.inputs.values(), key=len, default="")
