"""``planetoid embed``: embeddings from a saved model, for other programs."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from planetoid.cli.console import check_output, counted, noted, print_json, tell, working
from planetoid.cli.options import AsJson, Force, Quiet
from planetoid.cli.predict import FeaturesFormat, IdColumn, Model, NewFeatures, Nodes
from planetoid.errors import ParameterError
from planetoid.registry import METHODS

if TYPE_CHECKING:
    from planetoid.estimator import GraphClassifier
    from planetoid.ids import NodeIds

__all__ = ["embed"]


def embed(
    model: Model,
    out: Annotated[Path, typer.Option(help="A .npz, .parquet or .w2v (word2vec text) file.", show_default=False)],
    features: NewFeatures = None,
    nodes: Nodes = None,
    id_column: IdColumn = None,
    features_format: FeaturesFormat = None,
    force: Force = False,
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Write the embeddings of nodes: of those that were fitted, or of new ones by their features.

    A .npz has the arrays ids and embedding, a .parquet a column id and one a
    dimension, a .w2v is what gensim reads.

    For instance:
      [bold]planetoid embed model/ --out embedding.npz[/bold]
      [bold]planetoid embed model/ --features new.parquet --out new.w2v[/bold]
    """
    from planetoid.cli.new_rows import refuse_both, short_name
    from planetoid.io.embeddings import write_embedding
    from planetoid.persistence import load

    refuse_both(features, nodes)
    _check_format(out)
    check_output(out, force=force)
    notes: list[str] = []
    with noted(notes, quiet=quiet):
        with working(f"loading {model}", quiet=quiet):
            fitted = load(model)
        _check_has_embedding(fitted, model)
        if features is None:
            ids, embedding = _of_fitted(fitted, nodes)
        else:
            ids, embedding = _of_new(fitted, features, model, id_column, features_format, quiet)
        with working(f"writing {out}", quiet=quiet):
            write_embedding(out, ids, embedding)
    n_rows, dimension = embedding.shape
    if as_json:
        method = short_name(fitted)
        print_json({"model": str(model), "method": method, "out": str(out), "rows": n_rows, "dimension": dimension})
    tell(f"{counted(n_rows, 'row')} of {counted(dimension, 'number')} in {out}", quiet=quiet)


def _of_fitted(model: Any, nodes: Path | None) -> tuple[NodeIds, Any]:
    from planetoid.cli.new_rows import listed_nodes

    if nodes is None:
        return model.node_ids_, model.embedding_
    rows = listed_nodes(nodes, model.node_ids_)
    return model.node_ids_.take(rows), model.embedding_[rows]


def _of_new(
    model: Any, features: Path, where: Path, id_column: str | None, features_format: str | None, quiet: bool
) -> tuple[NodeIds, Any]:
    import numpy as np
    import pyarrow as pa

    from planetoid.cli.new_rows import NewRows
    from planetoid.ids import NodeIds

    new = NewRows(features, model, where, id_column, features_format)
    ids, parts = [], []
    with working("embedding", quiet=quiet):
        for piece in new.pieces():
            ids.append(piece.ids.to_arrow())
            parts.append(model.transform(piece.X))
    values = pa.chunked_array(ids)
    return NodeIds(values.cast(pa.int64()) if new.has_integer_ids() else values), np.concatenate(parts)


def _check_format(out: Path) -> None:
    from planetoid.io.embeddings import EMBEDDING_SUFFIXES

    if out.suffix not in EMBEDDING_SUFFIXES:
        raise ParameterError(f"--out {out}: embeddings are written as {', '.join(EMBEDDING_SUFFIXES)}")


def _check_has_embedding(model: GraphClassifier, where: Path) -> None:
    from planetoid.cli.new_rows import short_name

    if hasattr(model, "embedding_"):
        return
    with_one = [
        name
        for name, cls in METHODS.items()
        if any("embedding_" in getattr(base, "__annotations__", {}) for base in cls.__mro__)
    ]
    raise ParameterError(
        f"the model in {where} is {short_name(model)}, which learns no embedding; {', '.join(with_one)} do"
    )
