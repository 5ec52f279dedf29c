"""The paper's figure: Cora's embedding spaces side by side, and how well they separate the classes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from planetoid.datasets import Dataset, load
from planetoid.evaluation import Protocol, run_once
from planetoid.evaluation.charts import CLASS_COLOURS
from planetoid.experiments.cells import preset_parameters
from planetoid.utils.atomic import atomic_write
from planetoid.utils.tsne import tsne_map

__all__ = ["METHODS_SHOWN", "EmbeddingSpace", "draw_spaces", "embed_spaces", "figure_markdown"]

METHODS_SHOWN = {"graphemb": "GraphEmb", "planetoid-t": "Planetoid-T", "semiemb": "SemiEmb"}


@dataclass(frozen=True, eq=False)
class EmbeddingSpace:
    """The embedding of one method, as a map in the plane with its scores.

    Attributes
    ----------
    name : str
    parameters : dict
    coordinates : array of shape (n_nodes, 2)
        The map, by t-SNE.
    silhouette : float
        Mean silhouette of all nodes by their true class, from cosine distances in the embedding space; between -1 (in
        the wrong class) and 1 (far from the other classes).
    silhouette_map : float
        The same from distances on the map.
    accuracy : float
        Test accuracy.
    """

    name: str
    parameters: Mapping[str, object]
    coordinates: npt.NDArray[np.float64]
    silhouette: float
    silhouette_map: float
    accuracy: float

    def as_record(self) -> dict[str, Any]:
        """Return parameters and scores as plain data."""
        return {
            "parameters": dict(self.parameters),
            "silhouette": self.silhouette,
            "silhouette_map": self.silhouette_map,
            "accuracy": self.accuracy,
        }


def embed_spaces(
    seed: int = 0, *, quick: bool = False, on_step: Callable[[str], None] = lambda text: None
) -> dict[str, EmbeddingSpace]:
    """Fit the three methods on Cora's public split and map their embeddings."""
    from sklearn.metrics import silhouette_score

    data = load("cora")
    spaces = {}
    for method, name in METHODS_SHOWN.items():
        on_step(f"{name}: fit")
        parameters = preset_parameters("tuned", "cora", method) or preset_parameters("paper", "cora", method) or {}
        run = run_once(method, data, Protocol("public"), seed, parameters)
        vectors = _unit_length(run.model.embedding_)
        on_step(f"{name}: map")
        coordinates = tsne_map(
            vectors,
            metric="cosine",
            early_exaggeration_iter=50 if quick else 250,
            n_iter=100 if quick else 500,
            seed=seed,
        )
        spaces[method] = EmbeddingSpace(
            name=name,
            parameters=parameters,
            coordinates=coordinates,
            silhouette=float(silhouette_score(vectors, data.y, metric="cosine")),
            silhouette_map=float(silhouette_score(coordinates, data.y)),
            accuracy=run.result.metrics["accuracy"],
        )
    return spaces


def _unit_length(embedding: npt.NDArray[np.floating[Any]]) -> npt.NDArray[np.float64]:
    lengths = np.linalg.norm(embedding, axis=1, keepdims=True)
    return np.asarray(embedding / np.maximum(lengths, 1e-12), dtype=np.float64)


def draw_spaces(folder: Path, spaces: Mapping[str, EmbeddingSpace], data: Dataset | None = None) -> list[Path]:
    """Draw the maps as ``figure.png`` and ``figure.svg``."""
    from matplotlib import rc_context
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    data = load("cora") if data is None else data
    picture = Figure(figsize=(13.5, 5.2), facecolor="white")
    FigureCanvasAgg(picture)
    panels = picture.subplots(1, len(spaces))
    for axes, space in zip(panels, spaces.values(), strict=True):
        for code, name in enumerate(data.class_names):
            own = space.coordinates[data.y == code]
            axes.scatter(*own.T, s=5, linewidths=0, color=CLASS_COLOURS[code], label=name, rasterized=True)
        axes.set(xticks=[], yticks=[], title=space.name)
        axes.set_xlabel(f"silhouette {space.silhouette:.3f} (on the map {space.silhouette_map:.3f})")
        axes.set_aspect("equal", adjustable="datalim")
        for side in axes.spines.values():
            side.set_color("#d0d5db")
    picture.legend(*panels[0].get_legend_handles_labels(), loc="lower center", ncols=4, frameon=False, markerscale=3)
    picture.subplots_adjust(left=0.01, right=0.99, top=0.93, bottom=0.2, wspace=0.04)
    paths = [folder / "figure.png", folder / "figure.svg"]
    for path in paths:
        # a fixed salt and no date, so that the SVG is the same file every time
        with atomic_write(path) as temporary, rc_context({"svg.hashsalt": "planetoid"}):
            metadata = {"Date": None} if path.suffix == ".svg" else None
            picture.savefig(temporary, dpi=140, format=path.suffix[1:], metadata=metadata)
    return paths


def figure_markdown(spaces: Mapping[str, EmbeddingSpace]) -> str:
    """Return the picture and its scores as Markdown."""
    lines = [
        "![t-SNE maps of three embedding spaces of Cora, coloured by class](figure.png)",
        "",
        "| | silhouette in the embedding space | silhouette on the map | accuracy |",
        "| --- | ---: | ---: | ---: |",
    ]
    lines += [
        f"| {space.name} | {space.silhouette:.3f} | {space.silhouette_map:.3f} | {100 * space.accuracy:.1f} |"
        for space in spaces.values()
    ]
    return "\n".join(lines)
