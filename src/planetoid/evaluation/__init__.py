"""Measure methods: protocols that draw splits, metrics, and records of what came out."""

from planetoid.evaluation.metrics import accuracy, expected_calibration_error, macro_f1, recall_at_k
from planetoid.evaluation.protocols import Protocol, Run, evaluate, run_once, what_it_uses
from planetoid.evaluation.results import Result, Spread, Summary, summarize

__all__ = [
    "Protocol",
    "Result",
    "Run",
    "Spread",
    "Summary",
    "accuracy",
    "evaluate",
    "expected_calibration_error",
    "macro_f1",
    "recall_at_k",
    "run_once",
    "summarize",
    "what_it_uses",
]
