"""The command ``planetoid``: one file a command, heavy imports inside the functions."""
