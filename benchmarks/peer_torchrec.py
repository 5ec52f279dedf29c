"""Skip-gram in TorchRec, sharded by rows over two processes: the peer of ``bench_cluster.py``.

It runs in an environment of its own (``bench_cluster.py --torchrun .venv-torchrec/bin/torchrun``):

    python3 -m venv .venv-torchrec
    .venv-torchrec/bin/pip install torch==2.13.0 numpy tensordict torchmetrics==1.0.3 pyre-extensions
    .venv-torchrec/bin/pip install iopath tqdm psutil
    .venv-torchrec/bin/pip install --no-deps torchrec==1.8.0 fbgemm-gpu-cpu==1.8.0

TorchRec gets pairs that were drawn before (``FOLDER/pairs.npz``); its time is that of looking rows up, of the loss, and
of the fused update. Rank 0 writes ``FOLDER/torchrec.json``.
"""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path

import numpy as np
import torch
import torch.distributed as dist
from torchrec import EmbeddingCollection, EmbeddingConfig, KeyedJaggedTensor
from torchrec.distributed import DistributedModelParallel
from torchrec.distributed.embedding import EmbeddingCollectionSharder
from torchrec.distributed.planner import EmbeddingShardingPlanner, Topology
from torchrec.distributed.planner.types import ParameterConstraints
from torchrec.distributed.types import ShardingType
from torchrec.optim.apply_optimizer_in_backward import apply_optimizer_in_backward

WARM_UP = 3  # batches


class SkipGram(torch.nn.Module):
    """Two tables, and the loss of pairs of a centre with one context and some negatives."""

    def __init__(self, n_nodes: int, dimension: int) -> None:
        super().__init__()
        tables = [
            EmbeddingConfig(name=name, embedding_dim=dimension, num_embeddings=n_nodes, feature_names=[name])
            for name in ("centre", "context")
        ]
        self.tables = EmbeddingCollection(tables=tables, device=torch.device("cpu"))

    def forward(self, ids: KeyedJaggedTensor, n_pairs: int) -> torch.Tensor:
        found = self.tables(ids)
        e = found["centre"].values().view(n_pairs, 1, -1)
        w = found["context"].values().view(n_pairs, -1, e.shape[2])
        scores = (e * w).sum(dim=2)
        positive, negative = (torch.nn.functional.logsigmoid(part) for part in (scores[:, 0], -scores[:, 1:]))
        return -(positive.sum() + negative.sum())


def main(folder: Path, sharding: str) -> None:
    torch.set_num_threads(1)
    dist.init_process_group("gloo")
    rank, size = dist.get_rank(), dist.get_world_size()
    with np.load(folder / "pairs.npz") as given:
        centres, contexts = given["centres"], given["contexts"]  # (batch, pair), (batch, pair, 1 + negatives)
        n_nodes, dimension = int(given["n_nodes"]), int(given["dimension"])
    model = SkipGram(n_nodes, dimension)
    apply_optimizer_in_backward(torch.optim.SGD, model.tables.parameters(), {"lr": 0.025})
    constraints = {name: ParameterConstraints(sharding_types=[sharding]) for name in ("centre", "context")}
    planner = EmbeddingShardingPlanner(
        topology=Topology(world_size=size, compute_device="cpu", local_world_size=size), constraints=constraints
    )
    sharders = [EmbeddingCollectionSharder()]
    model = DistributedModelParallel(
        model, device=torch.device("cpu"), plan=planner.plan(model, sharders), sharders=sharders
    )
    n_pairs = centres.shape[1]
    lengths = torch.from_numpy(np.repeat([1, contexts.shape[2]], n_pairs).astype(np.int32))
    mine = range(rank, len(centres), size)  # a batch of each process in every step
    started = 0.0
    for step, batch in enumerate(mine):
        if step == WARM_UP:
            dist.barrier()
            started = time.perf_counter()
        values = np.concatenate([centres[batch], contexts[batch].ravel()])
        ids = KeyedJaggedTensor(keys=["centre", "context"], values=torch.from_numpy(values), lengths=lengths)
        model(ids, n_pairs).backward()
    dist.barrier()
    seconds = time.perf_counter() - started
    if rank == 0:
        pairs = size * (len(mine) - WARM_UP) * n_pairs
        (folder / "torchrec.json").write_text(json.dumps({"pairs_per_second": pairs / seconds}))
    dist.destroy_process_group()


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2] if len(sys.argv) > 2 else ShardingType.ROW_WISE.value)
