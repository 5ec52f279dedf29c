"""Columns to features: values by hand, plain data, and the same features from typed columns and from text."""

import json

import numpy as np
import pyarrow as pa
import pytest
from scipy import sparse

from planetoid.errors import DataError
from planetoid.preparation import ColumnOptions, Preparation


def columns(**cells):
    return {name: pa.chunked_array([pa.array(values)]) for name, values in cells.items()}


def prepared(options=None, **cells):
    preparation, X = Preparation.fit(columns(**cells), options)
    dense = X.toarray() if sparse.issparse(X) else X
    return preparation, dict(zip(preparation.feature_names, dense.T, strict=True))


def test_numbers_are_scaled_and_missing_ones_are_the_median():
    _, features = prepared(age=[10.0, 20.0, None, 60.0])
    filled = np.array([10, 20, 20, 60])
    assert features["age"] == pytest.approx((filled - filled.mean()) / filled.std())
    assert features["age is missing"].tolist() == [0, 0, 1, 0]


def test_categories_are_one_hot_and_rare_ones_are_pooled():
    cells = ["a"] * 3 + ["b"] * 2 + ["c", "d", None]
    preparation, features = prepared(city=cells)
    assert preparation.feature_names == ["city=a", "city=b", "city is rare", "city is missing"]
    assert features["city=b"].tolist() == [0, 0, 0, 1, 1, 0, 0, 0]
    assert features["city is rare"].tolist() == [0, 0, 0, 0, 0, 1, 1, 0]
    assert features["city is missing"].tolist() == [0] * 7 + [1]
    new = preparation.transform(columns(city=["b", "never seen"])).toarray()
    assert new.tolist() == [[0, 1, 0, 0], [0, 0, 1, 0]]


def test_dates_are_scaled_and_have_a_time_of_year():
    preparation, features = prepared(day=["2020-01-01", "2020-07-01", "2021-01-01", ""])
    seconds = np.array(["2020-01-01", "2020-07-01", "2021-01-01"], "M8[s]").astype(float)
    assert features["day"][:3] == pytest.approx((seconds - seconds.mean()) / seconds.std(), abs=1e-5)
    assert features["day"][3] == features["day: cos of year"][3] == 0
    assert features["day: cos of year"][0] == pytest.approx(features["day: cos of year"][2], abs=0.02)
    typed = pa.chunked_array([pa.array(["2020-07-01"]).cast(pa.date32())])
    assert preparation.transform({"day": typed})[0] == pytest.approx([values[1] for values in features.values()])


def test_text_and_tokens_are_tf_idf():
    text = ["red red fish in the sea", "one red boat on the sea", "a green boat off the coast", ""] * 6
    tags = [["x", "y"], ["x"], ["y"], None] * 6
    preparation, features = prepared(ColumnOptions(text_columns=["text"]), text=text, tags=tags)
    rows = np.array([features[name] for name in preparation.feature_names if name.startswith("text: ")])
    norms = np.linalg.norm(rows, axis=0)
    assert norms[:3] == pytest.approx([norms[0]] * 3)
    assert norms[3] == 0
    assert features["text: fish"][0] > features["text: sea"][0] > 0  # the rarer word weighs more
    assert features["text is missing"][3] > 0
    assert features["tags: x"][1] > features["tags: x"][0] > 0 == features["tags: y"][1]


def test_embeddings_are_centred_and_mostly_empty_columns_stay_sparse():
    vectors = [[1.0, 2.0], [3.0, 6.0], None]
    preparation, features = prepared(vector=vectors)
    ratio = features["vector[1]"][0] / features["vector[0]"][0]
    assert ratio == pytest.approx(2)  # widths are kept
    assert features["vector[0]"][:2].sum() == pytest.approx(0)
    counts = {f"w{k}": [0] * 20 + [k + 1] for k in range(25)}
    preparation, X = Preparation.fit(columns(**counts))
    assert X.nnz == 25
    assert len(set(X.data.tolist())) == 1  # each column's largest value is 1
    assert preparation.describe()[0][1] == "count"


def test_text_weighs_as_much_as_all_single_columns_together():
    generator = np.random.default_rng(0)
    numbers = {f"n{k}": generator.random(40).tolist() for k in range(9)}
    words = [" ".join(generator.choice(["ant", "bee", "cat", "dog", "elk"], 5)) for _ in range(40)]
    preparation, X = Preparation.fit(columns(**numbers, text=words), ColumnOptions(text_columns=["text"]))
    square = X.toarray() ** 2
    is_text = np.array([name.startswith("text") for name in preparation.feature_names])
    assert square[:, is_text].sum() == pytest.approx(square[:, ~is_text].sum(), rel=1e-4)


MESSY = {
    "age": [31.5, None, 47.0, 22.0] * 8,
    "member": [True, False, None, True] * 8,
    "city": ["Rome", "Oslo", "Rome", None] * 8,
    "since": ["2020-01-01", "2021-06-30", None, "2019-12-31"] * 8,
    "about": ["likes a long walk home", "reads books at home often", None, "a walk with books is fine"] * 8,
    "vector": [[0.5, 1.0], [1.5, -1.0], [0.0, 0.25], [1.0, 1.0]] * 8,
    "tags": [["a", "b"], ["b"], [], ["a"]] * 8,
}


def test_the_same_features_after_json_and_from_text():
    options = ColumnOptions(text_columns=["about"])
    preparation, X = Preparation.fit(columns(**MESSY), options)
    restored = Preparation.from_dict(json.loads(json.dumps(preparation.as_dict())))
    assert restored == preparation
    assert abs(restored.transform(columns(**MESSY)) - X).sum() == 0
    text = {
        name: ["" if cell is None else str(cell) for cell in cells] for name, cells in MESSY.items()
    }  # as a CSV file has them
    assert abs(restored.transform(columns(**text)) - X).sum() == 0
    from_text, same = Preparation.fit(columns(**text), options)
    assert from_text.feature_names == preparation.feature_names
    assert abs(same - X).max() < 1e-6


def test_new_rows_need_the_columns():
    preparation, _ = Preparation.fit(columns(a=[1.0, 2.0], b=[3.0, 5.0]))
    with pytest.raises(DataError, match="the table has no column 'b', which the model was fitted on"):
        preparation.transform(columns(a=[1.0]))


def test_nothing_to_learn_from():
    with pytest.raises(DataError, match="no column to learn from; 'a' is left out because it is empty"):
        Preparation.fit(columns(a=["", ""]))


def test_what_was_done_is_said():
    preparation, _ = Preparation.fit(columns(a=["1", "", "2"] * 20, b=["x"] * 59 + [""], c=[""] * 60))
    assert preparation.describe() == [
        (
            "a",
            "number",
            "scaled to mean 0 and standard deviation 1; "
            "20 missing values filled with the median 1.5, with an indicator",
        ),
        ("b", "category", "one-hot, 1 category; 1 missing value, with an indicator"),
        ("c", "left out", "it is empty"),
    ]
