"""Calibration: probabilities that say how often a prediction is correct, learned from the training labels.

What a model says about the nodes it was fitted on is no guide to how often it is right. A :class:`Sample` holds what
it says, or would say, where the label is hidden, beside what is known about these nodes:

- validation labels, if there are any;
- the labelled nodes, each scored without its own label (leave-one-out, in closed form);
- unlabelled nodes, with the probabilities of a simple method that is calibrated itself.

:func:`calibrate` fits two numbers to the sample: a temperature, and a share of the uniform distribution, without which
a few confident errors would call for a high temperature everywhere. Neither changes the order of the classes.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from scipy.special import expit, logit

from planetoid.labels import are_balanced

__all__ = [
    "FEATURES_ALONE",
    "GUESSED_UNIFORM",
    "MIN_LABELS",
    "Calibration",
    "Reference",
    "Sample",
    "calibrate",
    "graph_uniform",
    "how_few",
    "log_probabilities",
    "not_zero",
    "predicted_prior",
    "with_usual_values",
]

MIN_LABELS = 10  # below which there is nothing to choose the two numbers by
SMALLEST = 1e-6  # probability; a smaller one says no more
MOST_NODES = 500  # of a sample
# Normal priors of log(temperature) and of the logit of the uniform share: mean and standard deviation.
LOG_TEMPERATURE, LOGIT_UNIFORM = (-0.5, 2.0), (-4.0, 1.5)
GRAPH_UNIFORM, GRAPH_UNIFORM_SPREAD = 0.18, 0.7  # of methods that see the graph alone: the share, and that of its logit
FEW_CLASSES = 7  # up to which it is the same
# The same of softmax regression with one label per class: means, by how much they grow with the logarithm of labels per
# class, and standard deviations, up to FEW_PER_CLASS; from ENOUGH_PER_CLASS on, labels say more than such priors.
PROPAGATED_FEATURES = ((-3.9, 0.85, 0.6), (-1.1, -1.0, 1.0))
FEATURES_ALONE = ((-0.5, 0.0, 0.7), (-2.0, -0.65, 1.0))
FEW_PER_CLASS, ENOUGH_PER_CLASS = 5, 20
BOUNDS = np.array([[-5.0, -9.0], [5.0, 3.0]])
MOST_STEPS, TOLERANCE = 30, 1e-4  # of the minimiser: the decrease of the loss at which it stops
LONGEST_STEP, MOST_HALVINGS = 2.0, 10  # of a step that does not lower the loss
GUESSED_UNIFORM = 0.95  # share where nothing is known about a node, and little more than the order of the classes stays
LARGEST_WEIGHT = 4.0  # of a class that is rarer among the labels than among the predictions, and 1 / that

Matrix = npt.NDArray[np.float64]
Probabilities = npt.NDArray[np.floating[Any]]
Usual = tuple[tuple[float, float, float], tuple[float, float, float]]


@dataclass(frozen=True)
class Calibration:
    """How probabilities were calibrated.

    Attributes
    ----------
    source : str
        Where the two numbers come from: ``"validation labels"``; ``"leave-one-out"``, each labelled node scored without
        its own label; ``"reference"``, the calibrated probabilities of a simple method for unlabelled nodes;
        ``"none"``, if probabilities are raw.
    temperature : float
        By which log-probabilities are divided; below 1, probabilities become more confident.
    uniform : float
        Share of the uniform distribution that is mixed in.
    n_labels : int
        Number of labels that were used.
    seconds : float
        What it cost.
    share : float
        The same, as a share of the time of the fit.
    shift : float
        Added to the logarithm of the odds, where nodes may have several labels.
    independent : bool
        Whether nodes may have several labels: each class is then calibrated on its own, by its log-odds.

    Examples
    --------
    >>> Calibration("leave-one-out", temperature=0.5, uniform=0.0).apply(np.array([[0.6, 0.4]])).round(3)
    array([[0.692, 0.308]])
    """

    source: str = "none"
    temperature: float = 1.0
    uniform: float = 0.0
    n_labels: int = 0
    seconds: float = 0.0
    share: float = 0.0
    shift: float = 0.0
    independent: bool = False

    def apply(self, probabilities: Probabilities) -> Probabilities:
        """Return calibrated probabilities; the order of the classes in a row does not change."""
        if self.source == "none":
            return probabilities
        raw = np.asarray(probabilities)
        if self.independent:
            scores = logit(np.clip(raw.astype(np.float64), SMALLEST, 1 - SMALLEST))
            return np.asarray(expit(scores / self.temperature + self.shift).astype(raw.dtype))
        with np.errstate(divide="ignore"):
            logs = raw.astype(np.float64)
            np.log(logs, out=logs)
        found = _scaled(logs, self.temperature, self.uniform).astype(raw.dtype)
        best = raw.argmax(axis=1)
        tied = np.flatnonzero(found.argmax(axis=1) != best)  # rounding has made two classes equal
        if len(tied):
            found[tied, best[tied]] = np.nextafter(found[tied].max(axis=1), raw.dtype.type(2))
        return np.asarray(found)

    def as_dict(self) -> dict[str, Any]:
        """Return the fields, in the types of JSON."""
        return asdict(self)


NOT_CALIBRATED, EVERYWHERE = Calibration(), slice(None)


class Reference(NamedTuple):
    """A simple method that is calibrated itself, and what it says about labels that it was not shown."""

    probabilities: Probabilities | None  # (node, class); zero where nothing is known; None: those of the method itself
    hidden: Probabilities  # (label, class): of labelled nodes, each without its own label
    targets: Matrix  # (label, class): their labels, weighted
    n_labels: int  # that it was calibrated by
    share: float | None = None  # of its probabilities in the scores of prediction sets; None: by what both say
    agreement: float = 0.98  # temperature of these scores then: if two methods agree, either is more likely to be right
    # What another simple method adds to their logarithms, (node, class): only sets need it, and it takes a while.
    opinion: Callable[[], Probabilities] | None = None
    calibration: Calibration = NOT_CALIBRATED  # of the probabilities, which are raw; what is hidden is calibrated

    def calibrated(self, rows: npt.NDArray[np.int64] | slice = EVERYWHERE) -> Probabilities:
        """Return calibrated probabilities of these nodes; zero where nothing is known."""
        assert self.probabilities is not None
        raw = self.probabilities[rows]
        known = not_zero(raw)
        if known.all():
            return self.calibration.apply(raw)
        found = raw.copy()
        found[known] = self.calibration.apply(raw[known])
        return np.asarray(found)


class Sample(NamedTuple):
    """What a model says about nodes whose label it does not know, and what is known about them."""

    scores: Matrix  # (node, class): log-probabilities
    targets: Matrix  # (node, class): 1 for the label, or probabilities
    n_labels: int  # that stand behind the targets
    source: str
    temperature_factor: float = 1.0  # by which the temperature found is known to be off
    usual_temperature: tuple[float, float] = LOG_TEMPERATURE  # prior of the logarithm of the temperature
    usual_uniform: tuple[float, float] = LOGIT_UNIFORM  # prior of the logit of the uniform share
    weight: float = 1.0  # of a label beside the priors
    fewest: int = MIN_LABELS  # labels below which the priors are no guide
    reference: Reference | None = None  # that the targets come from
    differ: float = 0.0  # share of the nodes about which the model and the reference differ

    @classmethod
    def of_labels(
        cls,
        scores: npt.ArrayLike,
        codes: npt.ArrayLike,
        source: str,
        prior: npt.ArrayLike | None = None,
        *,
        balanced: bool | None = None,
    ) -> Sample:
        """Return the sample of labelled nodes.

        ``prior`` is the share of each class among all nodes. Labels are often balanced where the classes are not; each
        node then stands for as many others as its class asks for. Labels that are not balanced are taken for a random
        sample, in which every node counts alike. ``balanced`` says whether they are, where these are not all labels.
        """
        table, labels = np.asarray(scores, dtype=np.float64), np.asarray(codes, dtype=np.int64)
        targets = np.eye(table.shape[1])[labels]
        if prior is not None and len(labels) and (are_balanced(labels) if balanced is None else balanced):
            shares = targets.mean(axis=0)
            weights = np.divide(np.asarray(prior), shares, out=np.ones_like(shares), where=shares > 0)
            weights = np.clip(weights, 1 / LARGEST_WEIGHT, LARGEST_WEIGHT)[labels]
            targets *= (weights / weights.mean())[:, None]
        return cls(table, targets, len(labels), source)

    @classmethod
    def of_reference(
        cls,
        probabilities: Probabilities,
        reference: Reference,
        *,
        rows: npt.NDArray[np.int64] | None = None,
        as_accurate: bool = False,
    ) -> Sample:
        """Return the sample of nodes about which another, calibrated method says how likely each class is.

        Parameters
        ----------
        probabilities : array of shape (n_nodes, n_classes)
            What the model says.
        reference : Reference
            The other method.
        rows : array, optional
            The nodes to choose from; by default all.
        as_accurate : bool
            Whether the model is right as often as the other method, also where they differ. By default the other
            method decides, which is appropriate if it knows at least as much.
        """
        rows = np.arange(len(probabilities)) if rows is None else rows
        some = rows
        if len(rows) > MOST_NODES:
            some = rows[np.linspace(0, len(rows) - 1, MOST_NODES).astype(np.int64)]
        scores, targets = log_probabilities(probabilities[some]), reference.calibrated(some).astype(np.float64)
        differ = float((scores.argmax(axis=1) != targets.argmax(axis=1)).mean()) if len(some) else 0.0
        if as_accurate:
            order = scores.argsort(axis=1)
            targets_in_order = np.sort(targets, axis=1)
            np.put_along_axis(targets, order, targets_in_order, axis=1)
        return cls(scores, targets, reference.n_labels, "reference", reference=reference, differ=differ)


def calibrate(sample: Sample) -> Calibration:
    """Choose the temperature and the uniform share that make the targets of a sample most likely.

    Few labels say little: both numbers are drawn to usual values, more strongly where these are known better.

    >>> scores = np.log([[0.6, 0.4]] * 100)  # always 60 % for the first class, which is right nine times out of ten
    >>> found = calibrate(Sample.of_labels(scores, [0] * 90 + [1] * 10, "validation labels"))
    >>> found.apply(np.array([[0.6, 0.4]])).round(2)
    array([[0.9, 0.1]])
    """
    if sample.n_labels < sample.fewest or (sample.fewest and len(sample.scores) == 0):
        return Calibration()
    found = _most_likely(sample, np.array([sample.usual_temperature, sample.usual_uniform]).T)
    temperature = float(np.exp(found[0])) * sample.temperature_factor
    return Calibration(sample.source, temperature, float(1 / (1 + np.exp(-found[1]))), sample.n_labels)


def _most_likely(sample: Sample, usual: Matrix) -> Matrix:
    """Return the logarithm of the temperature and the logit of the uniform share, by the method of BFGS.

    ``usual`` has the means of both numbers and their standard deviations. For two numbers, a general minimiser is
    mostly overhead.
    """
    weight = sample.weight * sample.n_labels / max(sample.targets.sum(), SMALLEST)
    scores, targets = sample.scores - sample.scores.max(axis=1, keepdims=True), weight * sample.targets
    (centre, spread), n_classes, flat = usual, scores.shape[1], targets.ravel()
    slopes = np.empty((2, *scores.shape))

    def loss(numbers: Matrix) -> tuple[float, Matrix]:
        """Return the loss and its gradient; ``slopes`` are the derivatives of the logarithms of the probabilities."""
        uniform = 1 / (1 + math.exp(-numbers[1]))
        scaled = scores * math.exp(-numbers[0])
        soft = np.exp(scaled)  # at most 1, as the largest score of a row is 0
        soft /= soft.sum(axis=1, keepdims=True)
        scaled -= np.einsum("ij,ij->i", soft, scaled)[:, None]
        soft *= 1 - uniform
        np.multiply(soft, scaled, out=slopes[0])
        soft += uniform / n_classes
        np.subtract(uniform / n_classes, uniform * soft, out=slopes[1])
        slopes[0] *= -1
        np.divide(slopes, soft, out=slopes)
        from_usual = (numbers - centre) / spread
        value = 0.5 * float(from_usual @ from_usual) - float(flat @ np.log(soft, out=soft).ravel())
        return value, from_usual / spread - slopes.reshape(2, -1) @ flat

    best = centre
    value, gradient = loss(best)
    a, b, c = (float(flat @ (slopes[k] * slopes[m]).ravel()) for k, m in ((0, 0), (0, 1), (1, 1)))
    a, c = a + spread[0] ** -2.0, c + spread[1] ** -2.0  # the curvature is ((a, b), (b, c))
    for _ in range(MOST_STEPS):
        step = np.array([b * gradient[1] - c * gradient[0], b * gradient[0] - a * gradient[1]]) / (a * c - b * b)
        if -gradient @ step < TOLERANCE:
            break
        step /= max(1.0, abs(step[0]) / LONGEST_STEP, abs(step[1]) / LONGEST_STEP)
        for _ in range(MOST_HALVINGS):
            tried = np.minimum(np.maximum(best + step, BOUNDS[0]), BOUNDS[1])
            after, slope = loss(tried)
            if after < value:
                break
            step /= 2
        else:
            break
        (x, y), (u, v) = tried - best, slope - gradient
        if x * u + y * v > 0:
            p, q = a * x + b * y, b * x + c * y
            turned, bent = x * u + y * v, x * p + y * q
            a, b, c = (
                a + u * u / turned - p * p / bent,
                b + u * v / turned - p * q / bent,
                c + v * v / turned - q * q / bent,
            )
        else:  # not convex here: go further
            a, b, c = a / 4, b / 4, c / 4
        best, value, gradient = tried, after, slope
    return np.asarray(best)


def log_probabilities(probabilities: Probabilities) -> Matrix:
    """Return logarithms, of zero as of a very small number."""
    return np.log(np.maximum(np.asarray(probabilities, dtype=np.float64), SMALLEST))


def graph_uniform(n_classes: int, per_class: float = ENOUGH_PER_CLASS) -> tuple[float, float]:
    """Return the prior of the logit of the uniform share, for methods that see the graph alone.

    A label that arrives over a wrong edge is as confident as any other, which calls for a uniform share. Wrong labels
    are those of neighbours, so with more classes they are a smaller part of all classes. Where labels are few, they
    come from far away.

    >>> graph_uniform(4) == graph_uniform(7), graph_uniform(100)[0] < graph_uniform(7)[0] < graph_uniform(7, 1)[0] < 0
    (True, True)
    """
    share = GRAPH_UNIFORM * min(1.0, FEW_CLASSES / n_classes)
    return math.log(share / (1 - share)) + how_few(per_class, FEW_PER_CLASS), GRAPH_UNIFORM_SPREAD


def how_few(per_class: float, enough: float = ENOUGH_PER_CLASS) -> float:
    """Return 1 for one label per class, 0 if there are enough, and by the logarithm of their number between the two.

    >>> how_few(1), round(how_few(5), 2), how_few(20), how_few(0.5), how_few(100)
    (1.0, 0.46, 0.0, 1.0, 0.0)
    """
    return max(0.0, 1 - math.log(max(per_class, 1.0)) / math.log(enough))


def with_usual_values(sample: Sample, per_class: float, ones: Usual = PROPAGATED_FEATURES) -> Sample:
    """Return a sample of softmax regression, with what is usual for so many labels per class.

    Of propagated features, the weights are shrunk more the fewer labels there are, and the temperature is lower.
    Left-out labels say little about it: a class that lacks one of two labels is predicted much less often.

    Parameters
    ----------
    sample : Sample
    per_class : float
    ones : PROPAGATED_FEATURES or FEATURES_ALONE
        What is usual with one label per class, and how it changes.

    Examples
    --------
    >>> sample = Sample(np.empty((0, 2)), np.empty((0, 2)), 0, "leave-one-out")
    >>> few, many = (with_usual_values(sample, n) for n in (1, 100))
    >>> few.usual_temperature, many.usual_temperature[1] == LOG_TEMPERATURE[1], many.usual_uniform == LOGIT_UNIFORM
    ((-3.9, 0.6), True, True)
    """
    few = min(max(per_class, 1.0), ENOUGH_PER_CLASS)
    certain = math.log(max(1.0, few / FEW_PER_CLASS)) / math.log(ENOUGH_PER_CLASS / FEW_PER_CLASS)  # 0 to 1
    priors = []
    for (mean, growth, spread), usual in zip(ones, (LOG_TEMPERATURE, LOGIT_UNIFORM), strict=True):
        centre = mean + growth * math.log(few)
        centre = min(centre, usual[0]) if growth > 0 else max(centre, usual[0])
        priors.append((centre, spread ** (1 - certain) * usual[1] ** certain))
    weight = min(1.0, (few - 1) / (FEW_PER_CLASS - 1)) ** 2
    return sample._replace(usual_temperature=priors[0], usual_uniform=priors[1], weight=weight)


def predicted_prior(probabilities: Probabilities) -> Matrix:
    """Return the share of each class among the predictions; rows of zeros do not count."""
    counts = np.bincount(probabilities.argmax(axis=1)[not_zero(probabilities)], minlength=probabilities.shape[1])
    return np.asarray(counts / max(1, counts.sum()))


def not_zero(probabilities: Probabilities) -> npt.NDArray[np.bool_]:
    """Return which rows have a positive entry; a product is much faster than to look at short rows one by one."""
    return np.asarray(probabilities @ np.ones(probabilities.shape[1], probabilities.dtype) > 0)


def _scaled(logs: Matrix, temperature: float, uniform: float) -> Matrix:
    soft = logs / temperature
    soft -= soft.max(axis=1, keepdims=True)
    np.exp(soft, out=soft)
    soft *= (1 - uniform) / soft.sum(axis=1, keepdims=True)
    soft += uniform / logs.shape[1]
    return soft
