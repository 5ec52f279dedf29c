"""Report on a fitted model as one HTML file: map, metrics, nodes to label next, how to reproduce it."""

from planetoid.report.writing import ReportSummary, write_report

__all__ = ["ReportSummary", "write_report"]
