"""The command ``planetoid``: one file per command, heavy imports inside the functions."""
