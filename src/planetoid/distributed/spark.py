"""Labels of the rows of a Spark data frame: ``frame.mapInArrow(predictor("model"), schema("model"))``."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from planetoid.distributed.labelling import Labeller

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["predictor", "schema"]

SPARK_TYPES = {"i": "bigint", "u": "bigint", "f": "double"}  # of labels, by the kind of their NumPy type


def predictor(
    model: str | Path, *, id_column: str | None = None, all_probabilities: bool = False
) -> Callable[[Iterator[pa.RecordBatch]], Iterator[pa.RecordBatch]]:
    """Return a function for Spark's ``mapInArrow`` that labels rows by a saved inductive model.

    Parameters
    ----------
    model : path
        Folder of the model, which all executors see.
    id_column : str, optional
        Column that is copied to the result, as text.
    all_probabilities : bool
        Add a column ``probability_CLASS`` for each class.

    Examples
    --------
    >>> import pandas as pd, planetoid as pl, pyarrow as pa, tempfile
    >>> X = pd.DataFrame({"a": [0.0, 1.0, 0.1, 0.9], "b": [1.0, 0.0, 1.0, 0.0]})
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     pl.Feat().fit(X, ["b", "a", "b", "a"]).save(folder + "/model")
    ...     print(schema(folder + "/model"))
    ...     label = predictor(folder + "/model")
    ...     [batch["label"].to_pylist() for batch in label(iter([pa.RecordBatch.from_pandas(X)]))]
    label string, probability float, runner_up string, runner_up_probability float
    [['b', 'a', 'b', 'a']]
    """
    labeller = Labeller(model, id_column=id_column, all_probabilities=all_probabilities)

    def label(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            yield _labelled(labeller, batch)

    return label


def schema(model: str | Path, *, id_column: str | None = None, all_probabilities: bool = False) -> str:
    """Return the columns that :func:`predictor` gives, as Spark's ``mapInArrow`` wants to know them."""
    return ", ".join(f"{_quoted(name)} {kind}" for name, kind in _columns(Labeller(
        model, id_column=id_column, all_probabilities=all_probabilities
    )))  # fmt: skip


def _columns(labeller: Labeller) -> list[tuple[str, str]]:
    label = SPARK_TYPES.get(labeller.classes.dtype.kind, "string")
    columns = [] if labeller.id_column is None else [(labeller.id_column, "string")]
    columns += [("label", label), ("probability", "float"), ("runner_up", label), ("runner_up_probability", "float")]
    if labeller.all_probabilities:
        columns += [(f"probability_{name}", "float") for name in labeller.classes.tolist()]
    return columns


def _labelled(labeller: Labeller, batch: pa.RecordBatch) -> pa.RecordBatch:
    import pyarrow as pa

    arrow_types = {"bigint": pa.int64(), "double": pa.float64(), "float": pa.float32(), "string": pa.string()}
    frame = labeller(batch.to_pandas())
    columns = _columns(labeller)
    arrays = []
    for name, kind in columns:
        values = frame[name].astype(str) if kind == "string" else frame[name]
        arrays.append(pa.Array.from_pandas(values, type=arrow_types[kind]))
    return pa.RecordBatch.from_arrays(arrays, names=[name for name, _ in columns])


def _quoted(name: str) -> str:
    return name if name.isidentifier() else "`" + name.replace("`", "``") + "`"
