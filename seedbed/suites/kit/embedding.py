"""FlagEmbedding: vectors of texts, and how relevant texts are to a query. Nothing is ever downloaded."""

from __future__ import annotations

import importlib.util
import os
import threading
from collections.abc import Callable, Sequence
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from seedbed.errors import UserError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Vectors = NDArray[np.float32]

_INSTALL = "the package FlagEmbedding is not installed; pip install 'seedbed[embeddings]'"
_turn = threading.Lock()
"""Models are not safe to call from two threads, and two at once are no faster."""


def why_unusable(folder: Path | None, option: str, example: str) -> str | None:
    """Why the model of an option cannot be used, as the end of a sentence; None if it can. Loads nothing."""
    if folder is None:
        return f"{option} is not given; set it to a local folder with the weights of a model such as {example}"
    if not (folder / "config.json").exists():
        return f"{option}: the folder {folder} holds no config.json; put the weights of a model such as {example} there"
    return None if importlib.util.find_spec("FlagEmbedding") else _INSTALL


def weights_name(folder: Path) -> list[Any]:
    """What tells one model's folder from another without reading gigabytes: its files and their sizes."""
    return sorted([path.name, path.stat().st_size] for path in folder.iterdir() if path.is_file())


def model_identity(model: Path | str) -> Any:
    """What tells one model from another: the files of a folder, else its name on the hub."""
    return weights_name(Path(model)) if Path(model).is_dir() else str(model)


class Embedder:
    """Texts to rows of unit length, by BGE-M3 or another model that FlagEmbedding loads: from its folder, or by a hub
    id that is cached on this machine. Loaded at the first call."""

    def __init__(self, model: Path | str, option: str = "embedder") -> None:
        self._model, self._option = str(model), option

    def __call__(self, texts: Sequence[str]) -> Vectors:
        import numpy as np

        with _turn:
            found: Any = self._loaded().encode(list(texts))
        return np.asarray(found["dense_vecs"] if isinstance(found, dict) else found, dtype=np.float32)

    def ready(self) -> Embedder:
        """Itself, loaded: a model that is missing is refused now."""
        with _turn:
            self._loaded()
        return self

    def similarity(self, query: str, texts: Sequence[str]) -> list[float]:
        """Cosines of the texts with the query."""
        if not texts:
            return []
        vectors = self([query, *texts])
        return [float(vectors[0] @ vector) for vector in vectors[1:]]

    def _loaded(self) -> Any:
        return _load(self._model, self._option, _embedder)


class Reranker:
    """Relevance of texts to a query. Loaded at the first call."""

    def __init__(self, model: Path | str, option: str = "reranker") -> None:
        self._model, self._option = str(model), option

    def __call__(self, query: str, texts: Sequence[str]) -> list[float]:
        """A score from 0 to 1 a text."""
        if not texts:  # the model raises on none
            return []
        with _turn:
            model = _load(self._model, self._option, _reranker)
            scores: Any = model.compute_score([(query, text) for text in texts], normalize=True)
        # A single pair may come back as a bare number.
        return [float(score) for score in (scores if isinstance(scores, list) else [scores])]


def _load(model: str, option: str, make: Callable[[str], Any]) -> Any:
    try:
        return make(model)
    except ImportError:
        raise UserError(f"{option}: {_INSTALL}.") from None
    except (OSError, ValueError) as error:
        said = str(error).partition("\n")[0]
        raise UserError(f"{option}: {model!r} cannot be loaded ({said}); give the folder of a model.") from None


@lru_cache(maxsize=4)  # seconds and gigabytes each
def _embedder(model: str) -> Any:
    # BGE-M3 carries the weights of its sparse head beside those of the encoder; other models have none.
    kind = "BGEM3FlagModel" if (Path(model) / "sparse_linear.pt").exists() else "FlagModel"
    return getattr(_flag_embedding(), kind)(model, use_fp16=False, devices="cpu", normalize_embeddings=True)


@lru_cache(maxsize=4)
def _reranker(model: str) -> Any:
    return _flag_embedding().FlagReranker(model, use_fp16=False, devices="cpu")


def _flag_embedding() -> Any:
    # Else a hub that cannot be reached is waited for.
    os.environ.setdefault("HF_HUB_OFFLINE", "1")
    import FlagEmbedding  # pyright: ignore[reportMissingImports]

    return FlagEmbedding
