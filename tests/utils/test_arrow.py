"""Arrow arrays from numpy arrays and strings."""

import subprocess
import sys

import numpy as np
import pyarrow as pa
import pytest

from planetoid.utils.arrow import numbers_to_arrow, strings_to_arrow


@pytest.mark.parametrize("kind", [np.int32, np.int64, np.uint8, np.float32, np.float64])
def test_numbers_are_those_of_pyarrow(kind):
    values = np.arange(10, dtype=kind)[::3]
    assert numbers_to_arrow(values).equals(pa.array(values))


@pytest.mark.parametrize("texts", [[], [""], ["a", "", "ü", "日本"], ["x" * 1000] * 3])
def test_strings_are_those_of_pyarrow(texts):
    assert strings_to_arrow(texts).equals(pa.array(texts, type=pa.string()))


def test_pandas_is_not_imported():
    code = (
        "import sys, numpy as np\n"
        "from planetoid.utils.arrow import numbers_to_arrow, strings_to_arrow\n"
        "strings_to_arrow(['a', 'b']).take(numbers_to_arrow(np.array([1])))\n"
        "print('pandas' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "False\n"
