"""Planetoid-I with a recurrent network that reads abstracts word by word.

    python examples/recurrent_encoder.py [folder of cora_text] [seeds]

The folder has ``data.txt`` (one abstract per line), ``graph.txt`` (links between line
numbers) and ``group.txt`` (one class per line, empty where unknown); the default is
``cora_text`` under ``PLANETOID_DATA``. Twenty papers per class are labelled; all
papers and links are in the graph during training, and the test papers are labelled
from their text alone. A linear softmax on the same words is the baseline.
"""

# ruff: noqa: T201  # an example prints its results

import os
import sys
from collections import Counter
from pathlib import Path

import numpy as np
import torch
from scipy import sparse
from torch import nn

import planetoid as pl

LENGTH, RARE, PER_CLASS = 60, 5, 20


class Recurrent(nn.Module):
    """Embeds words, runs a GRU over them, and takes the mean of its outputs; 0 is padding."""

    def __init__(self, n_words: int, dimension: int) -> None:
        super().__init__()
        self.words = nn.Embedding(n_words, dimension, padding_idx=0)
        self.drop = nn.Dropout(0.3)
        self.gru = nn.GRU(dimension, dimension, batch_first=True)

    def forward(self, rows: torch.Tensor) -> torch.Tensor:
        tokens = rows.long()
        outputs, _ = self.gru(self.drop(self.words(tokens)))
        present = (tokens > 0).float().unsqueeze(2)
        return (outputs * present).sum(dim=1) / present.sum(dim=1).clamp(min=1)


def read(folder: Path) -> tuple[np.ndarray, int, list[str | None], pl.Graph]:
    """Return padded word numbers (from 1), the number of words, the classes and the graph."""
    texts = [line.lower().split() for line in (folder / "data.txt").read_text(encoding="utf-8").splitlines()]
    classes = (folder / "group.txt").read_text(encoding="utf-8").split("\n")[: len(texts)]
    links = np.loadtxt(folder / "graph.txt", dtype=np.int64)
    counts = Counter(word for text in texts for word in set(text))
    number = {word: k for k, word in enumerate(sorted(word for word, count in counts.items() if count >= RARE), 1)}
    tokens = np.zeros((len(texts), LENGTH), dtype=np.float32)
    for row, text in enumerate(texts):
        known = [number[word] for word in text if word in number][:LENGTH]
        tokens[row, : len(known)] = known
    graph = pl.Graph.from_edges(links[:, 0], links[:, 1], nodes=len(texts))
    return tokens, len(number) + 1, [name.strip() or None for name in classes], graph


def split(classes: list[str | None], seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Draw the labelled papers; all others with a class are the test papers."""
    generator = np.random.default_rng(seed)
    names = np.array([name or "" for name in classes])
    train = np.concatenate(
        [
            generator.choice(np.flatnonzero(names == name), PER_CLASS, replace=False)
            for name in sorted(set(names) - {""})
        ]
    )
    return train, np.setdiff1d(np.flatnonzero(names != ""), train)


def bag_of_words(tokens: np.ndarray, n_words: int) -> sparse.csr_array:
    rows, columns = np.nonzero(tokens)
    words = tokens[rows, columns].astype(np.int64)
    return sparse.csr_array((np.ones(len(rows), np.float32), (rows, words)), shape=(len(tokens), n_words))


def main(folder: Path, n_seeds: int) -> None:
    tokens, n_words, classes, graph = read(folder)
    truth = np.array(classes, dtype=object)
    scores = []
    for seed in range(n_seeds):
        train, test = split(classes, seed)
        y = pl.mask_labels(truth, train)
        model = pl.PlanetoidI(
            dimension=64, encoder=lambda n_features: Recurrent(n_words, 64), random_state=seed, verbose=1
        ).set_params(training__pretrain=3, training__steps=100)
        model.fit(tokens, y, graph=graph)
        linear = pl.Feat(row_normalize="l2", C=10.0).fit(bag_of_words(tokens, n_words), y)
        scores.append(
            [(model.predict(tokens[test]) == truth[test]).mean(), (linear.predict()[test] == truth[test]).mean()]
        )
        print(f"seed {seed}: recurrent Planetoid-I {scores[-1][0]:.3f}, linear softmax on words {scores[-1][1]:.3f}")
    mean = np.mean(scores, axis=0)
    print(f"mean of {n_seeds}: recurrent Planetoid-I {mean[0]:.3f}, linear softmax on words {mean[1]:.3f}")


if __name__ == "__main__":
    where = sys.argv[1] if len(sys.argv) > 1 else Path(os.environ.get("PLANETOID_DATA", "."), "cora_text")
    main(Path(where), int(sys.argv[2]) if len(sys.argv) > 2 else 1)
