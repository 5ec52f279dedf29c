"""``planetoid embed``: embeddings from a saved model, for other programs."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NamedTuple, cast

import typer

from planetoid.cli.console import print_json, print_message, status
from planetoid.cli.diagnostics import collect_warnings
from planetoid.cli.options import AsJson, FeaturesFormat, Force, IdColumn, Ids, Model, NewFeatures, NewNodeTable, Quiet
from planetoid.cli.outputs import check_output_file
from planetoid.errors import ParameterError
from planetoid.registry import METHODS
from planetoid.utils.text import pluralize

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from planetoid.cli.new_rows import NewNodes
    from planetoid.estimator.embedding import EmbeddingMixin
    from planetoid.ids import NodeIds
    from planetoid.persistence import SavedModel

__all__ = ["embed"]


class Embedding(NamedTuple):
    """Ids and vectors of some nodes."""

    ids: NodeIds
    vectors: npt.NDArray[np.float32]


def embed(
    model: Model,
    out: Annotated[
        Path,
        typer.Option(help="A .npz, .parquet or .w2v (word2vec text) file.", show_default=False, metavar="FILE"),
    ],
    features: NewFeatures = None,
    nodes: NewNodeTable = None,
    ids: Ids = None,
    id_column: IdColumn = None,
    features_format: FeaturesFormat = None,
    force: Force = False,
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Write the embeddings of nodes: of the fitted ones, or of new ones by their features.

    A .npz file has the arrays ids and embedding, a .parquet file a column id
    and one column per dimension, a .w2v file is read by gensim.

    For example:
      [bold]planetoid embed model/ --out embedding.npz[/bold]
      [bold]planetoid embed model/ --features new.parquet --out new.w2v[/bold]
    """
    from planetoid.cli.new_rows import check_exclusive, open_new
    from planetoid.io.embeddings import write_embedding
    from planetoid.persistence import SavedModel

    check_exclusive(features, nodes, ids)
    _check_format(out)
    check_output_file(out, force=force)
    with collect_warnings(quiet=quiet):
        saved = SavedModel(model)
        _check_has_embedding(saved)
        with status(f"reading {model}", quiet=quiet):
            new = open_new(saved, features, nodes, id_column, features_format)
            found = _of_fitted(saved, ids) if new is None else _of_new(saved, new)
        with status(f"writing {out}", quiet=quiet):
            write_embedding(out, found.ids, found.vectors)
    n_rows, dimension = found.vectors.shape
    if as_json:
        method = saved.method.name
        print_json({"model": str(model), "method": method, "out": str(out), "rows": n_rows, "dimension": dimension})
    print_message(f"{pluralize(n_rows, 'embedding')} of dimension {dimension:,} in {out}", quiet=quiet)


def _of_fitted(saved: SavedModel, listed: Path | None) -> Embedding:
    from planetoid.cli.new_rows import read_node_list

    if listed is None:
        return Embedding(saved.node_ids, saved.embedding)
    rows = read_node_list(listed, saved.node_ids)
    return Embedding(saved.node_ids.take(rows), saved.embedding[rows])


def _of_new(saved: SavedModel, new: NewNodes) -> Embedding:
    import numpy as np
    import pyarrow as pa

    from planetoid.ids import NodeIds

    model = cast("EmbeddingMixin", saved.load())
    ids, parts = [], []
    for table in new.blocks():
        ids.append(table.ids.to_arrow())
        parts.append(model.transform(table.X))
    values = pa.chunked_array(ids)
    return Embedding(NodeIds(values.cast(pa.int64()) if new.has_integer_ids() else values), np.concatenate(parts))


def _check_format(out: Path) -> None:
    from planetoid.io.embeddings import EMBEDDING_SUFFIXES

    if out.suffix not in EMBEDDING_SUFFIXES:
        raise ParameterError(f"--out must be a {', '.join(EMBEDDING_SUFFIXES)} file, got {out}")


def _check_has_embedding(saved: SavedModel) -> None:
    if not saved.method.embedding:
        others = ", ".join(name for name in METHODS if METHODS.info(name).embedding)
        raise ParameterError(f"{saved.path} is a {saved.method.name} model, which has no embedding; {others} have one")
