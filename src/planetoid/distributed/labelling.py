"""``Labeller``: labels of new rows by a saved model, as every worker of a cluster computes them."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from planetoid.errors import DataError, NotInductiveError
from planetoid.io.model_files import DOCUMENT_NAME
from planetoid.persistence import SavedModel
from planetoid.utils.hashing import sha256_of_file

if TYPE_CHECKING:
    import pandas as pd

    from planetoid.estimator.classifier import GraphClassifier

__all__ = ["Labeller", "loaded_model"]


class Labeller:
    """Adds labels and probabilities to the rows of data frames; small enough to be sent to every worker.

    A worker loads the model once, from its folder, which all of them see.

    Parameters
    ----------
    path : path
        Folder of a saved model that is inductive.
    id_column : str, optional
        Column that is copied to the result.
    all_probabilities : bool
        Whether there is a column ``probability_CLASS`` for each class.

    Examples
    --------
    >>> import pandas as pd, planetoid as pl, tempfile
    >>> X = pd.DataFrame({"a": [0.0, 1.0, 0.1, 0.9], "b": [1.0, 0.0, 1.0, 0.0]})
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     pl.Feat().fit(X, ["b", "a", "b", "a"]).save(folder + "/model")
    ...     Labeller(folder + "/model")(pd.DataFrame({"b": [0.0], "a": [1.0]}))["label"].tolist()
    ['a']
    """

    def __init__(self, path: str | Path, *, id_column: str | None = None, all_probabilities: bool = False) -> None:
        saved = SavedModel(path)
        if not saved.method.inductive:
            raise NotInductiveError(
                f"the model is {saved.method.name}, which is transductive: it labels only the nodes it was fitted on",
                path=saved.path,
                hint="fit an inductive method such as planetoid-i or feat to label new rows",
            )
        if saved.multi_label:
            raise DataError(
                "the model has several labels per node, and workers of a cluster write one",
                path=saved.path,
                hint="predict in one process: planetoid predict without --engine, or pl.load(path).predict_proba(X)",
            )
        self.path, self.sha256 = saved.path.resolve(), sha256_of_file(saved.path / DOCUMENT_NAME)
        self.id_column, self.all_probabilities = id_column, all_probabilities
        self.classes = saved.classes

    def __call__(self, rows: pd.DataFrame) -> pd.DataFrame:
        """Return label, probability, runner_up and runner_up_probability of each row, with the index of the rows."""
        import pandas as pd

        features = rows if self.id_column is None else rows.drop(columns=self.id_column)
        if len(rows):
            model = loaded_model(self.path, self.sha256)
            table = np.asarray(model.predict_proba(features), dtype=np.float32)
        else:
            table = np.empty((0, len(self.classes)), np.float32)
        labels = pd.Series(self.classes)  # of one type, also where there are no rows
        ranked = np.argsort(-table, axis=1, kind="stable")[:, :2]
        columns: dict[str, object] = {} if self.id_column is None else {self.id_column: rows[self.id_column]}
        for rank, (label, probability) in enumerate([("label", "probability"), ("runner_up", "runner_up_probability")]):
            chosen = ranked[:, min(rank, table.shape[1] - 1)]
            columns[label] = labels.iloc[chosen].set_axis(rows.index)
            columns[probability] = pd.Series(table[np.arange(len(table)), chosen], index=rows.index)
        if self.all_probabilities:
            for code, name in enumerate(self.classes.tolist()):
                columns[f"probability_{name}"] = pd.Series(table[:, code], index=rows.index)
        labelled: pd.DataFrame = pd.DataFrame(columns, index=rows.index)
        return labelled

    def description(self) -> dict[str, object]:
        """Return what decides the predictions of a row, as plain data."""
        return {
            "model": self.sha256,
            "id_column": self.id_column,
            "all_probabilities": self.all_probabilities,
        }


@lru_cache(maxsize=2)
def loaded_model(path: Path, sha256: str) -> GraphClassifier:
    """Return the model of a folder, loaded once per process; the checksum tells whether it is still the same."""
    if sha256_of_file(path / DOCUMENT_NAME) != sha256:
        raise DataError("the model was replaced while it was used", path=path)
    return SavedModel(path).load()
