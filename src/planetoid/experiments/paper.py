"""Published values: the paper's data set sizes, accuracies and recall (Tables 2 to 5), and those of later methods."""

from __future__ import annotations

from typing import NamedTuple

__all__ = ["LATER", "TABLE_2", "TABLE_3", "TABLE_4", "TABLE_5", "UPPER_BOUND", "LaterMethod", "Size"]


class Size(NamedTuple):
    """Size of a data set."""

    classes: int
    nodes: int
    edges: int


TABLE_2 = {
    "citeseer": Size(6, 3_327, 4_732),
    "cora": Size(7, 2_708, 5_429),
    "pubmed": Size(3, 19_717, 44_338),
    "diel": Size(4, 4_373_008, 4_464_261),
    "nell": Size(210, 65_755, 266_144),
}

# method -> data set -> accuracy
TABLE_3 = {
    "feat": {"citeseer": 0.572, "cora": 0.574, "pubmed": 0.698},
    "manireg": {"citeseer": 0.601, "cora": 0.595, "pubmed": 0.707},
    "semiemb": {"citeseer": 0.596, "cora": 0.590, "pubmed": 0.711},
    "planetoid-i": {"citeseer": 0.647, "cora": 0.612, "pubmed": 0.772},
    "tsvm": {"citeseer": 0.640, "cora": 0.575, "pubmed": 0.622},
    "lp": {"citeseer": 0.453, "cora": 0.680, "pubmed": 0.630},
    "graphemb": {"citeseer": 0.432, "cora": 0.672, "pubmed": 0.653},
    "planetoid-g": {"citeseer": 0.493, "cora": 0.691, "pubmed": 0.664},
    "planetoid-t": {"citeseer": 0.629, "cora": 0.757, "pubmed": 0.757},
}

# method -> recall at k = 240,000 on DIEL
TABLE_4 = {
    "feat": 0.349,
    "manireg": 0.477,
    "semiemb": 0.486,
    "planetoid-i": 0.501,
    "diel": 0.405,
    "lp": 0.162,
    "graphemb": 0.258,
    "planetoid-g": 0.394,
    "planetoid-t": 0.500,
}
UPPER_BOUND = 0.617

# method -> data set -> accuracy; the paper's last row is "Planetoid-G/T" because its T used no features on NELL
TABLE_5 = {
    "feat": {"nell-0.1": 0.621, "nell-0.01": 0.404, "nell-0.001": 0.217},
    "manireg": {"nell-0.1": 0.634, "nell-0.01": 0.413, "nell-0.001": 0.218},
    "semiemb": {"nell-0.1": 0.654, "nell-0.01": 0.438, "nell-0.001": 0.267},
    "planetoid-i": {"nell-0.1": 0.702, "nell-0.01": 0.598, "nell-0.001": 0.454},
    "lp": {"nell-0.1": 0.714, "nell-0.01": 0.448, "nell-0.001": 0.265},
    "graphemb": {"nell-0.1": 0.795, "nell-0.01": 0.725, "nell-0.001": 0.581},
    "planetoid-g": {"nell-0.1": 0.845, "nell-0.01": 0.757, "nell-0.001": 0.619},
}


class LaterMethod(NamedTuple):
    """Accuracy of a method that was published after the paper, with what its authors measured it on."""

    name: str
    citeseer: float
    cora: float
    pubmed: float
    test_nodes: str
    protocol: str


PUBLIC = "public split, early stopping on validation labels"
LATER = (
    LaterMethod("GCN", 0.703, 0.815, 0.790, "in the graph", PUBLIC),
    LaterMethod("APPNP", 0.719, 0.846, 0.803, "in the graph", f"{PUBLIC}; a re-run"),
    LaterMethod("GRAND", 0.754, 0.854, 0.827, "in the graph", f"{PUBLIC}; parameters per data set"),
    LaterMethod("GRAND+", 0.756, 0.858, 0.845, "in the graph", f"{PUBLIC}; parameters per data set"),
    LaterMethod("Graph-MLP", 0.731, 0.795, 0.797, "features only", f"{PUBLIC}; parameters per data set"),
    LaterMethod("OrthoReg", 0.735, 0.847, 0.828, "features only", f"{PUBLIC}; parameters per data set"),
    LaterMethod("GLNN", 0.693, 0.738, 0.743, "unseen", "random splits, 30 validation labels per class"),
)
