"""The parts of the page below the map, each from plain figures."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from planetoid.io.model_files import as_plain
from planetoid.record import FitRecord
from planetoid.registry import CLASSES
from planetoid.report.curves import training_charts
from planetoid.report.drawing import reliability_chart
from planetoid.report.elements import bar, class_name, definitions, notes, percent, section, table, text
from planetoid.report.nodes import NodeTable
from planetoid.report.quality import N_BINS, Quality

__all__ = [
    "classes_section",
    "data_section",
    "headline",
    "next_section",
    "quality_section",
    "reproduce_section",
    "training_section",
]

MATRIX_UP_TO = 24  # classes; more do not fit on a page, and the most frequent mistakes are listed instead
MISTAKES = 30
SHADES = 10


def headline(model: Any, nodes: NodeTable, quality: Quality | None, record: FitRecord | None) -> str:
    """Return the figures at the top."""
    n, labelled = len(nodes.ids), int((nodes.given >= 0).sum())
    links = None if nodes.adjacency is None else nodes.adjacency.nnz // 2
    unsure = int((nodes.confidence < 0.5).sum())
    took = f", fitted in {_seconds(record.seconds)}" if record is not None and record.seconds else ""
    name = type(model).__name__
    sizes = np.bincount(nodes.predicted)
    cards = [
        ("Nodes", f"{n:,}", "" if links is None else f"{links:,} links"),
        ("Labelled", f"{labelled:,}", f"{percent(labelled / n)} of the nodes") if nodes.has_record else None,
        ("Classes", f"{nodes.n_classes:,}", f"most predicted: {nodes.class_names[sizes.argmax()]}"),
        ("Method", name, f"{CLASSES[name][0]}{took}" if name in CLASSES else took.lstrip(", ")),
        ("Mean confidence", percent(float(nodes.confidence.mean())), f"{unsure:,} nodes below 50 %"),
    ]
    if quality is not None:
        low, high = quality.interval
        told = f"95 % interval {100 * low:.1f} to {100 * high:.1f}, on {quality.n:,} nodes"
        cards.append(("Accuracy", percent(quality.accuracy), told))
    return "".join(_card(*card) for card in cards if card is not None)


def classes_section(nodes: NodeTable, quality: Quality | None) -> str:
    """Return a row a class: its labels, what was predicted, how sure and how right."""
    k, n = nodes.n_classes, len(nodes.ids)
    sizes = np.bincount(nodes.predicted, minlength=k)
    learned = np.bincount(nodes.given[nodes.given >= 0], minlength=k)
    sure = np.bincount(nodes.predicted, weights=nodes.confidence, minlength=k) / np.maximum(sizes, 1)
    heads = ["class", "predicted", "share", "mean confidence"]
    if nodes.has_record:
        heads.append("labelled")
    if quality is not None:
        heads += ["accuracy", "precision", "measured on"]
    rows = []
    for code in np.argsort(-sizes, kind="stable").tolist():
        share = sizes[code] / n
        confidence = sure[code] if sizes[code] else float("nan")
        row = [class_name(code, nodes.class_names[code]), f"{sizes[code]:,}"]
        row += [bar(sizes[code] / sizes.max(), code) + f"<span>{percent(share)}</span>", percent(confidence)]
        if nodes.has_record:
            row.append(f"{learned[code]:,}")
        if quality is not None:
            row += [percent(quality.recall[code]), percent(quality.precision[code])]
            row.append(f"{int(quality.confusion[code].sum()):,}")
        rows.append(row)
    told = "How the labels that were predicted are distributed."
    if quality is not None:
        told += " <em>Accuracy</em>: the share of a class that was recognised (its recall). "
        told += "<em>Precision</em>: the share of its predictions that is right."
    numeric = [column for column in range(1, len(heads)) if column != 2]
    return section("classes", "Classes", table(heads, rows, name="class-table", numeric=numeric), told)


def quality_section(nodes: NodeTable, quality: Quality | None) -> str:
    """Return accuracy, confusions and calibration; or how to get them."""
    title = "How good are the predictions?"
    if quality is None:
        told = (
            "No node is known whose class was not learned from, so that nothing can be measured honestly. "
            "Pass labels of other nodes with <code>--truth labels.csv</code> (in Python: <code>truth=</code>), "
            "or hold some back for validation when fitting."
        )
        return section("quality", title, notes(nodes.notes), told)
    told = (
        f"Measured on {quality.n:,} {text(nodes.protocol)}. Accuracy {percent(quality.accuracy)}, "
        f"macro-F1 {percent(quality.macro_f1)}, calibration error {percent(quality.calibration_error)}."
    )
    chart = reliability_chart(quality.bins, "Calibration: share right, in %")
    direction = np.sign(sum(one.count * (one.confidence - one.accuracy) for one in quality.bins))
    habit = {1: "On average the model is surer than it should be.", -1: "On average the model is too modest."}
    explained = (
        f"<p>Of the nodes that the model is 80 % sure of, 80 % should be right: points on the dashed line. "
        f"The expected calibration error, {percent(quality.calibration_error)}, is the mean distance from it "
        f"({N_BINS} bins). {habit.get(int(direction), '')}</p>"
    )
    where = _matrix(nodes, quality) if len(nodes.class_names) <= MATRIX_UP_TO else _mistakes(nodes, quality)
    inside = f'<div class="columns"><div>{where}</div><div>{chart}{explained}</div></div>'
    return section("quality", title, inside + notes(nodes.notes), told)


def next_section(
    nodes: NodeTable, rows: npt.NDArray[np.int64], scores: npt.NDArray[np.float64], shown: int, points: dict[int, int]
) -> str:
    """Return the nodes to label next; ``points`` tells which rows are on the map, so that they can be clicked."""
    if not len(rows):
        return section("next", "Which nodes to label next", "<p>Every node has a label.</p>")
    heads = ["node", "predicted", "probability", "runner-up", "its probability", "uncertainty × centrality"]
    if nodes.degrees is not None:
        heads.insert(1, "neighbours")
    lines = []
    for row, score in zip(rows[:shown].tolist(), scores[:shown].tolist(), strict=True):
        first, second = np.argsort(-nodes.probabilities[row], kind="stable")[:2].tolist()
        name = text(nodes.ids[row])
        if row in points:
            name = f'<button type="button" class="link" data-point="{points[row]}">{name}</button>'
        line = [name]
        if nodes.degrees is not None:
            line.append(f"{nodes.degrees[row]:,}")
        for code in (first, second):
            line += [class_name(code, nodes.class_names[code]), percent(nodes.probabilities[row][code])]
        lines.append([*line, bar(score / (scores[0] or 1.0)) + f"<span>{score:.3f}</span>"])
    first_number = 1 if nodes.degrees is None else 2
    numeric = [first_number + 1, first_number + 3, *([1] if nodes.degrees is not None else [])]
    central = " and that many others are linked to" if nodes.degrees is not None else ""
    told = (
        f"A label helps most on nodes that the model is unsure of{central}: these come first. The file has "
        f"{len(rows):,} of them with an empty column <code>label</code>: fill it in, add your earlier labels, "
        "and fit again."
    )
    download = '<p><button type="button" id="download" class="primary">Download as CSV</button></p>'
    return section(
        "next", "Which nodes to label next", download + table(heads, lines, name="next-table", numeric=numeric), told
    )


def training_section(model: Any) -> str:
    """Return the training curves, nothing for a method without."""
    charts = training_charts(getattr(model, "history_", None))
    return section("training", "Training", f'<div class="charts">{"".join(charts)}</div>') if charts else ""


def data_section(record: FitRecord | None) -> str:
    """Return what was in the data, what was warned of, and the files."""
    if record is None or not (record.facts or record.notes or record.inputs):
        return ""
    inside = definitions(record.facts) if record.facts else ""
    if record.notes:
        inside += "<h3>Remarks while reading and fitting</h3>" + notes(record.notes)
    if record.inputs:
        names = ("role", "path", "sha256")
        rows = [[text(entry.get(name, "")) for name in names] for entry in record.inputs]
        inside += "<h3>Files</h3>" + table(["what", "file", "SHA-256"], rows, name="files-table")
    return section("data", "What was in the data", inside)


def reproduce_section(model: Any, record: FitRecord | None, versions: dict[str, str], layout: str) -> str:
    """Return the command, the versions and every parameter."""
    inside = ""
    if record is not None and record.command:
        inside += f"<pre><code>{text(record.command)}</code></pre>"
    if record is not None and record.created:
        inside += f'<p class="made">Fitted {text(record.created)}</p>'
    parameters = [(name, _parameter(value)) for name, value in sorted(model.get_params(deep=False).items())]
    inside += f"<h3>Parameters of {text(type(model).__name__)}</h3>{definitions(parameters)}"
    inside += f"<h3>Versions</h3>{definitions(versions.items())}<h3>Map</h3><p>{text(layout)}</p>"
    return section("reproduce", "To reproduce it", inside)


def _card(name: str, value: str, more: str) -> str:
    kind = ' class="long"' if len(value) > 11 else ""
    return f'<div class="card"><dt>{text(name)}</dt><dd{kind}>{text(value)}<small>{text(more)}</small></dd></div>'


def _matrix(nodes: NodeTable, quality: Quality) -> str:
    names, confusion = nodes.class_names, quality.confusion
    occurring = [code for code in range(len(names)) if code < nodes.n_classes or confusion[code].any()]
    heads = "".join(
        f'<th scope="col" title="{text(names[code])}"><span>{text(names[code])}</span></th>'
        for code in range(nodes.n_classes)
    )
    lines = []
    for true in occurring:
        total = int(confusion[true].sum())
        cells = "".join(
            _matrix_cell(names, true, guess, int(confusion[true, guess]), total) for guess in range(nodes.n_classes)
        )
        lines.append(f'<tr><th scope="row">{class_name(true, names[true])}</th>{cells}</tr>')
    return (
        '<div class="scroll" tabindex="0" role="region" aria-label="confusion matrix">'
        '<table class="matrix" id="confusion"><caption>True class by row, predicted class by column</caption>'
        f"<thead><tr><td></td>{heads}</tr></thead><tbody>{''.join(lines)}</tbody></table></div>"
    )


def _matrix_cell(names: Sequence[str], true: int, guess: int, count: int, total: int) -> str:
    shade = -(-SHADES * count // total) if total else 0
    told = text(f"{names[true]} taken for {names[guess]}" if true != guess else f"{names[true]}, recognised")
    kind = f"s{shade}{' right' if true == guess else ''}"
    return f'<td class="{kind}" title="{told}: {count:,} of {total:,}">{f"{count:,}" if count else "·"}</td>'


def _mistakes(nodes: NodeTable, quality: Quality) -> str:
    """Return the most frequent mistakes, where classes are too many for a matrix."""
    wrong = quality.confusion.copy()
    np.fill_diagonal(wrong, 0)
    order = np.argsort(-wrong, axis=None, kind="stable")[:MISTAKES]
    rows = []
    for true, guess in zip(*np.unravel_index(order, wrong.shape), strict=True):
        count, total = int(wrong[true, guess]), int(quality.confusion[true].sum())
        if count:
            names = class_name(int(true), nodes.class_names[true]), class_name(int(guess), nodes.class_names[guess])
            rows.append([*names, f"{count:,}", percent(count / total)])
    heads = ["true class", "taken for", "nodes", "of the class"]
    return "<h3>Most frequent mistakes</h3>" + table(heads, rows, name="mistakes-table", numeric=(2, 3))


def _parameter(value: Any) -> str:
    try:
        return json.dumps(as_plain(value), ensure_ascii=False)
    except TypeError:
        return repr(value)


def _seconds(seconds: float) -> str:
    return f"{seconds:.1f} s" if seconds < 120 else f"{seconds / 60:.0f} min"
