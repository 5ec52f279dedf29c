"""Softmax regression with one example per class."""

import warnings

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

import planetoid as pl
from planetoid.training.softmax_regression import fit_softmax

ONE_OF_EACH = np.eye(25), np.arange(25)


def test_one_example_per_class_does_not_warn() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        fit_softmax(LogisticRegression(), *ONE_OF_EACH)
        pl.Feat().fit(*ONE_OF_EACH)


def test_other_warnings_come_through() -> None:
    with pytest.warns(UserWarning, match="failed to converge"):
        fit_softmax(LogisticRegression(max_iter=1, C=1e6), *ONE_OF_EACH)
