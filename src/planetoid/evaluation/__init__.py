"""Evaluation of methods: protocols that draw splits, metrics, results and their summary."""

from __future__ import annotations

from typing import TYPE_CHECKING

from planetoid.utils.lazy import lazy_names

if TYPE_CHECKING:
    from planetoid.evaluation.cross_validation import HeldOut as HeldOut
    from planetoid.evaluation.cross_validation import cross_validate as cross_validate
    from planetoid.evaluation.metrics import CalibrationBin as CalibrationBin
    from planetoid.evaluation.metrics import accuracy as accuracy
    from planetoid.evaluation.metrics import calibration_bins as calibration_bins
    from planetoid.evaluation.metrics import expected_calibration_error as expected_calibration_error
    from planetoid.evaluation.metrics import macro_f1 as macro_f1
    from planetoid.evaluation.metrics import multi_label_f1 as multi_label_f1
    from planetoid.evaluation.metrics import recall_at_k as recall_at_k
    from planetoid.evaluation.protocols import Protocol as Protocol
    from planetoid.evaluation.protocols import Run as Run
    from planetoid.evaluation.protocols import evaluate as evaluate
    from planetoid.evaluation.protocols import run_once as run_once
    from planetoid.evaluation.protocols import what_it_uses as what_it_uses
    from planetoid.evaluation.results import Result as Result
    from planetoid.evaluation.results import Spread as Spread
    from planetoid.evaluation.results import Summary as Summary
    from planetoid.evaluation.results import summarize as summarize

_MODULES = {
    "cross_validation": ("HeldOut", "cross_validate"),
    "metrics": (
        "CalibrationBin",
        "accuracy",
        "calibration_bins",
        "expected_calibration_error",
        "macro_f1",
        "multi_label_f1",
        "recall_at_k",
    ),
    "protocols": ("Protocol", "Run", "evaluate", "run_once", "what_it_uses"),
    "results": ("Result", "Spread", "Summary", "summarize"),
}
_WHERE = {name: f"planetoid.evaluation.{module}" for module, names in _MODULES.items() for name in names}

__all__ = list(_WHERE)
# A worker process that imports a submodule does not load scikit-learn with it.
__getattr__, __dir__ = lazy_names(__name__, _WHERE)
