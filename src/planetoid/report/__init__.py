"""A fitted model as one HTML file: map, quality, what to label next, how it was made."""

from planetoid.report.writing import write_report

__all__ = ["write_report"]
