"""``join``: this process becomes one of several that fit a model together, over torch.distributed."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from planetoid.distributed.environment import STORE_VARIABLE, is_launched, is_one_of_several
from planetoid.distributed.meeting import fresh_prefix
from planetoid.engine.arrays import Nodes, Table
from planetoid.engine.shards import Exchange, OneProcess, exchanging
from planetoid.errors import LostProcessError

if TYPE_CHECKING:
    from planetoid.distributed.shared_memory import SharedSums

__all__ = ["LocalExchange", "TorchExchange", "join"]

LOOPBACK = ("127.0.0.1", "localhost", "::1")
PATIENCE = timedelta(minutes=30)  # with a process that is alive but says nothing, while it reads its files for example


class TorchExchange:
    """The exchange of :mod:`planetoid.engine.shards` over torch.distributed, with gloo on CPUs."""

    def __init__(self) -> None:
        from torch import distributed

        self._distributed = distributed
        self.rank, self.size = distributed.get_rank(), distributed.get_world_size()

    def start_sum(self, values: Nodes) -> Callable[[], None]:
        import torch

        tensor = torch.from_numpy(values)
        work = self._call(partial(self._distributed.all_reduce, tensor, async_op=True))
        return lambda: self._call(work.wait)

    def gather(self, part: Table, widths: list[int]) -> Table:
        import torch

        parts = [torch.empty((len(part), width)) for width in widths]
        parts[self.rank] = torch.from_numpy(np.ascontiguousarray(part))
        # One broadcast each: the parts may be of different widths, which an all-gather of gloo does not take.
        for rank, tensor in enumerate(parts):
            self._call(partial(self._distributed.broadcast, tensor, rank))
        whole: Table = torch.cat(parts, dim=1).numpy()
        return whole

    def gather_to_first(self, part: Table, widths: list[int]) -> Table | None:
        import torch

        own = torch.from_numpy(np.ascontiguousarray(part))
        if self.rank > 0:
            self._call(partial(self._distributed.send, own, 0))
            return None
        parts = [own, *(torch.empty((len(part), width)) for width in widths[1:])]
        for rank in range(1, self.size):
            self._call(partial(self._distributed.recv, parts[rank], rank))
        whole: Table = torch.cat(parts, dim=1).numpy()
        return whole

    def share_rows(self, table: npt.NDArray[Any], bounds: list[int]) -> None:
        import torch

        for rank, (first, last) in enumerate(pairwise(bounds)):
            if first < last:
                self._call(partial(self._distributed.broadcast, torch.from_numpy(table[first:last]), rank))

    def texts(self, own: str) -> list[str]:
        import torch

        content = np.frombuffer(own.encode(), np.uint8)
        lengths = torch.zeros(self.size, dtype=torch.int64)
        lengths[self.rank] = len(content)
        self._call(partial(self._distributed.all_reduce, lengths))
        table = torch.zeros((self.size, max(1, int(lengths.max()))), dtype=torch.uint8)
        table[self.rank, : len(content)] = torch.from_numpy(content.copy())
        self._call(partial(self._distributed.all_reduce, table))
        rows = zip(table.numpy(), lengths.tolist(), strict=True)
        return [row[:length].tobytes().decode() for row, length in rows]

    def _call(self, function: Callable[[], object]) -> Any:
        """Call torch; an error of its means that another process is gone."""
        try:
            return function()
        except RuntimeError as error:
            raise LostProcessError(
                "another process of this training has ended",
                hint="its own message says why; with a checkpoint, the same command goes on from there",
            ) from error


class LocalExchange(TorchExchange):
    """The exchange of processes on one machine: scores go through memory that they share, the rest through gloo.

    Parameters
    ----------
    folder : Path
        Of this group alone; where its memory is small, gloo sends the scores too.
    """

    def __init__(self, folder: Path) -> None:
        super().__init__()
        self._folder = folder
        self._sums: SharedSums | None = None
        self._refused = 0  # so many integers, and more, did not fit
        self._processes = [int(process) for process in self.texts(str(os.getpid()))]

    def start_sum(self, values: Nodes) -> Callable[[], None]:
        if self._refused and len(values) >= self._refused:
            return super().start_sum(values)
        if self._sums is None or len(values) > self._sums.capacity:
            try:
                self._sums = self._share(2 * len(values))
            except OSError:  # in all processes, which therefore go on together
                self._refused = len(values)
                return super().start_sum(values)
        return self._sums.start(values)

    def _share(self, capacity: int) -> SharedSums:
        from planetoid.distributed.shared_memory import SharedSums

        return SharedSums(self._folder / f"sums-{capacity}", self.rank, self._processes, capacity, self.texts)


@contextmanager
def join() -> Iterator[Exchange]:
    """Fit models together with the other processes that torchrun has started.

    Inside, ``GraphEmbedding``, ``PlanetoidG``, ``PlanetoidT`` and ``PlanetoidI`` divide the columns of their tables
    among the processes, ``Planetoid`` the hidden units of its network. All processes make the same calls on the same
    data, and get the same predictions; of a table of embeddings only process 0 gets the whole, the others their columns
    of ``embedding_``. Without torchrun this is a group of one process, with the same result.

    Yields
    ------
    Exchange
        ``rank``, the number of this process, and ``size``, how many there are.

    Examples
    --------
    >>> import planetoid as pl
    >>> from planetoid import distributed
    >>> two_triangles = pl.Graph.from_edges([0, 1, 2, 3, 4, 5, 2], [1, 2, 0, 4, 5, 3, 3])
    >>> with distributed.join() as group:
    ...     model = pl.GraphEmbedding(dimension=16, pretrain=200)
    ...     model = model.fit(None, {0: "left", 5: "right"}, graph=two_triangles)
    >>> model.predict(nodes=[1, 4]).tolist(), group.rank, group.size
    (['left', 'right'], 0, 1)
    """
    if not is_one_of_several():
        alone = OneProcess()
        with exchanging(alone):
            yield alone
        return
    from torch import distributed

    _stay_on_this_machine()
    try:
        _start()
    except (RuntimeError, ValueError, OSError) as error:
        raise LostProcessError(
            "the processes of this training did not find each other",
            hint="start all of them, with the same MASTER_ADDR, MASTER_PORT and WORLD_SIZE",
        ) from error
    try:
        exchange = LocalExchange(Path(os.environ[STORE_VARIABLE]).parent) if is_launched() else TorchExchange()
        with exchanging(exchange):
            yield exchange
    finally:
        distributed.destroy_process_group()


def _stay_on_this_machine() -> None:
    """Let gloo listen on the loopback interface alone if all processes are on this machine."""
    if STORE_VARIABLE in os.environ or os.environ.get("MASTER_ADDR") in LOOPBACK:
        os.environ.setdefault("GLOO_SOCKET_IFNAME", "lo" if os.path.isdir("/sys/class/net/lo") else "lo0")


def _start() -> None:
    """Start torch.distributed by the variables that torchrun sets, or by the file that ``launch`` names."""
    from torch import distributed

    file = os.environ.get(STORE_VARIABLE)
    if file is None:
        store, rank, size = next(distributed.rendezvous("env://", timeout=PATIENCE))  # type: ignore[attr-defined]
        prefix = fresh_prefix(store, rank, size, PATIENCE.total_seconds())
        store = distributed.PrefixStore(prefix, store)  # type: ignore[attr-defined]
    else:
        rank, size = int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])
        store = distributed.FileStore(file, size)  # type: ignore[attr-defined]
    distributed.init_process_group("gloo", store=store, rank=rank, world_size=size, timeout=PATIENCE)
