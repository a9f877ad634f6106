"""The same cases from every format are the same cells with the same scores."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from seedbed.errors import UserError
from seedbed.lm.runtime import close_runtimes
from seedbed.suites.kit.data_sets import data_set_rows
from seedbed.sweep.config import load_config
from seedbed.sweep.plan import Plan, make_plan
from tests.support.cells import prepared

pytestmark = pytest.mark.slow  # the package datasets takes seconds to import

COUNTRIES = (("africa", "Kenya"), ("africa", "Chad"), ("america", "Peru"), ("america", "Cuba"), ("asia", "Oman"))
ROWS: Sequence[Mapping[str, Any]] = [
    {"id": f"{folder}/{name}.txt", "name": name, "folder": folder, "text": f"Where is {name}?\nAnswer in a word."}
    for folder, name in sorted(COUNTRIES)
]
CONFIG = """\
name: formats
seeds: [0]
models: {m: {model: offline/reader}}
experiments:
  - suite: custom
    models: [m]
    benchmarks: [{name: where, path: "PATH", inputs: [text, name], answer: folder, cluster: folder}]
    systems: [{name: s, prompt: "{text} It is about {name}."}]
    scorers: [exact, f1, contains]
"""


def table(delimiter: str) -> Callable[[Path], None]:
    def write(path: Path) -> None:
        with path.open("w", encoding="utf-8", newline="") as handle:
            writer = csv.DictWriter(handle, list(ROWS[0]), delimiter=delimiter)
            writer.writeheader()
            writer.writerows(ROWS)

    return write


def texts(path: Path) -> None:
    for row in ROWS:
        (path / row["folder"]).mkdir(parents=True, exist_ok=True)
        (path / row["id"]).write_text(row["text"], encoding="utf-8")


def lines(path: Path) -> None:
    path.write_text("".join(json.dumps(row) + "\n" for row in ROWS), encoding="utf-8")


def saved(path: Path) -> None:
    datasets: Any = pytest.importorskip("datasets")
    datasets.Dataset.from_list([dict(row) for row in ROWS]).save_to_disk(str(path))


FORMATS: Mapping[str, Callable[[Path], None]] = {
    "cases.csv": table(","),
    "cases.tsv": table("\t"),
    "cases.jsonl": lines,
    "cases.json": lambda path: path.write_text(json.dumps({"rows": ROWS}, indent=1), encoding="utf-8") and None,
    "cases.parquet": lambda path: pq.write_table(pa.Table.from_pylist([dict(row) for row in ROWS]), path),
    "texts": texts,
    "saved": saved,
}


def config(folder: Path, path: str) -> Path:
    file = folder / "formats.yaml"
    file.write_text(CONFIG.replace("PATH", path), encoding="utf-8")
    return file


def plan(folder: Path, path: str) -> Plan:
    return make_plan(*load_config(config(folder, path)))


def results(folder: Path, path: str) -> tuple[list[str], bytes]:
    """The ids of the cells, and all scores."""
    ready = prepared(config(folder, path), folder / f"out-{Path(path).name}")
    try:
        for cell in ready.plan.cells:
            ready.all_phases(cell)
    finally:
        close_runtimes()
    return [c.id for c in ready.plan.cells], (ready.folder(ready.plan.cells[0]) / "scores.jsonl").read_bytes()


def test_all_formats_give_the_same_cells_and_scores(tmp_path: Path) -> None:
    found: dict[str, tuple[list[str], bytes]] = {}
    for name, write in FORMATS.items():
        write(tmp_path / name)
        found[name] = results(tmp_path, name)
    first = found["cases.csv"]
    assert first[1].count(b"\n") == len(ROWS)
    assert all(own == first for own in found.values()), {name: own[0] for name, own in found.items()}


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """A cache of data sets as the library itself fills it, with one split of one data set."""
    datasets: Any = pytest.importorskip("datasets")
    monkeypatch.setattr(datasets.config, "HF_DATASETS_CACHE", str(tmp_path / "cache"))

    class Countries(datasets.GeneratorBasedBuilder):
        BUILDER_CONFIGS = [datasets.BuilderConfig(name="main", version="0.0.0")]  # noqa: RUF012

        def _info(self) -> Any:
            return datasets.DatasetInfo()

        def _split_generators(self, _manager: Any) -> Any:
            return [datasets.SplitGenerator("test")]

        def _generate_examples(self) -> Any:
            yield from enumerate(ROWS)

    made = Countries(dataset_name="countries", repo_id="lab/countries", config_name="main", hash="abc")
    made.download_and_prepare()
    return datasets


def test_a_data_set_of_the_cache_gives_them_too(tmp_path: Path, cache: Any) -> None:
    lines(tmp_path / "cases.jsonl")
    of_file, of_cache = plan(tmp_path, "cases.jsonl"), plan(tmp_path, "hf:lab/countries/main/test")
    assert [c.id for c in of_cache.cells] == [c.id for c in of_file.cells]
    assert of_cache.data_hash(of_cache.cells[0])


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("hf:lab/countries/main/train", r"load_dataset\('lab/countries', 'main', split='train'\)"),
        ("hf:lab/unknown/main/test", r"is not in the local cache.*load_dataset\('lab/unknown', 'main', split='test'\)"),
        ("hf:lab", r"is no data set; write hf:NAME/CONFIG/SPLIT"),
    ],
)
def test_what_the_cache_lacks_is_said_with_what_to_download(tmp_path: Path, cache: Any, name: str, said: str) -> None:
    with pytest.raises(UserError, match=f"^{name}: .*{said}") as refused:
        plan(tmp_path, name)
    assert "\n" not in str(refused.value)


def test_a_saved_data_set_that_cannot_be_read_is_one_sentence(tmp_path: Path) -> None:
    datasets: Any = pytest.importorskip("datasets")
    whole = datasets.Dataset.from_list([dict(row) for row in ROWS])
    datasets.DatasetDict({"train": whole, "test": whole}).save_to_disk(str(tmp_path / "parts"))
    with pytest.raises(UserError, match=r"several splits; name the folder of one \(there are test, train\)"):
        plan(tmp_path, "parts")
    assert plan(tmp_path, "parts/test").cells
    (tmp_path / "parts" / "test" / "data-00000-of-00001.arrow").write_bytes(b"ARROW1")
    with pytest.raises(UserError, match=r"parts/test: cannot be read as a data set .*; save it anew") as refused:
        plan(tmp_path, "parts/test")
    assert "\n" not in str(refused.value)
    datasets.Dataset.from_dict({"text": [], "name": [], "folder": []}).save_to_disk(str(tmp_path / "empty"))
    with pytest.raises(UserError, match=r"empty: (holds no row|cannot be read as a data set)"):
        plan(tmp_path, "empty")


def test_labels_are_the_names_of_their_classes(tmp_path: Path) -> None:
    datasets: Any = pytest.importorskip("datasets")
    features = datasets.Features({"text": datasets.Value("string"), "mood": datasets.ClassLabel(names=["bad", "good"])})
    datasets.Dataset.from_dict({"text": ["a", "b"], "mood": [1, -1]}, features=features).save_to_disk(
        str(tmp_path / "moods")
    )
    assert [row.data["mood"] for row in data_set_rows(tmp_path / "moods")] == ["good", None]
