"""Show parts of a table that were run apart as one: ``python scripts/merge_results.py table3 A.json B.json --out DIR``.

The files are ``PART.json`` of ``planetoid reproduce PART --data NAME --out ...``, for example of runs on different data
sets, or with other seeds (``--first-seed``). Nothing is run: the cells of all files are rendered by the same code as a
table of one run. Of a run (a cell and a seed) that is in several files the last is taken; a cell whose preset has
changed since is left out.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from planetoid.experiments.reproduce import FULL_SIZE, PARTS, merge_parts


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("part", choices=[part for part in PARTS if part not in ("table2", "figure")])
    parser.add_argument("files", nargs="+", type=Path)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--full", action="store_true", help="Table 4 at full size")
    options = parser.parse_args()
    lists = FULL_SIZE if options.full else "0.1"
    _, cells = merge_parts(options.part, options.files, out=options.out, lists=lists)
    print(f"{options.part}: {len(cells)} cells")


if __name__ == "__main__":
    main()
