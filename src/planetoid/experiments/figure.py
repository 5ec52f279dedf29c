"""The paper's figure: Cora's embedding spaces side by side, and how well they separate the classes."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from planetoid.datasets import Dataset, load
from planetoid.evaluation import Protocol, run_once
from planetoid.evaluation.charts import CLASS_COLOURS
from planetoid.experiments.cells import preset_parameters
from planetoid.utils.atomic import atomic_write

__all__ = ["draw_spaces", "embed_spaces"]

SHOWN = {"graphemb": "GraphEmb", "planetoid-t": "Planetoid-T", "semiemb": "SemiEmb"}


def embed_spaces(
    seed: int = 0, *, quick: bool = False, on_step: Callable[[str], None] = lambda text: None
) -> dict[str, Any]:
    """Fit the three methods on Cora's public split; return maps by t-SNE and separation scores.

    The score is the mean silhouette of all nodes by their true class, from cosine
    distances in the embedding space itself (``silhouette``) and from distances on
    the map (``silhouette_map``); from -1, in the wrong class, to 1, far from all others.
    """
    from sklearn.metrics import silhouette_score

    data = load("cora")
    spaces: dict[str, Any] = {}
    for method, name in SHOWN.items():
        on_step(f"{name}: fit")
        parameters = preset_parameters("tuned", "cora", method) or preset_parameters("paper", "cora", method) or {}
        run = run_once(method, data, Protocol("public"), seed, parameters)
        vectors = _directions(run.model.embedding_)
        on_step(f"{name}: map")
        places = _map(vectors, seed, quick)
        spaces[method] = {
            "name": name,
            "parameters": parameters,
            "places": places,
            "silhouette": float(silhouette_score(vectors, data.y, metric="cosine")),
            "silhouette_map": float(silhouette_score(places, data.y)),
            "accuracy": run.result.metrics["accuracy"],
        }
    return spaces


def _directions(embedding: npt.NDArray[Any]) -> npt.NDArray[np.float64]:
    lengths = np.linalg.norm(embedding, axis=1, keepdims=True)
    return np.asarray(embedding / np.maximum(lengths, 1e-12), dtype=np.float64)


def _map(vectors: npt.NDArray[np.float64], seed: int, quick: bool) -> npt.NDArray[np.float64]:
    from openTSNE import TSNE

    layout = TSNE(
        perplexity=30, metric="cosine", random_state=seed, n_jobs=1, negative_gradient_method="bh", neighbors="exact",
        n_iter=100 if quick else 500, early_exaggeration_iter=50 if quick else 250,
    )  # fmt: skip
    return np.asarray(layout.fit(vectors))


def draw_spaces(folder: Path, spaces: dict[str, Any], data: Dataset | None = None) -> list[Path]:
    """Draw the maps as ``figure.png`` and ``figure.svg``."""
    from matplotlib import rc_context
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    data = load("cora") if data is None else data
    picture = Figure(figsize=(13.5, 5.2), facecolor="white")
    FigureCanvasAgg(picture)
    axes = picture.subplots(1, len(spaces))
    for place, space in zip(axes, spaces.values(), strict=True):
        for code, name in enumerate(data.class_names):
            own = space["places"][data.y == code]
            place.scatter(*own.T, s=5, linewidths=0, color=CLASS_COLOURS[code], label=name, rasterized=True)
        place.set(xticks=[], yticks=[], title=space["name"])
        place.set_xlabel(f"silhouette {space['silhouette']:.3f} (on the map {space['silhouette_map']:.3f})")
        place.set_aspect("equal", adjustable="datalim")
        for side in place.spines.values():
            side.set_color("#d0d5db")
    picture.legend(*axes[0].get_legend_handles_labels(), loc="lower center", ncols=4, frameon=False, markerscale=3)
    picture.subplots_adjust(left=0.01, right=0.99, top=0.93, bottom=0.2, wspace=0.04)
    paths = [folder / "figure.png", folder / "figure.svg"]
    for path in paths:
        with atomic_write(path) as aside, rc_context({"svg.hashsalt": "planetoid"}):  # else its ids are drawn
            picture.savefig(
                aside, dpi=140, format=path.suffix[1:], metadata={"Date": None} if path.suffix == ".svg" else None
            )
    return paths
