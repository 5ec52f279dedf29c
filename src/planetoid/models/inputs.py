"""``Inputs``: features as :class:`~planetoid.Planetoid` sees them, the same for fitted nodes and new rows."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import numpy.typing as npt
from scipy import sparse

from planetoid.data.dataset import Features
from planetoid.data.scaling import Rows, scale_rows
from planetoid.io.model_files import Tensors
from planetoid.models.opinions import clearly_better
from planetoid.models.views import FeatureView, Regression
from planetoid.training.settings import Consistency

if TYPE_CHECKING:
    from planetoid.export.operators import Operators, Value

__all__ = ["Inputs", "keeping_few"]

SMALLEST = 1e-6  # standard deviation of a column that is not constant
VERY_DIFFERENT = 10.0  # times the median deviation: columns are in different units
FEW_COLUMNS = 16  # up to which the length of a row says something beside its direction, and classes are rarely linear
MOST_CURVED_COLUMNS, MOST_CURVED_ENTRIES = 64, 50_000_000  # of tables that may get waves: columns, and entries then
N_WAVES = 256
WAVE_WIDTH = 0.5  # times the median distance between labelled rows: that of the Gaussian kernel of the waves
STANDARD_ERRORS = 2.0  # by which added columns have to label more of the labelled rows correctly
NOTHING = np.empty(0, np.float32)
ROOT_HALF = np.float32(np.sqrt(0.5))  # with which two blocks of columns of unit norm are one


class Waves(NamedTuple):
    """Random waves over scaled rows, whose products are about those of a Gaussian kernel (Rahimi and Recht, 2007)."""

    directions: npt.NDArray[np.float32]  # (column, wave)
    phases: npt.NDArray[np.float32]
    mean: npt.NDArray[np.float32]  # of each wave over the fitted rows

    def of_rows(self, rows: npt.NDArray[np.float32]) -> npt.NDArray[np.float32]:
        """Return the waves at rows; rows of zeros are nodes without features and have none."""
        height = np.float32(np.sqrt(2 / max(1, len(self.phases))))
        values = height * np.cos(rows @ self.directions + self.phases) - self.mean
        values[~rows.any(axis=1)] = 0.0
        return np.asarray(values, dtype=np.float32)


NO_WAVES = Waves(np.empty((0, 0), np.float32), NOTHING, NOTHING)


class Inputs(NamedTuple):
    """How rows are scaled: dense columns to mean 0 and perhaps to deviation 1, then every row to unit norm.

    Columns in different units have to be brought to one scale; in embeddings and principal components, wide columns are
    those that matter. What the labels say decides, and where they do not, how much the widths differ. Sparse columns
    keep their zeros, so they are not centred; words, tags and the like need no scaling of columns.

    Of one number, unit norm would leave the sign. Where there are few columns, dense or sparse, all rows get a column
    of ones before they are scaled, so that nothing of them is lost. Two more kinds of columns are added if labelled
    rows are then labelled better by each other, clearly: where there are many columns, the length of a row before it
    was scaled (of counts, the total may matter); and where there are up to 64 dense columns, :class:`Waves`, with which
    linear methods see classes that are not on two sides of a plane. Of up to 16 columns, that is the rule, and waves
    are left out only if labelled rows are labelled worse with them, by a standard error.
    """

    mean: npt.NDArray[np.float32]  # no entries for sparse features
    deviation: npt.NDArray[np.float32]
    row_normalize: str | None
    with_ones: bool = False  # whether rows have one more column
    length: npt.NDArray[np.float32] = NOTHING  # mean and deviation of the logarithm of lengths, if they are a column
    waves: Waves = NO_WAVES

    @classmethod
    def of(
        cls, X: Features, row_normalize: str | None, labelled: npt.NDArray[np.int64], codes: npt.NDArray[np.integer]
    ) -> Inputs:
        """Learn the scaling from the fitted rows; rows of zeros are nodes without features and do not count."""
        plain = cls._plain(X, row_normalize, labelled, codes)
        several = codes[np.bincount(codes, minlength=1)[codes] > 1] if len(codes) and codes.min() >= 0 else codes[:0]
        if row_normalize is None or len(several) <= STANDARD_ERRORS**2:
            return plain
        richer = [plain._with_length(X)] if X.shape[1] > FEW_COLUMNS else []
        few_enough = X.shape[1] <= MOST_CURVED_COLUMNS and X.shape[0] * N_WAVES <= MOST_CURVED_ENTRIES
        if few_enough and not plain.keep_zeros:
            richer.append(plain._curved(X, labelled))
        best, correct = plain, _correct(plain.scaled(X[labelled]), codes)
        for inputs in richer:
            found = _correct(inputs.scaled(X[labelled]), codes)
            better = clearly_better(found, correct, STANDARD_ERRORS)
            if inputs.is_curved and X.shape[1] <= FEW_COLUMNS:
                better = not clearly_better(correct, found, 1.0)
            if better:
                best, correct = inputs, found
        return best

    @classmethod
    def _plain(
        cls, X: Features, row_normalize: str | None, labelled: npt.NDArray[np.int64], codes: npt.NDArray[np.integer]
    ) -> Inputs:
        """Learn the scaling of columns."""
        n_columns = X.shape[1]
        few = n_columns <= FEW_COLUMNS
        if not isinstance(X, np.ndarray):
            if not few:
                return cls(NOTHING, NOTHING, row_normalize)
            X = X.toarray()
        rows, with_ones = X[(X != 0).any(axis=1)], few and row_normalize is not None
        if len(rows) == 0:
            return cls(np.zeros(n_columns, np.float32), np.ones(n_columns, np.float32), row_normalize, with_ones)
        mean = rows.mean(axis=0, dtype=np.float64).astype(np.float32)
        deviation = rows.std(axis=0, dtype=np.float64)
        varies = deviation > SMALLEST * np.abs(rows).max(axis=0)
        deviation[~varies] = 1.0
        usual = float(np.median(deviation[varies])) if varies.any() else 1.0
        as_they_are = cls(mean, np.full(n_columns, usual, np.float32), row_normalize, with_ones)
        alike = cls(mean, deviation.astype(np.float32), row_normalize, with_ones)
        differ = varies.any() and deviation[varies].max() > VERY_DIFFERENT * usual
        first, second = (alike, as_they_are) if differ else (as_they_are, alike)
        one, two = (_regression(inputs.scaled(X[labelled]), codes).accuracy for inputs in (first, second))
        error = np.sqrt(max(one, two) * (1 - max(one, two)) / len(codes))
        return second if two > one + error else first

    def _with_length(self, X: Features) -> Inputs:
        """Return the inputs with the length of a row as one more column."""
        lengths = _lengths(self._standardised(X))
        logs = np.log1p(lengths[lengths > 0])
        deviation = float(logs.std()) if len(logs) else 0.0
        if deviation < SMALLEST:
            return self  # all rows are of the same length
        return self._replace(length=np.array([logs.mean(), deviation], np.float32))

    def _curved(self, X: Features, labelled: npt.NDArray[np.int64]) -> Inputs:
        """Return the inputs with waves as more columns."""
        rows = np.asarray(self.scaled(X), dtype=np.float32)
        some = rows[labelled]
        squares = (some**2).sum(axis=1)
        distances = np.sqrt(np.maximum(squares[:, None] + squares - 2 * some @ some.T, 0.0))
        if not (distances > SMALLEST).any():
            return self
        width = WAVE_WIDTH * float(np.median(distances[distances > SMALLEST]))
        random = np.random.default_rng(0)
        directions = (random.normal(size=(rows.shape[1], N_WAVES)) / width).astype(np.float32)
        waves = Waves(
            directions, random.uniform(0, 2 * np.pi, N_WAVES).astype(np.float32), np.zeros(N_WAVES, np.float32)
        )
        return self._replace(waves=waves._replace(mean=waves.of_rows(rows[rows.any(axis=1)]).mean(axis=0)))

    def tensors(self) -> Tensors:
        """Return the scaling by name."""
        with_ones = np.array([self.with_ones], np.uint8)
        found: Tensors = {"inputs.mean": self.mean, "inputs.deviation": self.deviation, "inputs.with_ones": with_ones}
        if len(self.length):
            found["inputs.length"] = self.length
        if self.is_curved:
            found |= {f"inputs.waves.{name}": value for name, value in self.waves._asdict().items()}
        return found

    @classmethod
    def of_tensors(cls, tensors: Tensors, row_normalize: str | None) -> Inputs:
        """Restore what :meth:`tensors` returned."""
        with_ones = tensors.get("inputs.with_ones", np.zeros(1))  # models of before have none
        waves = NO_WAVES
        if "inputs.waves.phases" in tensors:
            waves = Waves(*(tensors[f"inputs.waves.{name}"] for name in Waves._fields))
        return cls(
            tensors["inputs.mean"], tensors["inputs.deviation"], row_normalize, bool(with_ones[0]),
            tensors.get("inputs.length", NOTHING), waves,
        )  # fmt: skip

    @property
    def keep_zeros(self) -> bool:
        """Whether rows are sparse, so that their columns are neither centred nor scaled."""
        return len(self.mean) == 0

    @property
    def only_norm(self) -> bool:
        """Whether nothing but the norm of each row is changed."""
        return self.keep_zeros and not len(self.length)

    @property
    def is_curved(self) -> bool:
        """Whether rows have waves."""
        return len(self.waves.phases) > 0

    @property
    def adds_columns(self) -> bool:
        """Whether rows have more columns than the features."""
        return self.with_ones or len(self.length) > 0 or self.is_curved

    def scaled(self, X: Features) -> Rows:
        """Scale rows."""
        rows = self._standardised(X)
        found = scale_rows(rows, self.row_normalize)
        if len(self.length):
            found = _beside(found, self._length_column(rows))
        if self.is_curved:
            assert isinstance(found, np.ndarray)
            found = _beside(found, self.waves.of_rows(found.astype(np.float32, copy=False)))
        return found

    def _standardised(self, X: Features) -> Rows:
        """Return rows with their columns centred and scaled, if they are dense, before they are scaled themselves."""
        if self.keep_zeros:
            as_given = isinstance(X, sparse.csr_array) and X.dtype == np.float32
            return X if as_given else sparse.csr_array(X, dtype=np.float32)
        dense = np.asarray(X if isinstance(X, np.ndarray) else X.toarray(), dtype=np.float32)
        scaled = (dense - self.mean) / self.deviation
        if self.with_ones:
            scaled = np.column_stack([scaled, np.ones(len(scaled), np.float32)])
        scaled[~(dense != 0).any(axis=1)] = 0.0
        return scaled

    def _length_column(self, rows: Rows) -> npt.NDArray[np.float32]:
        lengths = _lengths(rows)
        column = (np.log1p(lengths) - self.length[0]) / self.length[1]
        return np.where(lengths > 0, column, 0.0).astype(np.float32)[:, None]

    def write(self, operators: Operators, n_features: int) -> Value:
        """Describe :meth:`scaled` for an export of a model on so many features."""
        dense = () if self.keep_zeros else (self.mean, self.deviation)
        rows = operators.rows(None, *dense, with_ones=self.with_ones)
        found = operators.to_norm(rows, self.row_normalize)
        if len(self.length):
            found = operators.with_length(rows, found, self.length, n_features, float(ROOT_HALF))
        if self.is_curved:
            found = operators.with_waves(found, *self.waves, float(ROOT_HALF))
        return found

    def by_given_columns(
        self, columns: npt.NDArray[np.integer], values: npt.NDArray[np.float64], x: npt.NDArray[np.float64]
    ) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.float64], float]:
        """Return what the features contribute to a score, from what the columns of scaled rows do.

        The contribution of a wave is divided among the features by what each adds to its argument at the scaled row
        ``x``. What remains, of a column of ones or of the length of a row, is no reason and comes last.
        """
        n_columns = len(x) - len(self.waves.phases)
        n_given = n_columns - int(self.with_ones) - int(len(self.length) > 0)
        found = np.zeros(len(x))
        found[columns] = values
        own = found[:n_columns]
        if self.is_curved:
            parts = np.abs(self.waves.directions.astype(np.float64) * x[:n_columns, None] / ROOT_HALF)
            own = own + parts @ (found[n_columns:] / np.maximum(parts.sum(axis=0), SMALLEST))
        given = np.flatnonzero(own[:n_given])
        return given, own[given], float(found.sum() - own[given].sum())


def keeping_few(plan: Consistency, n_columns: int) -> Consistency:
    """Return how to train on inputs of so many columns: the fewer there are, the fewer of them are dropped.

    >>> [keeping_few(Consistency(), n).feature_dropout for n in (1, 8, 16, 1000)]
    [0.0, 0.25, 0.5, 0.5]
    """
    share = min(1.0, (n_columns if n_columns > 1 else 0) / FEW_COLUMNS)
    return replace(plan, feature_dropout=plan.feature_dropout * share)


def _beside(rows: Rows, columns: npt.NDArray[np.float32]) -> Rows:
    """Return rows of about unit norm with more columns of about unit norm."""
    if isinstance(rows, np.ndarray):
        return np.hstack([ROOT_HALF * rows, ROOT_HALF * columns]).astype(np.float32, copy=False)
    return sparse.csr_array(sparse.hstack([ROOT_HALF * rows, sparse.csr_array(ROOT_HALF * columns)]), dtype=np.float32)


def _lengths(rows: Rows) -> npt.NDArray[np.float64]:
    """Return the Euclidean norm of each row."""
    if isinstance(rows, np.ndarray):
        return np.asarray(np.sqrt(np.einsum("ij,ij->i", rows, rows, dtype=np.float64)))
    row = np.repeat(np.arange(rows.shape[0]), np.diff(rows.indptr))
    return np.asarray(np.sqrt(np.bincount(row, rows.data.astype(np.float64) ** 2, minlength=rows.shape[0])))


def _correct(rows: Rows, codes: npt.NDArray[np.integer]) -> npt.NDArray[np.bool_]:
    """Return which labelled rows a regression on the others labels correctly."""
    return np.asarray(_regression(rows, codes).left_out.argmax(axis=1) == codes)


def _regression(rows: Rows, codes: npt.NDArray[np.integer]) -> Regression:
    view = FeatureView(rows, None, np.arange(len(codes)), np.random.default_rng(0))
    return view.regression(np.eye(int(codes.max()) + 1)[codes])
