"""``MethodBase``: what a method declares, its parameters, and the attributes that ``fit`` sets."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, ClassifierMixin

from planetoid.calibration import Calibration, Sample
from planetoid.data.dataset import Dataset
from planetoid.data.types import Probabilities
from planetoid.errors import NotInductiveError
from planetoid.ids import NodeIds
from planetoid.parameters import Constraints, check_parameters, set_nested
from planetoid.presets import load_preset
from planetoid.search_space import SearchSpace, Start

if TYPE_CHECKING:
    from sklearn.utils import Tags
    from typing_extensions import Self

    from planetoid.preparation import Preparation

__all__ = ["MethodBase", "not_inductive"]


class MethodBase(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """What all parts of :class:`~planetoid.estimator.classifier.GraphClassifier` have in common."""

    uses_features: ClassVar[str] = "never"  # "required", "optional" or "never"
    uses_graph: ClassVar[str] = "required"
    inductive: ClassVar[bool] = False
    multi_label: ClassVar[bool] = False  # whether nodes may have several labels
    uses_processes: ClassVar[bool] = False  # whether several processes can fit it together
    needed_to_load: ClassVar[tuple[str, ...]] = ()  # parameters that cannot be saved and that have no usable default

    constraints: ClassVar[Constraints] = {}  # what each parameter may be
    search_space: ClassVar[SearchSpace] = {}  # where ``tune`` looks for parameters
    search_starts: ClassVar[tuple[Start, ...]] = ()  # what it tries first

    classes_: npt.NDArray[Any]
    label_distributions_: Probabilities
    calibration_: Calibration
    set_thresholds_: npt.NDArray[np.float64]
    set_scores_: npt.NDArray[np.float32]
    node_set_thresholds_: npt.NDArray[np.float64]
    node_ids_: NodeIds
    warnings_: list[str]
    preparation_: Preparation
    multi_label_: bool = False
    threshold_: float
    calibrate: bool = True
    _sample: Sample | None = None  # that probabilities were calibrated by
    _seed: int  # of this fit: random_state, or a fresh one if that is None
    _data: Dataset | None = None  # of this fit, which explanations go by

    @classmethod
    def search_space_for(cls, data: Dataset) -> SearchSpace:
        """Return where ``tune`` looks for parameters on this data: those that have an effect there."""
        return cls.search_space

    @property
    def uses_validation(self) -> bool:
        """Whether ``fit`` uses validation labels: to calibrate, at least; those that stop early set it to ``True``."""
        return self.calibrate

    @classmethod
    def from_preset(cls, name: str, **overrides: object) -> Self:
        """Return a new model with the parameters of a preset, for example ``"paper/cora"``.

        ``planetoid.presets.preset_names()`` lists them; ``overrides`` take precedence over the preset.
        """
        model = cls()
        return model.set_params(**load_preset(name, cls.__name__).parameters).set_params(**overrides)

    def set_params(self, **params: object) -> Self:
        """Set parameters by name; ``contexts__q`` sets ``q`` of the parameter object ``contexts``."""
        for name, value in set_nested(self.get_params(deep=False), params, type(self).__name__).items():
            setattr(self, name, value)
        return self

    def _check_parameters(self) -> None:
        """Raise ``ParameterError`` for an invalid parameter; a subclass adds checks across parameters."""
        check_parameters(type(self).__name__, self.get_params(deep=False), self.constraints)

    def _fitted_data(self) -> Dataset | None:
        """Return the data of the fit, unless the model has got more nodes since."""
        return self._data if self._data is not None and self._data.n_nodes == len(self.node_ids_) else None

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "label_distributions_")  # a parameter such as lambda_ ends in _ too

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.classifier_tags.multi_label = self.multi_label
        return tags


def not_inductive(model: object) -> NotInductiveError:
    """Return the error for new rows that a transductive method cannot predict."""
    return NotInductiveError(
        f"{type(model).__name__} is transductive: it predicts only the nodes it was fitted on",
        hint="use predict(nodes=[...]) for those, or fit an inductive method (PlanetoidI, Feat) to label new rows",
    )
