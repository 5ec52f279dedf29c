"""Free text and lists of tokens as TF-IDF features."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from scipy import sparse

from planetoid.preparation.blocks import OneColumn
from planetoid.preparation.cells import lists_of, strings_of
from planetoid.utils.text import pluralize

if TYPE_CHECKING:
    from sklearn.feature_extraction.text import TfidfVectorizer
    from typing_extensions import Self

    from planetoid.preparation.blocks import Matrix

__all__ = ["Text", "Tokens"]

MOST_WORDS = 20_000
IN_TWO_ROWS = 2  # a word that only one row has says nothing about another row


@dataclass(frozen=True)
class Words(OneColumn):
    """What text and tokens share: a vocabulary and the inverse document frequency of each word in it."""

    is_rich: ClassVar[bool] = True
    unit: ClassVar[str]

    vocabulary: tuple[str, ...]
    idf: tuple[float, ...]

    @classmethod
    def fit_column(cls, name: str, values: pa.ChunkedArray, written: str) -> Self:
        documents = cls._documents(values)
        n_missing = sum(not document for document in documents)
        vectorizer = cls._vectorizer(min_df=IN_TWO_ROWS, max_features=MOST_WORDS)
        try:
            vectorizer.fit(documents)
        except ValueError:  # no word occurs twice
            return cls(name, n_missing, (), ())
        words = vectorizer.get_feature_names_out().tolist()
        return cls(name, n_missing, tuple(words), tuple(vectorizer.idf_.tolist()))

    def transform_column(self, values: pa.ChunkedArray) -> Matrix:
        documents = self._documents(values)
        parts = [sparse.csr_array((len(documents), 0), dtype=np.float32)]
        if self.vocabulary:
            vectorizer = self._vectorizer(vocabulary=self.vocabulary)
            vectorizer.idf_ = np.array(self.idf)
            parts = [sparse.csr_array(vectorizer.transform(documents), dtype=np.float32)]
        if self.n_missing:
            is_missing = np.array([[not document] for document in documents], dtype=np.float32)
            parts.append(sparse.csr_array(is_missing))
        return sparse.csr_array(sparse.hstack(parts, format="csr", dtype=np.float32))

    def names(self) -> list[str]:
        return [*(f"{self.column}: {word}" for word in self.vocabulary), *self._indicator_name()]

    def treatment(self) -> str:
        return f"TF-IDF of {pluralize(len(self.vocabulary), self.unit)}"

    @classmethod
    def _vectorizer(cls, **options: Any) -> TfidfVectorizer:
        from sklearn.feature_extraction.text import TfidfVectorizer

        return TfidfVectorizer(sublinear_tf=True, **cls._analysis(), **options)

    @staticmethod
    def _analysis() -> dict[str, Any]:
        """Return how a document becomes words, as arguments of ``TfidfVectorizer``."""
        raise NotImplementedError

    @classmethod
    def _documents(cls, values: pa.ChunkedArray) -> list[Any]:
        """Return one document per cell, an empty one where the cell is."""
        raise NotImplementedError


@dataclass(frozen=True)
class Text(Words):
    """Free text, in words of two or more letters."""

    kind: ClassVar[str] = "text"
    unit: ClassVar[str] = "word"

    @staticmethod
    def _analysis() -> dict[str, Any]:
        return {"strip_accents": "unicode"}

    @classmethod
    def _documents(cls, values: pa.ChunkedArray) -> list[Any]:
        return pc.fill_null(strings_of(values), "").to_pylist()  # type: ignore[no-any-return]


@dataclass(frozen=True)
class Tokens(Words):
    """Lists of tokens, such as tags."""

    kind: ClassVar[str] = "tokens"
    unit: ClassVar[str] = "token"

    @staticmethod
    def _analysis() -> dict[str, Any]:
        return {"analyzer": _as_it_is}

    @classmethod
    def _documents(cls, values: pa.ChunkedArray) -> list[Any]:
        lists = lists_of(values)
        tokens = pc.fill_null(strings_of(pa.chunked_array([lists.values])), "").to_pylist()
        return [[token for token in tokens[start:end] if token] for start, end in pairwise(lists.offsets.tolist())]


def _as_it_is(document: Iterable[str]) -> Iterable[str]:
    return document
