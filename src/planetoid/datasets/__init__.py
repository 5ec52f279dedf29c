"""Datasets by name, synthetic ones, and the paper's splits."""

from planetoid.data.dataset import Dataset
from planetoid.data.splits import Split, fold_split, multi_label_split, planetoid_split, rate_split
from planetoid.datasets.catalogue import DatasetInfo, info, names
from planetoid.datasets.citation import make_citation
from planetoid.datasets.coordinate import make_coordinate_lists
from planetoid.datasets.lists import CoordinateLists
from planetoid.datasets.loading import load
from planetoid.datasets.multilabel import make_multilabel

__all__ = [
    "CoordinateLists",
    "Dataset",
    "DatasetInfo",
    "Split",
    "fold_split",
    "info",
    "load",
    "make_citation",
    "make_coordinate_lists",
    "make_multilabel",
    "multi_label_split",
    "names",
    "planetoid_split",
    "rate_split",
]
