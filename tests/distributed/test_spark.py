"""Labels by a real local Spark."""

import shutil

import numpy as np
import pandas as pd
import pytest

import planetoid as pl
from planetoid.distributed import spark

COLUMNS = ["a", "b", "c"]


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    folder = tmp_path_factory.mktemp("model") / "feat"
    X = pd.DataFrame(np.random.default_rng(0).random((60, 3)), columns=COLUMNS)
    pl.Feat().fit(X, np.where(X["a"] > X["b"], "a wins", "b wins")).save(folder)
    return folder


def test_the_schema_names_columns_that_spark_can_read(model):
    assert spark.schema(model, id_column="key", all_probabilities=True) == (
        "key string, label string, probability float, runner_up string, runner_up_probability float, "
        "`probability_a wins` float, `probability_b wins` float"
    )


def test_map_in_arrow(model, tmp_path):
    pyspark = pytest.importorskip("pyspark.sql", reason="pyspark is not installed")
    if shutil.which("java") is None:
        pytest.skip("Spark needs a Java runtime")
    rows = pd.DataFrame(np.random.default_rng(1).random((40, 3)), columns=COLUMNS).assign(
        key=[f"k{k}" for k in range(40)]
    )
    rows.to_parquet(tmp_path / "rows.parquet", index=False)
    builder = pyspark.SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false")
    builder = builder.config("spark.driver.host", "127.0.0.1").config("spark.driver.bindAddress", "127.0.0.1")
    session = builder.config("spark.sql.execution.arrow.maxRecordsPerBatch", "7").getOrCreate()
    try:
        frame = session.read.parquet(str(tmp_path / "rows.parquet"))
        options = {"id_column": "key", "all_probabilities": True}
        labelled = frame.mapInArrow(spark.predictor(model, **options), spark.schema(model, **options))
        found = pd.DataFrame([row.asDict() for row in labelled.collect()]).set_index("key").loc[rows["key"]]
    finally:
        session.stop()
    expected = pl.load(model)
    probabilities = expected.predict_proba(rows[COLUMNS])
    np.testing.assert_array_equal(found["label"], expected.predict(rows[COLUMNS]))
    np.testing.assert_allclose(found[["probability_a wins", "probability_b wins"]], probabilities, atol=1e-6)
