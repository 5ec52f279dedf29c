"""Write all inputs into a folder, to look at them.

PYTHONPATH=. python tests/inputs/make_inputs.py FOLDER
"""

import sys
from pathlib import Path

from tests.inputs import text_files, typed_files  # noqa: F401 - they register their cases
from tests.inputs.cases import CASES


def make(folder):
    for name, case in CASES.items():
        own = Path(folder) / name
        own.mkdir(parents=True, exist_ok=True)
        print(name, case.arguments(own))


if __name__ == "__main__":
    make(sys.argv[1])
