"""What ``planetoid evaluate`` shows for several labels per node."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from planetoid.cli.console import plain_table, print_json, print_lines, print_table
from planetoid.errors import ParameterError

if TYPE_CHECKING:
    from planetoid.cli.measurement import Outcome
    from planetoid.data.dataset import Dataset
    from planetoid.evaluation import Protocol

__all__ = ["refuse_sets", "show_sets"]

COLUMNS = {
    "micro F1 %": "micro_f1",
    "macro F1 %": "macro_f1",
    "micro F1 %\nnumber known": "micro_f1_number_known",
    "macro F1 %\nnumber known": "macro_f1_number_known",
}


def show_sets(
    outcomes: list[Outcome], data: Dataset, protocol: Protocol, warnings: dict[str, Any], as_json: bool
) -> None:
    """Print micro and macro F1 of every method."""
    from planetoid.cli.evaluate import percent
    from planetoid.evaluation import summarize

    rows: list[dict[str, Any]] = [
        {"method": row.method, "splits": len(row.seeds)}
        | {name: {"mean": one.mean, "sd": one.sd} for name, one in row.metrics.items()}
        | {"seconds": row.fit_seconds}
        for row in summarize(outcome.result for outcome in outcomes if outcome.result is not None)
    ]
    if as_json:
        results = [outcome.result.as_dict() for outcome in outcomes if outcome.result is not None]
        record = {"protocol": protocol.in_words(), "classes": list(data.class_names), "methods": rows}
        print_json({**record, **warnings, "results": results})
        return
    table = plain_table("method", right=(*COLUMNS, "splits", "seconds"))
    for row in rows:
        figures = (percent(row[name]) for name in COLUMNS.values())
        table.add_row(row["method"], *figures, str(row["splits"]), f"{row['seconds']:.2f}")
    print_table(table)
    print_lines(
        [
            "Mean ± standard deviation over splits. Number known: predictions have as many labels as each node has, "
            f"as in DeepWalk's protocol. Protocol: {protocol.in_words()}."
        ]
    )


def refuse_sets(data: Dataset, command: str) -> None:
    """Raise ``ParameterError`` for a command that is for one label per node."""
    if data.multi_label:
        raise ParameterError(
            f"planetoid {command} is for one label per node; for several, planetoid evaluate --method A,B measures "
            "methods on the same splits"
        )
