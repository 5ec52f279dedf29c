"""``python -m planetoid``: the command line, also under torchrun."""

from planetoid.cli.main import run

if __name__ == "__main__":
    run()
