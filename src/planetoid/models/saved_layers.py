"""The layers of a network among the tensors of a saved model."""

from __future__ import annotations

from typing import TYPE_CHECKING

from planetoid.io.model_files import Tensors

if TYPE_CHECKING:
    from planetoid.engine.consistency import Layers

__all__ = ["layers_of", "tensors_of"]


def tensors_of(layers: Layers, name: str) -> Tensors:
    """Return the parameters by their names after that of the network."""
    return {f"{name}.{part}": value for part, value in layers._asdict().items()}


def layers_of(tensors: Tensors, name: str) -> Layers:
    """Return the layers that were saved by this name."""
    from planetoid.engine.consistency import Layers

    return Layers(*(tensors[f"{name}.{part}"] for part in Layers._fields))
