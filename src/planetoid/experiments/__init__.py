"""Reproduction of the paper's tables and figure: cells, their runs, and how they are rendered."""
