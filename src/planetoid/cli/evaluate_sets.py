"""What ``planetoid evaluate`` and ``planetoid compare`` show for several labels per node."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from planetoid.cli.console import plain_table, print_json, print_lines, print_table

if TYPE_CHECKING:
    from planetoid.cli.measurement import Outcome
    from planetoid.data.dataset import Dataset
    from planetoid.evaluation import Protocol

__all__ = ["COLUMNS", "NUMBER_KNOWN", "show_sets"]

COLUMNS = {  # beside micro F1, which has an interval
    "macro F1 %": "macro_f1",
    "micro F1 %\nnumber known": "micro_f1_number_known",
    "macro F1 %\nnumber known": "macro_f1_number_known",
}
NUMBER_KNOWN = "Number known: predictions have as many labels as each node has, as in DeepWalk's protocol."


def show_sets(
    outcomes: list[Outcome], data: Dataset, protocol: Protocol, warnings: dict[str, Any], as_json: bool
) -> None:
    """Print micro and macro F1 of every method."""
    from planetoid.cli.evaluate import how_measured, percent, summary, with_interval

    rows = summary(outcomes)
    if as_json:
        results = [outcome.result.as_dict() for outcome in outcomes if outcome.result is not None]
        record = {"protocol": protocol.in_words(), "classes": list(data.class_names), "methods": rows}
        print_json({**record, **warnings, "results": results})
        return
    table = plain_table("method", right=("micro F1 %", *COLUMNS, "splits", "seconds"))
    for row in rows:
        figures = (with_interval(row["micro_f1"]), *(percent(row[name]) for name in COLUMNS.values()))
        table.add_row(row["method"], *figures, str(row["splits"]), f"{row['seconds']:.2f}")
    print_table(table)
    print_lines([how_measured(protocol, rows), NUMBER_KNOWN])
