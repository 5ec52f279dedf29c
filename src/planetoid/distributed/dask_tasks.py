"""Independent tasks on a Dask cluster: one that exists, or worker processes of this machine."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, TypeVar

from planetoid.errors import PlanetoidError

if TYPE_CHECKING:
    from distributed import Client

__all__ = ["as_finished", "connect", "in_order"]

Task = TypeVar("Task")
Answer = TypeVar("Answer")

SECONDS_TO_CONNECT = 30


@contextmanager
def connect(scheduler: str | None = None, workers: int = 2) -> Iterator[Client]:
    """Yield a client of a scheduler such as ``tcp://10.0.0.1:8786`` or, without one, of new local workers.

    Local workers have one thread each and listen on 127.0.0.1; they end with the context.
    """
    try:
        from distributed import Client, LocalCluster
    except ImportError:
        raise PlanetoidError("Dask is not installed", hint="pip install 'planetoid[dask]'") from None
    if scheduler is not None:
        try:
            client = Client(scheduler, timeout=SECONDS_TO_CONNECT)
        except (OSError, ValueError, TimeoutError) as error:
            raise PlanetoidError(f"cannot connect to the Dask scheduler {scheduler}: {error}") from None
        with client:
            yield client
        return
    with (
        LocalCluster(
            n_workers=workers,
            threads_per_worker=1,
            host="127.0.0.1",
            dashboard_address=None,
            worker_dashboard_address=None,
        ) as cluster,
        Client(cluster) as client,
    ):
        yield client


def as_finished(
    client: Client, function: Callable[[Task], Answer], tasks: Iterable[Task]
) -> Iterator[tuple[int, Answer]]:
    """Yield the number of each task and ``function(task)`` as soon as it is known.

    A worker that dies loses nothing: its tasks are given to others. What was not asked for any more is cancelled.
    """
    from distributed import KilledWorker, as_completed

    futures = client.map(function, list(tasks), pure=False)
    numbers = {future.key: number for number, future in enumerate(futures)}
    completed = as_completed(futures)
    del futures  # those that are left are in ``completed`` alone
    try:
        for future in completed:
            answer = future.result()
            future.release()  # or it would be computed again if its worker dies later
            yield numbers[future.key], answer
    except KilledWorker as error:
        raise PlanetoidError(
            "a task ended several workers of the Dask cluster, one after the other",
            hint="give the workers more memory, or use smaller parts",
        ) from error
    finally:
        client.cancel(list(completed.futures))


def in_order(client: Client, function: Callable[[Task], Answer], tasks: Iterable[Task]) -> Iterator[Answer]:
    """Yield ``function(task)`` for each task, in order."""
    early: dict[int, Answer] = {}
    following = 0
    for number, answer in as_finished(client, function, tasks):
        early[number] = answer
        while following in early:
            yield early.pop(following)
            following += 1
