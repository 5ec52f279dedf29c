"""Evaluation of methods: protocols that draw splits, metrics, results and their summary."""

from planetoid.evaluation.metrics import (
    CalibrationBin,
    accuracy,
    calibration_bins,
    expected_calibration_error,
    macro_f1,
    recall_at_k,
)
from planetoid.evaluation.protocols import Protocol, Run, evaluate, run_once, what_it_uses
from planetoid.evaluation.results import Result, Spread, Summary, summarize

__all__ = [
    "CalibrationBin",
    "Protocol",
    "Result",
    "Run",
    "Spread",
    "Summary",
    "accuracy",
    "calibration_bins",
    "evaluate",
    "expected_calibration_error",
    "macro_f1",
    "recall_at_k",
    "run_once",
    "summarize",
    "what_it_uses",
]
