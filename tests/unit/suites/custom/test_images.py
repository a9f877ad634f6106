"""Images of cases: read from their paths, sent as parts of the message, never spelt out to a reader of texts."""

from __future__ import annotations

import base64
import json
from pathlib import Path
from typing import Any

import pytest

from seedbed.errors import UserError
from seedbed.lm.abilities import takes_images
from seedbed.lm.runtime import close_runtimes
from seedbed.suites.custom.template import content
from seedbed.suites.kit.images import as_texts
from seedbed.sweep.config import load_config
from seedbed.sweep.estimate import estimate
from seedbed.sweep.model_config import ModelConfig
from seedbed.sweep.plan import Plan, make_plan
from tests.support.cells import prepared
from tests.support.loopback import Loopback

PNG = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)
URL = f"data:image/png;base64,{base64.b64encode(PNG).decode()}"


def write(folder: Path, model: dict[str, Any], *, rows: str = "photos/a.png,dot\n", **benchmark: Any) -> Path:
    (folder / "photos").mkdir(exist_ok=True)
    (folder / "photos" / "a.png").write_bytes(PNG)
    (folder / "cases.csv").write_text(f"photo,label\n{rows}", encoding="utf-8")
    systems = [
        {"name": "prompt", "prompt": "Look: {photo} What is it?", "system": "One word."},
        {"name": "signature", "signature": "photo -> label"},
    ]
    cases = {"name": "c", "path": "cases.csv", "inputs": ["photo"], "images": "photo", "answer": "label", **benchmark}
    experiment = {"suite": "custom", "models": ["m"], "benchmarks": [cases], "systems": systems, "scorers": ["exact"]}
    if "split" in benchmark:
        experiment["optimizers"] = ["GEPA-3"]
    config = {"name": "seen", "seeds": [0], "models": {"m": model}, "experiments": [experiment]}
    (folder / "seen.yaml").write_text(json.dumps(config), encoding="utf-8")
    return folder / "seen.yaml"


def plan(folder: Path, **options: Any) -> Plan:
    return make_plan(*load_config(write(folder, {"model": "offline/reader"}, **options)))


@pytest.mark.slow
def test_a_model_is_sent_the_image_between_the_texts(tmp_path: Path) -> None:
    bodies: list[dict[str, Any]] = []
    with Loopback(watch=lambda _request, body: bodies.append(json.loads(body))) as server:
        model = {"model": "openai/sees", "api_base": server.url, "price": {"input": 1, "output": 1}}
        ready = prepared(write(tmp_path, model), tmp_path / "out")
        try:
            for cell in ready.plan.cells:
                ready.phase(cell, "generate")
        finally:
            close_runtimes()
    asked, signed = (body["messages"][-1]["content"] for body in bodies)
    assert bodies[0]["messages"][0]["content"] == "One word."
    assert asked == [
        {"type": "text", "text": "Look: "},
        {"type": "image_url", "image_url": {"url": URL}},
        {"type": "text", "text": " What is it?"},
    ]
    assert {"type": "image_url", "image_url": {"url": URL}} in signed
    assert URL not in json.dumps([part for part in signed if part["type"] == "text"])


def test_a_case_is_known_by_what_its_image_shows(tmp_path: Path) -> None:
    first = plan(tmp_path).cells[0].id
    (tmp_path / "photos" / "a.png").rename(tmp_path / "photos" / "b.png")
    assert plan(tmp_path, rows="photos/b.png,dot\n").cells[0].id == first
    (tmp_path / "photos" / "b.png").write_bytes(PNG + b"\0")
    assert plan(tmp_path, rows="photos/b.png,dot\n").cells[0].id != first


def test_an_estimate_counts_an_image_and_not_its_letters(tmp_path: Path) -> None:
    (tmp_path / "photos").mkdir()
    made = plan(tmp_path)
    small = estimate(made, made.cells[0], lambda *_: 0.0).tokens_in
    rows = "photos/large.png,dot\n"
    (tmp_path / "photos" / "large.png").write_bytes(PNG + bytes(100_000))
    made = plan(tmp_path, rows=rows)
    assert estimate(made, made.cells[0], lambda *_: 0.0).tokens_in == small


def test_a_text_reader_is_told_that_there_is_one() -> None:
    assert as_texts({"photo": URL, "q": "data:image/png is a kind"}) == {
        "photo": "[an image]",
        "q": "data:image/png is a kind",
    }
    assert content("{q}?", {"q": "what", "photo": URL}) == "what?"


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (
            {"rows": "photos/none.png,x\n"},
            r"cases\.csv:2: field photo: 'photos/none\.png' cannot be read \(No such file",
        ),
        (
            {"rows": "cases.csv,x\n"},
            r"cases\.csv:2: field photo: 'cases\.csv' is no image that models take; save it as",
        ),
        ({"rows": "photos,x\n"}, r"cases\.csv:2: field photo: 'photos' cannot be read \(Is a directory\)"),
        ({"images": "label"}, r"cases\.csv:2: the column 'label', which `images` names, is no input"),
        (
            {"split": True, "rows": "photos/a.png,dot\n" * 9},
            r"benchmarks\.0\.images: GEPA-3 reads cases as texts, and these have images",
        ),
    ],
)
def test_a_mistake_is_one_sentence(options: dict[str, Any], said: str, tmp_path: Path) -> None:
    with pytest.raises(UserError, match=said) as refused:
        plan(tmp_path, **options)
    assert "\n" not in str(refused.value)


def test_what_is_known_of_a_model_decides() -> None:
    known = {
        "openai/gpt-4.1-mini": True,
        "openai/gpt-3.5-turbo": False,
        "openai/unheard-of": None,
        "offline/reader": None,
    }
    assert {name: takes_images(ModelConfig(model=name)) for name in known} == known
    own = ModelConfig(model="openai/gpt-3.5-turbo", api_base="http://127.0.0.1:1/v1")
    assert takes_images(own) is None


@pytest.mark.slow
def test_a_model_that_takes_none_is_not_asked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    ready = prepared(write(tmp_path, {"model": "openai/gpt-3.5-turbo"}), tmp_path / "out")
    try:
        with pytest.raises(UserError, match=r"openai/gpt-3\.5-turbo: takes no images, and the cases have some"):
            ready.phase(ready.plan.cells[0], "generate")
    finally:
        close_runtimes()
