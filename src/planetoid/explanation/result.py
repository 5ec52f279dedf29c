"""``Explanation``: the result of ``model.explain``, in the ids, feature names and classes of the user."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass

from planetoid.explanation.rendering import as_html, as_text

__all__ = ["KINDS", "Explanation", "Plain", "Reason", "ReasonGroup"]

KINDS = ("labels", "neighbours", "features")

Plain = str | int | float | None


@dataclass(frozen=True)
class Reason:
    """One contribution to the score of a class.

    Attributes
    ----------
    name : hashable
        The id of a node; the name of a feature, or the number of its column where columns have no names.
    contribution : float
        Positive: it raises the score of the class.
    label : hashable or None
        The known label of a node.
    labels : tuple of hashable, or None
        Its known labels instead, if nodes may have several.
    """

    name: Hashable
    contribution: float
    label: Hashable | None = None
    labels: tuple[Hashable, ...] | None = None

    @property
    def label_text(self) -> str:
        """The known label, or labels, as text; empty without any."""
        if self.labels is not None:
            return "; ".join(map(str, self.labels))
        return "" if self.label is None else str(self.label)

    def to_dict(self) -> dict[str, Plain | list[Plain]]:
        """Return plain data for ``json.dump``; ``labels`` are in it if nodes may have several."""
        found: dict[str, Plain | list[Plain]] = {
            "name": _plain(self.name),
            "contribution": self.contribution,
            "label": _plain(self.label),
        }
        return found if self.labels is None else {**found, "labels": [_plain(label) for label in self.labels]}


@dataclass(frozen=True)
class ReasonGroup:
    """Reasons of one kind.

    Attributes
    ----------
    kind : {"labels", "neighbours", "features"}
        Labelled nodes, nodes around this one, or features.
    meaning : str
        What a contribution is, in words.
    reasons : tuple of Reason
        The strongest ones: those for the class, the strongest first, then those against it, the strongest last.
    n_reasons : int
        How many there are altogether.
    total : float
        Sum of all contributions, also of those that are not listed.
    base : float or None
        What the score is without any of them: ``score = base + total``. ``None`` if contributions do not add up to the
        score.
    """

    kind: str
    meaning: str
    reasons: tuple[Reason, ...]
    n_reasons: int
    total: float
    base: float | None

    @property
    def supporting(self) -> tuple[Reason, ...]:
        """Reasons for the class, the strongest first."""
        return tuple(reason for reason in self.reasons if reason.contribution > 0)

    @property
    def opposing(self) -> tuple[Reason, ...]:
        """Reasons against the class, the strongest first."""
        return tuple(reason for reason in reversed(self.reasons) if reason.contribution < 0)

    def to_dict(self) -> dict[str, object]:
        """Return plain data for ``json.dump``."""
        return {
            "kind": self.kind,
            "meaning": self.meaning,
            "total": self.total,
            "base": self.base,
            "n_reasons": self.n_reasons,
            "reasons": [reason.to_dict() for reason in self.reasons],
        }


@dataclass(frozen=True, repr=False)
class Explanation:
    """Contributions to one prediction: to the score of a class relative to another, or of one of several labels.

    Attributes
    ----------
    node : hashable or None
        Id of the node, ``None`` for a new row.
    label : hashable
        The class that is explained: the most probable one unless another was asked for.
    runner_up : hashable or None
        The class that it is compared with: the most probable of the others. ``None`` if nodes may have several labels.
    probability, runner_up_probability : float
        What ``predict_proba`` says about the two; the second is ``None`` without a ``runner_up``.
    method : str
        Name of the model's class.
    score : float
        What the reasons explain.
    quantity : str
        What the score is, in words.
    groups : tuple of ReasonGroup
        Labelled nodes, neighbours and features, those of them that the method goes by.
    note : str
        A remark, for example that nothing is known about the node.

    Examples
    --------
    On a path, a walk from ``b`` meets the label of ``a`` three times out of four:

    >>> import planetoid as pl
    >>> path = pl.Graph.from_edges("abcd", "bcde")
    >>> model = pl.LabelPropagation(class_mass_normalization=False).fit(y={"a": "left", "e": "right"}, graph=path)
    >>> found = model.explain("b")
    >>> [(reason.name, round(reason.contribution, 2)) for reason in found.labels.reasons]
    [('a', 0.75), ('e', -0.25)]
    >>> round(found.score, 2)
    0.5
    """

    node: Hashable | None
    label: Hashable
    runner_up: Hashable | None
    probability: float
    runner_up_probability: float | None
    method: str
    score: float
    quantity: str
    groups: tuple[ReasonGroup, ...]
    note: str = ""

    @property
    def labels(self) -> ReasonGroup | None:
        """Reasons that are labelled nodes, ``None`` if the method gives none."""
        return self._group("labels")

    @property
    def neighbours(self) -> ReasonGroup | None:
        """Reasons that are nodes around this one, ``None`` if the method gives none."""
        return self._group("neighbours")

    @property
    def features(self) -> ReasonGroup | None:
        """Reasons that are features, ``None`` if the method gives none."""
        return self._group("features")

    def _group(self, kind: str) -> ReasonGroup | None:
        return next((group for group in self.groups if group.kind == kind), None)

    def to_dict(self) -> dict[str, object]:
        """Return plain data for ``json.dump``; ids and labels that JSON does not have become text."""
        return {
            "node": _plain(self.node),
            "label": _plain(self.label),
            "runner_up": _plain(self.runner_up),
            "probability": self.probability,
            "runner_up_probability": self.runner_up_probability,
            "method": self.method,
            "score": self.score,
            "quantity": self.quantity,
            "groups": [group.to_dict() for group in self.groups],
            "note": self.note,
        }

    def __repr__(self) -> str:
        return as_text(self)

    def _repr_html_(self) -> str:
        return as_html(self)


def _plain(value: Hashable | None) -> Plain:
    if value is None or (isinstance(value, (str, int)) and not isinstance(value, bool)):
        return value
    return value if isinstance(value, float) and value == value and abs(value) != float("inf") else str(value)
