"""scikit-learn's own estimator checks, for what applies.

A method that learns from a graph gets one of nearest neighbours here, since the checks know of rows alone.
"""

from __future__ import annotations

import warnings
from dataclasses import replace
from inspect import signature

import numpy as np
import pytest
from sklearn.utils import estimator_checks

import planetoid as pl
from planetoid.graph.construct import knn_graph
from planetoid.models import student
from planetoid.parameters import Parameters

SMALL = {"dimension": 8, "steps": 200, "pretrain": 1, "training__steps": 200, "training__pretrain": 1}
FEW_STEPS = {"steps": 20, "training__steps": 20}  # for checks that ask for an interface alone
STEPS_OF_STUDENT = 25  # for those that ask for labels too, which are easy to learn
INDUCTIVE = [name for name in pl.METHODS if pl.METHODS[name].inductive]
TRANSDUCTIVE = [name for name in pl.METHODS if not pl.METHODS[name].inductive]

DIFFERS = {
    "check_dtype_object": "wrong features are a DataError, which is a ValueError, not a TypeError",
    "check_classifiers_classes": "-1, which the check uses as a class, means unlabelled",
    "check_classifiers_regression_target": "any hashable is a label, numbers with a fraction too",
    "check_supervised_y_2d": "labels in two dimensions are an error, not a warning",
    "check_non_transformer_estimators_n_iter": "max_iter belongs to the solvers of several problems",
    "check_parameters_default_constructible": "parameter objects such as Contexts() are defaults; see the test of them",
}
# Which of the checks never predict rows that were not fitted.
OF_ALL_METHODS = (
    "check_estimator_cloneable",
    "check_estimator_repr",
    "check_no_attributes_set_in_init",
    "check_get_params_invariance",
    "check_set_params",
    "check_mixin_order",
    "check_valid_tag_types",
    "check_estimators_overwrite_params",
    "check_estimators_fit_returns_self",
    "check_estimators_unfitted",
    "check_fit_check_is_fitted",
    "check_positive_only_tag_during_fit",
    "check_readonly_memmap_input",
)

OF_TRANSFORMERS = (
    "check_set_output_transform",
    "check_set_output_transform_pandas",
    "check_global_output_transform_pandas",
    "check_transformer_get_feature_names_out",
    "check_transformer_get_feature_names_out_pandas",
)


@pytest.fixture(autouse=True)
def short_distillation(monkeypatch):
    for plan in ("PLAN", "MANY_ROWS"):
        monkeypatch.setattr(student, plan, replace(getattr(student, plan), steps=STEPS_OF_STUDENT))


def on_rows(name: str, **parameters):
    """Return an estimator whose ``fit`` takes rows alone, with some parameters if it has them."""
    cls = pl.METHODS[name]

    def fit(self, X, y=None):
        if self.uses_graph == "never":
            return cls.fit(self, X, y)
        dense = np.asarray(X.toarray() if hasattr(X, "toarray") else X)
        links = min(3, len(dense) - 1) if dense.ndim == 2 and len(dense) > 1 else 0
        usable = links and dense.dtype.kind in "fiu" and np.isfinite(dense).all()
        graph = knn_graph(dense, k=links, nodes=X.index if hasattr(X, "columns") else None) if usable else ([], [])
        return cls.fit(self, X if cls.uses_features != "never" else None, y, graph=graph)

    # Of the same module and name, so that it can be pickled by them.
    made = type(f"Rows{cls.__name__}", (cls,), {"fit": fit, "__init__": cls.__init__, "__module__": __name__})
    globals()[made.__name__] = made
    estimator = made()
    if name == "planetoid":
        parameters = {"training__steps": STEPS_OF_STUDENT, **parameters}
    wanted = {**SMALL, **parameters}
    return estimator.set_params(**{key: value for key, value in wanted.items() if key in estimator.get_params()})


@pytest.mark.parametrize("check", OF_TRANSFORMERS)
@pytest.mark.parametrize("name", [name for name in INDUCTIVE if hasattr(pl.METHODS[name], "transform")])
def test_checks_of_a_transformer(name, check):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        getattr(estimator_checks, check)(type(on_rows(name)).__name__, on_rows(name, **FEW_STEPS))


@pytest.mark.parametrize("name", list(pl.METHODS))
def test_defaults_are_immutable_and_stored_as_they_are(name):
    """What check_parameters_default_constructible asks for, with parameter objects besides plain values."""
    model = pl.METHODS[name]()
    for parameter in signature(pl.METHODS[name].__init__).parameters.values():
        if parameter.name == "self":
            continue
        assert parameter.kind is parameter.KEYWORD_ONLY
        assert type(parameter.default) in (str, int, float, bool, type(None)) or (
            isinstance(parameter.default, Parameters) and parameter.default.__dataclass_params__.frozen
        )
        assert getattr(model, parameter.name) is parameter.default


SLOW = ("planetoid-i", "semiemb")  # whose checks take longer than those of all others


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[pytest.mark.soak] if name in SLOW else []) for name in INDUCTIVE]
)
def test_all_checks_of_an_inductive_method(name):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = estimator_checks.check_estimator(on_rows(name), on_fail=None, on_skip=None)
    failed = {entry["check_name"]: repr(entry["exception"]) for entry in found if entry["status"] == "failed"}
    assert {check: why for check, why in failed.items() if check not in DIFFERS} == {}
    assert sum(entry["status"] == "passed" for entry in found) >= 40


@pytest.mark.parametrize("check", OF_ALL_METHODS)
@pytest.mark.parametrize("name", TRANSDUCTIVE)
def test_checks_of_a_transductive_method(name, check):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        getattr(estimator_checks, check)(type(on_rows(name)).__name__, on_rows(name, **FEW_STEPS))
