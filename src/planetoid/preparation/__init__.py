"""Columns of a node table to features: numbers, categories, booleans, dates, text, embeddings and tokens.

``kinds`` decides what a column is, and ``cells`` converts its cells whatever the file format. ``numeric``, ``scalar``
and ``words`` have a class for each kind (a ``blocks.Block``) that holds what was learned from the fitted rows.
``prepare`` joins them to a ``Preparation``, which is saved with a model as plain data.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from planetoid.utils.lazy import lazy_names

if TYPE_CHECKING:
    from planetoid.preparation.kinds import ColumnOptions as ColumnOptions
    from planetoid.preparation.prepare import Preparation as Preparation

_MODULES = {"ColumnOptions": "planetoid.preparation.kinds", "Preparation": "planetoid.preparation.prepare"}

__all__ = ["ColumnOptions", "Preparation"]

# An estimator needs the type alone; pyarrow and scikit-learn are imported when a node table is read.
__getattr__, __dir__ = lazy_names(__name__, _MODULES)
