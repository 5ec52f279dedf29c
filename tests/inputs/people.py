"""People who follow each other, as a clean node table and a clean list of edges; the inputs are made from these."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pandas as pd

import planetoid as pl

ROLES = np.array(["baker", "clerk", "pilot"], dtype=object)
PER_CLASS = 10


@dataclass(frozen=True)
class People:
    """The same people for every input.

    Attributes
    ----------
    seed : int
    """

    seed: int = 0

    @cached_property
    def _graph(self):
        return pl.datasets.make_citation(210, 3, 40, seed=self.seed, informative=0.5)

    @cached_property
    def roles(self):
        """The true role of each id."""
        return pd.Series(ROLES[self._graph.y], index=self.ids)

    @cached_property
    def ids(self):
        return [f"u{k:03d}" for k in range(self._graph.n_nodes)]

    @cached_property
    def nodes(self):
        """Columns of all kinds, with gaps, and a role for ten people of each class."""
        data, generator = self._graph, np.random.default_rng(self.seed)
        n = data.n_nodes
        words = np.array([f"word{k}" for k in range(data.n_features)])
        known = data.split("random", per_class=PER_CLASS, n_val=0, n_test=100, seed=0).train
        role = np.full(n, None, dtype=object)
        role[known] = ROLES[data.y[known]]
        days = pd.Timestamp("2020-03-01") + pd.to_timedelta(generator.integers(0, 1000, n), unit="D")
        return pd.DataFrame(
            {
                "id": self.ids,
                "age": np.where(
                    generator.random(n) < 0.1, np.nan, (30 + 4 * data.y + generator.normal(0, 6, n)).round(2)
                ),
                "city": generator.choice(["Rome", "Oslo", "Lima", "Bonn"], n, p=[0.4, 0.3, 0.2, 0.1]),
                "member": generator.choice(["yes", "no"], n),
                "joined": days.strftime("%Y-%m-%d"),
                "about": [" ".join(words[row > 0]) for row in data.X.toarray()],
                "role": role,
            }
        )

    @cached_property
    def vectors(self):
        """A few numbers for each person that tell something about the role."""
        generator = np.random.default_rng(self.seed + 1)
        return (
            np.eye(3)[self._graph.y] @ generator.normal(size=(3, 6)) + generator.normal(0, 1.2, (len(self.ids), 6))
        ).astype(np.float32)

    @cached_property
    def edges(self):
        source, target = self._graph.graph.to_scipy().nonzero()
        once = source < target
        ids = np.array(self.ids)
        return pd.DataFrame({"source": ids[source[once]], "target": ids[target[once]]})

    @cached_property
    def rows(self):
        """The edges as row numbers."""
        position = {name: row for row, name in enumerate(self.ids)}
        return self.edges.map(position.get).to_numpy()

    @cached_property
    def labels(self):
        """The known roles as a table of their own."""
        return self.nodes.loc[self.nodes.role.notna(), ["id", "role"]]


PEOPLE = People()
