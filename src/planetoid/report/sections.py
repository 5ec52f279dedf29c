"""The sections of the page below the map."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from planetoid.io.model_files import as_plain
from planetoid.report.curves import training_charts
from planetoid.report.drawing import reliability_chart
from planetoid.report.elements import bar, class_name, definitions, notes, percent, section, table, text
from planetoid.report.quality import N_BINS, Quality

if TYPE_CHECKING:
    from planetoid.persistence import FitRecord
    from planetoid.report.label_sets import SetQuality
    from planetoid.report.model_view import ModelView
    from planetoid.report.nodes import ReportNodes
    from planetoid.report.ranking import Ranking

__all__ = [
    "classes_section",
    "data_section",
    "headline",
    "next_section",
    "quality_section",
    "reproduce_section",
    "set_quality_section",
    "training_section",
]

MATRIX_UP_TO = 24  # classes; with more, the most frequent errors are listed instead
ERRORS_LISTED = 30
SHADES = 10


class _Card(NamedTuple):
    name: str
    value: str
    detail: str


def headline(
    nodes: ReportNodes, quality: Quality | None, record: FitRecord | None, set_quality: SetQuality | None = None
) -> str:
    """Return the figures at the top of the page."""
    n = nodes.model.n_nodes
    cards = [_Card("Nodes", f"{n:,}", "" if nodes.adjacency is None else f"{nodes.adjacency.nnz // 2:,} edges")]
    if nodes.has_record:
        what = "Training labels" if nodes.label_sets is None else "Training nodes"
        cards.append(_Card(what, f"{nodes.n_labelled:,}", f"{percent(nodes.n_labelled / n)} of the nodes"))
    largest = nodes.class_names[np.bincount(nodes.predicted).argmax()]
    cards.append(_Card("Classes", f"{nodes.n_classes:,}", f"most frequent: {largest}"))
    duration = f"fitted in {_duration(record.seconds)}" if record is not None and record.seconds else ""
    cards.append(_Card("Method", nodes.model.class_name, duration))
    uncertain = int((nodes.confidence < 0.5).sum())
    mean_confidence = percent(float(nodes.confidence.mean()))
    cards.append(_Card("Mean confidence", mean_confidence, f"below 50 % for {uncertain:,} nodes"))
    if quality is not None:
        low, high = (100 * end for end in quality.interval)
        detail = f"95 % interval {low:.1f} to {high:.1f}, on {quality.n:,} nodes"
        name = "Accuracy" if nodes.evaluated.any() else "Accuracy, cross-validated"
        cards.append(_Card(name, percent(quality.accuracy), detail))
    if set_quality is not None:
        detail = f"macro F1 {percent(set_quality.macro_f1)}, on {set_quality.n:,} nodes"
        cards.append(_Card("Micro F1", percent(set_quality.micro_f1), detail))
    return "".join(_card(card) for card in cards)


def classes_section(nodes: ReportNodes, quality: Quality | None) -> str:
    """Return a table with one row per class: training labels, predictions, confidence and metrics."""
    k = nodes.n_classes
    sizes = nodes.predicted_sets.sum(axis=0)
    labelled = np.bincount(nodes.labels[nodes.labels >= 0], minlength=k)
    if nodes.label_sets is not None:
        labelled = np.bincount(nodes.label_sets[nodes.labels >= 0].indices, minlength=k)
    confidence = (nodes.predicted_sets * nodes.probabilities).sum(axis=0) / np.maximum(sizes, 1)
    heads = ["class", "predicted", "share", "mean confidence"]
    if nodes.has_record:
        heads.append("training labels")
    if quality is not None:
        heads += ["recall", "precision", "evaluated on"]
    rows = []
    for code in np.argsort(-sizes, kind="stable").tolist():
        row = [class_name(code, nodes.class_names[code]), f"{sizes[code]:,}"]
        row.append(bar(sizes[code] / sizes.max(), code) + f"<span>{percent(sizes[code] / nodes.model.n_nodes)}</span>")
        row.append(percent(confidence[code] if sizes[code] else float("nan")))
        if nodes.has_record:
            row.append(f"{labelled[code]:,}")
        if quality is not None:
            row += [percent(quality.recall[code]), percent(quality.precision[code])]
            row.append(f"{int(quality.confusion[code].sum()):,}")
        rows.append(row)
    intro = "Distribution of the predicted classes."
    if quality is not None:
        intro += " <em>Recall</em>: share of the nodes of a class that are predicted correctly. "
        intro += "<em>Precision</em>: share of the predictions of a class that are correct."
    numeric = [column for column in range(1, len(heads)) if heads[column] != "share"]
    return section("classes", "Classes", table(heads, rows, name="class-table", numeric=numeric), intro)


def quality_section(nodes: ReportNodes, quality: Quality | None) -> str:
    """Return accuracy, confusion matrix and calibration; without labels to evaluate on, how to add them."""
    title = "Accuracy and calibration"
    if quality is None:
        intro = (
            "There are no labels to evaluate on: every known label was used for training, or the training labels "
            "are unknown. Pass labels of other nodes with <code>--truth labels.csv</code> (in Python: "
            "<code>truth=</code>), estimate the accuracy with <code>--cross-validate</code> (in Python: "
            "<code>held_out=</code>), which fits the model five more times, or hold out some labels for validation "
            "when fitting."
        )
        if nodes.model.parameters.get("calibrate"):
            intro += f" The model itself expects to be right as often as its mean confidence says: {_expected(nodes)}."
        return section("quality", title, notes(nodes.notes), intro)
    intro = (
        f"Evaluated on {quality.n:,} {text(quality.on)}. Accuracy {percent(quality.accuracy)}, "
        f"macro-F1 {percent(quality.macro_f1)}, expected calibration error {percent(quality.calibration_error)}."
    )
    chart = reliability_chart(quality.bins, "Calibration: accuracy in %")
    explanation = (
        "<p>For a calibrated model, 80 % of the predictions with a confidence of 80 % are correct: points are on the "
        f"dashed line. The expected calibration error, {percent(quality.calibration_error)}, is the mean distance "
        f"from it ({N_BINS} bins). {_tendency(quality)}</p>"
    )
    errors = _matrix(nodes, quality) if len(nodes.class_names) <= MATRIX_UP_TO else _errors(nodes, quality)
    content = f'<div class="columns"><div>{errors}</div><div>{chart}{explanation}</div></div>'
    return section("quality", title, content + notes(nodes.notes), intro)


def set_quality_section(nodes: ReportNodes, quality: SetQuality | None) -> str:
    """Return micro and macro F1 of several labels per node, and F1 of each class."""
    title = "Accuracy"
    if quality is None:
        intro = "There are no labels to evaluate on. Pass labels of other nodes with <code>--truth labels.csv</code>."
        return section("quality", title, notes(nodes.notes), intro)
    known = f"{percent(quality.micro_f1_known)} and {percent(quality.macro_f1_known)}"
    intro = (
        f"Evaluated on {quality.n:,} {text(nodes.evaluated_on)}. Micro F1 {percent(quality.micro_f1)}, macro F1 "
        f"{percent(quality.macro_f1)}; with as many labels predicted as each node has, {known}."
    )
    rows = [
        [class_name(code, nodes.class_names[code]), f"{quality.counts[code]:,}", percent(quality.f1[code])]
        for code in np.argsort(-quality.counts, kind="stable").tolist()
    ]
    return section("quality", title, table(["class", "labels", "F1"], rows, name="f1-table", numeric=(1, 2)), intro)


def next_section(nodes: ReportNodes, ranking: Ranking, n_shown: int, point_of: Mapping[int, int]) -> str:
    """Return the nodes to label next; ``point_of`` maps rows to points on the map, which can be selected by a click."""
    title = "Which nodes to label next"
    if not len(ranking.rows):
        return section("next", title, "<p>Every node has a label.</p>")
    heads = ["node", *(["neighbours"] if nodes.degrees is not None else [])]
    heads += ["predicted", "probability", "runner-up", "its probability", "score"]
    rows = []
    highest = float(ranking.scores[0]) or 1.0
    for row, score in zip(ranking.rows[:n_shown].tolist(), ranking.scores[:n_shown].tolist(), strict=True):
        name = text(nodes.shown.name(row) or nodes.ids[row])
        if row in point_of:
            name = f'<button type="button" class="link" data-point="{point_of[row]}">{name}</button>'
        cells = [name]
        if nodes.degrees is not None:
            cells.append(f"{nodes.degrees[row]:,}")
        for code in np.argsort(-nodes.probabilities[row], kind="stable")[:2].tolist():
            cells += [class_name(code, nodes.class_names[code]), percent(nodes.probabilities[row][code])]
        rows.append([*cells, bar(score / highest) + f"<span>{score:.3f}</span>"])
    numeric = [k for k, head in enumerate(heads) if head in ("neighbours", "probability", "its probability")]
    reason, score = "that the model is uncertain about", "uncertainty"
    if nodes.degrees is not None:
        reason, score = "that the model is uncertain about and that have many neighbours", "uncertainty × centrality"
    intro = (
        f"Labels are most useful for nodes {reason}: they are listed first (score: {score}). The CSV file has the "
        f"first {len(ranking.rows):,} nodes with an empty column <code>label</code>: fill it in, add the labels you "
        "have, and fit again."
    )
    download = '<p><button type="button" id="download" class="primary">Download as CSV</button></p>'
    return section("next", title, download + table(heads, rows, name="next-table", numeric=numeric), intro)


def training_section(model: ModelView) -> str:
    """Return the training curves, an empty string for a method without."""
    charts = training_charts(model.history)
    return section("training", "Training", f'<div class="charts">{"".join(charts)}</div>') if charts else ""


def data_section(record: FitRecord | None) -> str:
    """Return what the data contained, warnings, and the input files."""
    if record is None or not (record.facts or record.notes or record.inputs):
        return ""
    content = definitions(record.facts) if record.facts else ""
    if record.notes:
        content += "<h3>Warnings</h3>" + notes(record.notes)
    if record.inputs:
        columns = ("role", "path", "sha256")
        rows = [[text(entry.get(name, "")) for name in columns] for entry in record.inputs]
        content += "<h3>Input files</h3>" + table(["content", "file", "SHA-256"], rows, name="files-table")
    return section("data", "Data", content)


def reproduce_section(model: ModelView, record: FitRecord | None, versions: Mapping[str, str], layout: str) -> str:
    """Return the command, all parameters and versions."""
    content = ""
    if record is not None and record.command:
        content += f"<pre><code>{text(record.command)}</code></pre>"
    if record is not None and record.created:
        content += f'<p class="created">Fitted on {text(record.created)}</p>'
    parameters = [(name, _parameter(value)) for name, value in sorted(model.parameters.items())]
    content += f"<h3>Parameters of {text(model.class_name)}</h3>{definitions(parameters)}"
    content += f"<h3>Versions</h3>{definitions(versions.items())}<h3>Map</h3><p>{text(layout)}</p>"
    return section("reproduce", "How to reproduce this model", content)


def _card(card: _Card) -> str:
    size = ' class="long"' if len(card.value) > 11 else ""
    value = f"<dd{size}>{text(card.value)}<small>{text(card.detail)}</small></dd>"
    return f'<div class="card"><dt>{text(card.name)}</dt>{value}</div>'


def _matrix(nodes: ReportNodes, quality: Quality) -> str:
    names, confusion = nodes.class_names, quality.confusion
    heads = "".join(
        f'<th scope="col" title="{text(names[code])}"><span>{text(names[code])}</span></th>'
        for code in range(nodes.n_classes)
    )
    lines = []
    for true in range(len(names)):
        total = int(confusion[true].sum())
        if true >= nodes.n_classes and not total:
            continue
        cells = "".join(
            _matrix_cell(names, true, guess, int(confusion[true, guess]), total) for guess in range(nodes.n_classes)
        )
        lines.append(f'<tr><th scope="row">{class_name(true, names[true])}</th>{cells}</tr>')
    return (
        '<div class="scroll" tabindex="0" role="region" aria-label="confusion matrix">'
        '<table class="matrix" id="confusion"><caption>Rows: true class. Columns: predicted class.</caption>'
        f"<thead><tr><td></td>{heads}</tr></thead><tbody>{''.join(lines)}</tbody></table></div>"
    )


def _matrix_cell(names: Sequence[str], true: int, predicted: int, count: int, total: int) -> str:
    shade = -(-SHADES * count // total) if total else 0
    tooltip = text(f"true {names[true]}, predicted {names[predicted]}: {count:,} of {total:,}")
    style = f"s{shade}{' right' if true == predicted else ''}"
    return f'<td class="{style}" title="{tooltip}">{f"{count:,}" if count else "·"}</td>'


def _errors(nodes: ReportNodes, quality: Quality) -> str:
    """Return the most frequent errors, where there are too many classes for a matrix."""
    wrong = quality.confusion.copy()
    np.fill_diagonal(wrong, 0)
    order = np.argsort(-wrong, axis=None, kind="stable")[:ERRORS_LISTED]
    rows = []
    for true, predicted in zip(*(index.tolist() for index in np.unravel_index(order, wrong.shape)), strict=True):
        count, total = int(wrong[true, predicted]), int(quality.confusion[true].sum())
        if count:
            names = (class_name(code, nodes.class_names[code]) for code in (true, predicted))
            rows.append([*names, f"{count:,}", percent(count / total)])
    heads = ["true class", "predicted", "nodes", "share of the class"]
    return "<h3>Most frequent errors</h3>" + table(heads, rows, name="errors-table", numeric=(2, 3))


def _expected(nodes: ReportNodes) -> str:
    """Return the mean confidence where the label is not known."""
    unlabelled = nodes.labels < 0
    return percent(float(nodes.confidence[unlabelled if unlabelled.any() else slice(None)].mean()))


def _tendency(quality: Quality) -> str:
    if abs(quality.overconfidence) < 0.005:
        return ""
    return f"On average, the model is {'over' if quality.overconfidence > 0 else 'under'}confident."


def _parameter(value: object) -> str:
    try:
        return json.dumps(as_plain(value), ensure_ascii=False)
    except TypeError:
        return repr(value)


def _duration(seconds: float) -> str:
    return f"{seconds:.1f} s" if seconds < 120 else f"{seconds / 60:.0f} min"
