"""The answer metrics asked from many threads at once, as an optimizer's feedback asks them."""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest

from seedbed.suites.crosslingual import batch, metrics
from seedbed.suites.crosslingual.scripts import letter_masks

THREADS, ROUNDS = 8, 400
ANSWERS = [
    ("Der Nil ist 6650 km lang", "en"),
    ("尼罗河长6650公里", "zh"),
    ("ナイル川は6650キロ", "ja"),
    ("النيل طوله ٦٦٥٠ كم", "ar"),
    ("Нил: 6650 км", "ru"),
    ("나일강은 6650km", "ko"),
    ("แม่น้ำไนล์ยาว ๖๖๕๐ กม.", "th"),
    ("Ο Νείλος έχει μήκος 6650 χλμ", "el"),
]


@pytest.fixture
def _restless() -> Iterator[None]:
    """Threads are switched as often as can be."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(before)


def _fresh_tables(monkeypatch: pytest.MonkeyPatch) -> None:
    """The tables as a process finds them at its first answer."""
    for name, compute in (("_NORMALISED", batch._all_normalised_alone), ("_MASKS", letter_masks)):  # pyright: ignore
        monkeypatch.setattr(batch, name, batch.CodePointTable(compute))


@pytest.mark.slow
@pytest.mark.usefixtures("_restless")
def test_eight_threads_that_score_first_answers_at_once_get_the_right_figures(monkeypatch: pytest.MonkeyPatch) -> None:
    expected = [(metrics.rlc(text, lang), metrics.f1_score(text, text, lang)) for text, lang in ANSWERS]
    start = threading.Barrier(THREADS)

    def scored(place: int) -> tuple[float, float]:
        text, lang = ANSWERS[place]
        start.wait()
        columns = metrics.score_rows([text], [text], [lang])
        return float(columns["rlc"][0]), float(columns["f1"][0])

    wrong = 0
    with ThreadPoolExecutor(THREADS) as pool:
        for _ in range(ROUNDS):
            _fresh_tables(monkeypatch)
            found = [pool.submit(scored, place) for place in range(THREADS)]
            wrong += sum(f.exception() is not None or f.result() != expected[i] for i, f in enumerate(found))
    assert wrong == 0
