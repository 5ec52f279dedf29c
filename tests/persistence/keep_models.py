"""Write small models in the present format: ``python -m tests.persistence.keep_models``, once per format version.

``test_kept_models.py`` loads them for ever; a folder of an earlier version is never written again.
"""

import json
from pathlib import Path

import numpy as np

import planetoid as pl
from planetoid.io.model_files import FORMAT_VERSION
from planetoid.persistence import FitRecord, write_record

FOLDER = Path(__file__).with_name("models")
N_NODES, N_FEATURES = 24, 5


def new_rows():
    return np.random.default_rng(1).random((4, N_FEATURES)).round(2).astype(np.float32)


def small_data():
    nodes = np.arange(N_NODES)
    names = [f"knoten-{k}-ü" for k in nodes]
    graph = pl.Graph.from_edges([names[k] for k in nodes], [names[(k + 3) % N_NODES] for k in nodes], nodes=names)
    X = np.random.default_rng(0).random((N_NODES, N_FEATURES)).astype(np.float32) * 0.3
    X[nodes, nodes % 3] += 1.0
    y = np.where(nodes < 9, nodes % 3, -1)
    return pl.Dataset("small", graph, X, y, ("art", "biology", "chess"), feature_names=np.array(list("abcde"), object))


def main():
    data = small_data()
    folder = FOLDER / f"format-{FORMAT_VERSION}"
    for method, parameters in {"feat": {}, "lp": {}, "planetoid": {"random_state": 0}}.items():
        model = pl.METHODS[method]().set_params(**parameters).fit(data)
        record = FitRecord.of(data, command="planetoid fit")
        model.save(folder / method, overwrite=True, extra_files=lambda into, record=record: write_record(into, record))
        expected = {
            "parameters": {"random_state": 0} if method == "planetoid" else {},
            "probabilities": np.round(model.label_distributions_.astype(float), 6).tolist(),
            "new": np.round(model.predict_proba(new_rows()).astype(float), 6).tolist() if model.inductive else None,
        }
        (folder / f"{method}.json").write_text(json.dumps(expected) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
