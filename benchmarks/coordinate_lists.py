"""Time, memory and two baselines on the made coordinate lists.

python benchmarks/coordinate_lists.py --scale 0.1
python benchmarks/coordinate_lists.py --scale 1.0 --no-methods
"""

from __future__ import annotations

import argparse
import resource
import time
import warnings

import planetoid as pl
from planetoid.errors import PlanetoidWarning


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--scale", type=float, default=0.1)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--no-methods", action="store_true")
    options = parser.parse_args()

    start = time.perf_counter()
    data = pl.datasets.make_coordinate_lists(options.scale, seed=options.seed)
    seconds = time.perf_counter() - start
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(data)
    print(f"made in {seconds:.1f} s, peak of the whole process {peak:,.0f} MB")
    if options.no_methods:
        return
    warnings.simplefilter("ignore", PlanetoidWarning)  # nodes that no label reaches get the prior
    for model in (pl.Feat(), pl.LabelPropagation()):
        start = time.perf_counter()
        features = None if model.uses_features == "never" else data.X
        model.fit(features, data.y, graph=None if model.uses_graph == "never" else data.graph)
        recall = data.recall_at_k(data.item_scores(model.predict_proba()))
        print(f"{type(model).__name__}: recall@{data.k:,} = {recall:.3f}, {time.perf_counter() - start:.1f} s")


if __name__ == "__main__":
    main()
