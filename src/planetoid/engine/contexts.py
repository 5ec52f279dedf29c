"""``Contexts``: the parameters of Algorithm 1."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from planetoid.errors import ParameterError
from planetoid.parameters import Constraints, Integer, Parameters, Real

__all__ = ["Contexts"]

# r2="auto": label pairs per walk pair that a labelled node takes part in. With more of them the embeddings of labelled
# nodes move away from those of the others, and the classifier fails on the others.
LABEL_PAIRS_PER_WALK_PAIR = 0.1


@dataclass(frozen=True)
class Contexts(Parameters):
    """How contexts are sampled: the parameters of Algorithm 1.

    Parameters
    ----------
    r1 : float, default 1/6
        Probability of a positive pair (gamma = +1). 1/6 is five negatives per positive, the habit of word2vec; the
        paper prints 5/6.
    r2 : float or "auto", default "auto"
        Probability that a pair comes from a random walk rather than from shared labels. With ``"auto"`` a labelled
        node takes part in one label pair for ten pairs from walks, whatever the share of labelled nodes.
    q : int, default 10
        Nodes per walk.
    d : int, default 4
        Window: two nodes of a walk are a pair if |j - k| < d; d > q is the same as d = q. The paper prints 3.
    self_pairs : bool, default False
        Whether j = k (and, among labels, a node with itself) is a pair, as the paper prints it.
    single_pairs : bool, default False
        Whether each walk yields one pair, as Algorithm 1 prints it, so that ``training.N2`` and ``training.pretrain``
        count pairs. By default it yields every pair within its window: the same distribution, at a fraction of the
        cost.
    labels_first : bool, default False
        Whether pre-training takes its label pairs (a share 1 - r2) before its walks, as the authors' program does,
        instead of mixed with them. Joint training always mixes them.
    node2vec_p, node2vec_q : float, default 1
        Return and in-out parameters of node2vec; 1 is the walk of the paper.

    Examples
    --------
    >>> fewer = Contexts(q=5).replace(d=2)
    >>> fewer.q, fewer.d, fewer.r2
    (5, 2, 'auto')
    """

    r1: float = 1 / 6
    r2: float | str = "auto"
    q: int = 10
    d: int = 4
    self_pairs: bool = False
    single_pairs: bool = False
    labels_first: bool = False
    node2vec_p: float = 1.0
    node2vec_q: float = 1.0

    constraints: ClassVar[Constraints] = {
        "r1": Real(0, 1, closed="right"),
        "r2": (Real(0, 1), "auto"),
        "q": Integer(1),
        "d": Integer(1),
        "self_pairs": bool,
        "single_pairs": bool,
        "labels_first": bool,
        "node2vec_p": Real(0, closed="neither"),
        "node2vec_q": Real(0, closed="neither"),
    }

    def check(self, owner: str, prefix: str = "") -> None:
        super().check(owner, prefix)
        for name in ("q", "d"):
            if getattr(self, name) < 2 and not self.self_pairs:
                raise ParameterError(
                    f"{owner}: {prefix}{name} must be an integer >= 2 without self_pairs, got {getattr(self, name)}",
                    parameter=f"{prefix}{name}",
                )

    def walk_share(self, n_labelled: int, n_nodes: int) -> float:
        """Return r2 as a number."""
        if isinstance(self.r2, str):
            return 1 - LABEL_PAIRS_PER_WALK_PAIR * n_labelled / n_nodes
        return float(self.r2)
