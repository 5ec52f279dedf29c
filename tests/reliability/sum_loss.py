"""A training that needs nothing but numpy."""

import numpy as np

from planetoid.training.loss import Loss


class Sum(Loss):
    """A training whose state depends on all of its steps."""

    name = "sum"

    def __init__(self, size=500):
        self.value = np.arange(size, dtype=np.float64)

    def step(self, number):
        self.value = np.sin(self.value + number)
        return float(self.value.sum())

    def state(self):
        return {"value": self.value}

    def restore(self, state):
        self.value = np.array(state["value"])
