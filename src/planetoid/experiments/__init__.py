"""The paper's tables and figure, made again: cells, their runs, and how they are shown."""
