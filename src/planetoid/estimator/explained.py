"""``ExplanationMixin``: the reasons for a prediction."""

from __future__ import annotations

from collections.abc import Hashable
from typing import TYPE_CHECKING

from sklearn.utils.validation import check_is_fitted

from planetoid.data.dataset import Dataset, Features
from planetoid.data.types import FeaturesLike
from planetoid.estimator.base import MethodBase, not_inductive
from planetoid.explanation.contributions import Answer, Question, by_predictions_of_neighbours
from planetoid.utils.failures import explain_failures
from planetoid.utils.threads import one_blas_thread

if TYPE_CHECKING:
    from planetoid.explanation import Explanation

__all__ = ["ExplanationMixin"]


class ExplanationMixin(MethodBase):
    """Why a fitted method predicts a class."""

    def explain(
        self,
        node: Hashable | None = None,
        X: FeaturesLike | None = None,
        *,
        top: int = 5,
        label: Hashable | None = None,
        data: Dataset | None = None,
    ) -> Explanation:
        """Return what raises and what lowers the score of the predicted class of a node, and by how much.

        Reasons are labelled nodes, neighbours and features, as far as the method goes by them; the result says what its
        numbers mean. The documentation has the meaning for every method.

        Parameters
        ----------
        node : id, optional
            A fitted node.
        X : array, sparse matrix or DataFrame, optional
            One new row instead, for an inductive method.
        top : int
            How many reasons of each kind to list: so many for the class, and so many against it.
        label : hashable, optional
            The class to explain; by default the most probable one. It is compared with the most probable other class.
            If nodes may have several labels, the question is why the node has this label or not, whatever the others.
        data : Dataset, optional
            What the model was fitted on, if it does not hold that itself: ``save`` leaves out data of more than 32 MB.

        Examples
        --------
        >>> import planetoid as pl
        >>> model = pl.Feat().fit([[1, 0, 0], [0, 1, 1]], ["fruit", "animal"])
        >>> [(reason.name, reason.contribution > 0) for reason in model.explain(0).features.reasons]
        [(0, True)]
        """
        check_is_fitted(self, "label_distributions_")
        from planetoid.explanation.asking import ask

        with explain_failures(type(self).__name__), one_blas_thread():
            return ask(self, node, X, top, label, data)

    def _explain(self, question: Question) -> Answer:
        """Return the parts of the score that a question is about.

        Any method can answer like this: by the predictions of the neighbours if it uses a graph, and by the features of
        the row if it is inductive (:class:`InductiveClassifier`). A method that knows more about its scores says more.
        """
        if question.row is None:
            raise not_inductive(self)
        question.known_data()
        score = float(question.log_odds(self.label_distributions_[question.row]))
        around = by_predictions_of_neighbours(question, question.row, self.label_distributions_)
        of_what = "having the label" if question.multi_label else "the class against the other"
        return Answer(score, f"calibrated log-odds of {of_what}", [around])

    def _check_row(self, X: FeaturesLike) -> Features:
        raise not_inductive(self)
