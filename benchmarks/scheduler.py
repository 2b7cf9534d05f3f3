"""Time what the scheduler costs: many small chunk-like tasks on a simulated cluster of many workers.

The workers are Dask's own, all in this one process, and their tasks do nothing: what is left is the work of
the scheduler, of the client and of this launcher's way of handing out chunks, all on one core.

Run it from the top of the repository, with nothing else running::

    .venv/bin/python -m benchmarks.scheduler --workers 1000 --tasks 10000
"""

from __future__ import annotations

import argparse
import asyncio
import logging
import threading
import time
from collections.abc import Iterator
from concurrent.futures import Future
from contextlib import contextmanager

import dask
from distributed import Client, Scheduler, Worker, as_completed

from runner.node.open_files import raise_limit
from runner.tomo.dispatch import run_chunks
from runner.tomo.plan import Chunk

#: What a real worker does in its own process besides tasks would be done here a thousand times in one.
_QUIET = {
    "distributed.worker.profile.enabled": False,
    "distributed.admin.system-monitor.interval": "1h",
    "distributed.admin.tick.interval": "1h",
    "distributed.worker.memory.monitor-interval": "1h",
    "distributed.scheduler.work-stealing": False,
    "distributed.scheduler.worker-ttl": None,
    "distributed.comm.timeouts.connect": "300s",
}
_SETTINGS = {"dashboard": False, "dashboard_address": "127.0.0.1:0"}


def nothing(chunk: Chunk) -> int:
    """Stand for a chunk that takes no time."""
    return chunk.first_row


@contextmanager
def simulated(workers: int) -> Iterator[str]:
    """Run a scheduler and its workers in a thread; give its address."""
    started: Future[str] = Future()
    stop = asyncio.Event()
    loops: list[asyncio.AbstractEventLoop] = []

    async def serve() -> None:
        loops.append(asyncio.get_running_loop())
        async with Scheduler(protocol="inproc", **_SETTINGS) as scheduler:
            makers = (
                Worker(scheduler.address, nthreads=1, memory_limit=0, name=number, **_SETTINGS)
                for number in range(workers)
            )
            serving = [await maker for maker in makers]
            started.set_result(scheduler.address)
            await stop.wait()
            await asyncio.gather(*(worker.close(executor_wait=False) for worker in serving))

    thread = threading.Thread(target=lambda: asyncio.run(serve()), daemon=True)
    thread.start()
    try:
        yield started.result(600)
    finally:
        loops[0].call_soon_threadsafe(stop.set)
        thread.join(120)


def main() -> None:
    """Print a Markdown table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--workers", type=int, default=1000)
    parser.add_argument("--tasks", type=int, default=10_000)
    options = parser.parse_args()
    raise_limit()
    dask.config.set(_QUIET)
    logging.getLogger("distributed").setLevel(logging.CRITICAL)
    chunks = [Chunk(first_row=row, end_row=row + 16) for row in range(0, 16 * options.tasks, 16)]
    began = time.perf_counter()
    with simulated(options.workers) as address:
        print(
            f"{options.workers} workers, ready in {time.perf_counter() - began:.1f} s; {len(chunks)} tasks\n"
        )
        print("| handed out by | s | ms per task |")
        print("|---|---|---|")
        with Client(address) as client:
            began = time.perf_counter()
            results, failures, left = run_chunks(client, nothing, chunks)
            tell("reconstruct", time.perf_counter() - began, len(results), len(chunks))
            if failures or left:
                raise SystemExit(f"{len(failures)} chunks failed, {len(left)} left")
            began = time.perf_counter()
            done = sum(1 for _ in as_completed(client.map(nothing, chunks, pure=False)))
            tell("client.map", time.perf_counter() - began, done, len(chunks))


def tell(name: str, seconds: float, done: int, wanted: int) -> None:
    """Print a line of the table."""
    if done != wanted:
        raise SystemExit(f"{name}: {done} of {wanted} done")
    print(f"| {name} | {seconds:.1f} | {1000 * seconds / wanted:.2f} |", flush=True)


if __name__ == "__main__":
    main()
