"""The interface that every method follows.

:class:`~planetoid.estimator.classifier.GraphClassifier` is made of parts: ``base`` is what a method declares and its
parameters, ``calibrated`` turns what it learned into distributions, ``predictions``, ``explained`` and ``saved`` are
what can be asked of a fitted one. ``inductive`` and ``embedding`` add new rows and embeddings.
"""
