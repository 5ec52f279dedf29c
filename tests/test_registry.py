"""What the registry says about a method before it is imported."""

import pytest

import planetoid as pl
from planetoid.errors import ParameterError
from planetoid.estimator.embedding import EmbeddingMixin
from planetoid.registry import CLASSES


@pytest.mark.parametrize("name", list(CLASSES))
def test_the_entry_agrees_with_the_class(name):
    entry, cls = CLASSES[name], getattr(pl, name)
    assert pl.METHODS[entry.name] is cls
    assert pl.METHODS.class_name(entry.name) == cls.__name__ == name
    assert (entry.features, entry.graph, entry.inductive) == (cls.uses_features, cls.uses_graph, cls.inductive)
    assert entry.embedding == issubclass(cls, EmbeddingMixin)
    assert entry.multi_label == cls.multi_label


def test_an_unknown_method_is_an_error_that_lists_the_others():
    for ask in (pl.METHODS.__getitem__, pl.METHODS.info, pl.METHODS.class_name):
        with pytest.raises(ParameterError, match="there is no method 'planet'; the methods are planetoid, planetoid-t"):
            ask("planet")
