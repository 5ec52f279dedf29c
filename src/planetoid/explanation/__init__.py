"""Reasons for a prediction: what raises the score of a class, what lowers it, and by how much.

``model.explain(node)`` returns an :class:`Explanation`. A method says in ``_explain`` what its scores are made of, as
:class:`~planetoid.explanation.contributions.Contributions`; :mod:`planetoid.explanation.asking` turns these into the
ids and names of the user.
"""

from planetoid.explanation.result import Explanation, Reason, ReasonGroup

__all__ = ["Explanation", "Reason", "ReasonGroup"]
