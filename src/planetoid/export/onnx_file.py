"""``to_onnx``: an inductive model as a file that other runtimes read, without this library."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import logit
from sklearn.utils.validation import check_is_fitted

from planetoid.calibration import SMALLEST
from planetoid.errors import DataError, NotInductiveError, PlanetoidError
from planetoid.export.operators import Operators, Value
from planetoid.utils.atomic import atomic_write
from planetoid.utils.versions import package_versions

if TYPE_CHECKING:
    from onnx import ModelProto, ValueInfoProto

    from planetoid.estimator.classifier import GraphClassifier
    from planetoid.estimator.inductive import InductiveClassifier

__all__ = ["to_onnx"]

OPSET, IR_VERSION = 17, 8  # of 2022: runtimes of the last years read them
LARGEST = 2**31 - 2**20  # bytes; a file cannot hold more


def to_onnx(model: GraphClassifier, path: str | Path, *, tokens: bool = False) -> None:
    """Write a fitted inductive model as an ONNX file, which labels new rows in any ONNX runtime.

    The file holds the scaling of features, the network or the weights, and the calibration. Its outputs are ``label``
    (the names of classes, or integers) and ``probabilities`` (float32, a column per class). Of a model with several
    labels per node they are ``labels`` (int64, 0 or 1 in a column per class: what ``predict`` returns) and
    ``probabilities`` of each class on its own. Its input is one of

    - ``features``, float32, a row per node and a column per feature;
    - with ``tokens=True``, ``tokens`` (int64) and ``values`` (float32), both with a row per node: the column numbers of
      the nonzero features, each at most once, and their values; shorter rows are padded by values of 0
      (:func:`token_rows` makes both from a sparse matrix).

    Names of classes and features, the method and versions are in the metadata, as JSON.

    Parameters
    ----------
    model : InductiveClassifier
        :class:`~planetoid.Planetoid` is exported as what labels new rows by features alone, its student. The student of
        the library answers a row that equals a fitted node from memory; the file has the network alone.
    path : str or Path
    tokens : bool

    Examples
    --------
    >>> import tempfile, numpy as np, onnxruntime, planetoid as pl
    >>> model = pl.Feat().fit([[1.0, 0.0], [0.0, 1.0]], ["fruit", "animal"])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     pl.export.to_onnx(model, f"{folder}/model.onnx")
    ...     session = onnxruntime.InferenceSession(f"{folder}/model.onnx")
    >>> session.run(["label"], {"features": np.array([[0.9, 0.2]], dtype=np.float32)})[0].tolist()
    ['fruit']
    """
    content = _serialized(model, tokens)
    with atomic_write(path) as temporary:
        temporary.write_bytes(content)


def _serialized(model: GraphClassifier, tokens: bool) -> bytes:
    try:
        import onnx
    except ImportError:
        raise PlanetoidError("the package onnx is not installed", hint="pip install planetoid[onnx]") from None
    check_is_fitted(model, "label_distributions_")
    inductive = _checked(model)
    operators = Operators(tokens=tokens)
    write = _write_set_outputs if model.multi_label_ else _write_outputs
    write(inductive, operators, inductive._write_scores(operators))
    if operators.n_bytes > LARGEST:
        raise DataError(f"the model has {operators.n_bytes / 1e9:.1f} GB of weights, but an ONNX file holds 2 GB")
    proto = _as_proto(inductive, operators)
    onnx.checker.check_model(proto)
    return bytes(proto.SerializeToString(deterministic=True))


def _checked(model: GraphClassifier) -> InductiveClassifier:
    from planetoid.estimator.inductive import InductiveClassifier

    if not isinstance(model, InductiveClassifier):
        raise NotInductiveError(
            f"{type(model).__name__} is transductive: it has nothing to label new rows by, which could be exported",
            hint="fit an inductive method, such as Planetoid, PlanetoidI or Feat",
        )
    return model


def _write_outputs(model: InductiveClassifier, operators: Operators, scores: Value) -> None:
    """Add softmax and calibration, in double precision as in the library, and the names of the classes."""
    raw = operators.activation(scores, "softmax")
    found, calibration = operators.cast(raw, np.float64), model.calibration_
    if calibration.source != "none":
        logs = Value(operators.add("Log", found.name), found.dtype)
        soft = operators.activation(operators.scaled(logs, 1 / calibration.temperature), "softmax")
        kept = operators.scaled(soft, 1 - calibration.uniform)
        uniform = operators.constant(np.float64(calibration.uniform / len(model.classes_)))
        found = Value(operators.add("Add", kept.name, uniform), found.dtype)
    operators.add("Cast", found.name, output="probabilities", to=1)  # float32
    best = operators.add("ArgMax", raw.name, axis=1, keepdims=0)
    operators.add("Gather", operators.constant(_class_names(model)), best, output="label", axis=0)


def _write_set_outputs(model: InductiveClassifier, operators: Operators, scores: Value) -> None:
    """Add the calibration of log-odds and a sigmoid per class, and which labels are predicted."""
    logits, calibration = operators.cast(scores, np.float64), model.calibration_
    if calibration.source != "none":
        logits = operators.clipped(logits, *(float(logit(end)) for end in (SMALLEST, 1 - SMALLEST)))
        logits = operators.shifted(operators.scaled(logits, 1 / calibration.temperature), calibration.shift)
    found = operators.activation(logits, "sigmoid")
    operators.add("Cast", found.name, output="probabilities", to=1)  # float32
    threshold = operators.constant(np.float64(model.threshold_))
    likely = operators.add("GreaterOrEqual", found.name, threshold)
    first_best = operators.add("ArgMax", found.name, axis=1, keepdims=1)
    columns = operators.constant(np.arange(len(model.classes_), dtype=np.int64)[None, :])
    is_best = operators.add("Equal", first_best, columns)
    operators.add("Cast", operators.add("Or", likely, is_best), output="labels", to=7)  # int64


def _class_names(model: InductiveClassifier) -> np.ndarray[tuple[int], np.dtype[np.generic]]:
    """Return integers as such, and all other classes as strings."""
    if model.classes_.dtype.kind in "iu":
        return model.classes_.astype(np.int64)
    return np.array([str(name) for name in model.classes_.tolist()], dtype=object)


def _as_proto(model: InductiveClassifier, operators: Operators) -> ModelProto:
    from onnx import helper

    graph = helper.make_graph(
        operators.nodes, type(model).__name__, _inputs(model, operators), _outputs(model), operators.constants
    )
    proto = helper.make_model(
        graph,
        opset_imports=[helper.make_opsetid("", OPSET)],
        ir_version=IR_VERSION,
        producer_name="planetoid",
        producer_version=package_versions()["planetoid"],
    )
    helper.set_model_props(proto, _metadata(model, operators))
    return proto


def _inputs(model: InductiveClassifier, operators: Operators) -> list[ValueInfoProto]:
    from onnx import TensorProto, helper

    if operators.tokens:
        return [
            helper.make_tensor_value_info("tokens", TensorProto.INT64, ["rows", "length"]),
            helper.make_tensor_value_info("values", TensorProto.FLOAT, ["rows", "length"]),
        ]
    return [helper.make_tensor_value_info("features", TensorProto.FLOAT, ["rows", model.n_features_in_])]


def _outputs(model: InductiveClassifier) -> list[ValueInfoProto]:
    from onnx import TensorProto, helper

    probabilities = helper.make_tensor_value_info("probabilities", TensorProto.FLOAT, ["rows", len(model.classes_)])
    if model.multi_label_:
        labels = helper.make_tensor_value_info("labels", TensorProto.INT64, ["rows", len(model.classes_)])
        return [labels, probabilities]
    kind = TensorProto.INT64 if model.classes_.dtype.kind in "iu" else TensorProto.STRING
    return [
        helper.make_tensor_value_info("label", kind, ["rows"]),
        probabilities,
    ]


def _metadata(model: InductiveClassifier, operators: Operators) -> dict[str, str]:
    names = getattr(model, "feature_names_in_", None)
    calibration, spread = model.calibration_.as_dict(), "shift" if model.multi_label_ else "uniform"
    entries: dict[str, object] = {
        "method": type(model).__name__,
        "input": "tokens" if operators.tokens else "dense",
        "class_names": model._plain_classes(),
        "n_features": model.n_features_in_,
        "feature_names": None if names is None else [str(name) for name in names],
        "calibration": {name: calibration[name] for name in ("source", "temperature", spread, "n_labels")},
        "versions": package_versions(),
    }
    if model.multi_label_:
        entries["threshold"] = model.threshold_
    if hasattr(model, "preparation_"):
        entries["preparation"] = model.preparation_.as_dict()
    return {name: json.dumps(value) for name, value in entries.items()}
