"""All that a process holds of a GPU: streams, memory, compiled kernels. One owner gives it all back."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from importlib import resources
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from runner.errors import UsageError
from runner.tomo.reconstruct.gpu.steps import Array

Kernel = Callable[[int, tuple[int, int], int, tuple[Any, ...]], None]
"""Starts a kernel: blocks, threads of a block, bytes of shared memory, arguments."""


class Ticket(Protocol):
    """Something that the GPU will have done."""

    def synchronize(self) -> None:
        """Wait for it."""


class Device(Protocol):
    """What the engine needs of a GPU. Whatever does not fit its memory raises MemoryError."""

    xp: Any
    """The array library."""
    shared: int
    """Bytes of shared memory that a block may take."""

    def free(self) -> int:
        """Tell how many bytes of its memory are free."""

    def working(self) -> AbstractContextManager[None]:
        """Within it, arrays are made on the GPU, and work is given to it."""

    def kernel(self, source: str, name: str, defines: Mapping[str, int | str]) -> Kernel:
        """Compile a kernel of this package."""

    def pinned(self, shape: tuple[int, ...]) -> NDArray[np.float32]:
        """Make an array on the host from which and to which copies do not stop the work."""

    def upload(self, host: NDArray[np.number], array: Array) -> None:
        """Copy into an array on the GPU; work that is given later waits for it."""

    def download(self, array: Array, host: NDArray[np.float32]) -> Ticket:
        """Copy to the host, once the work given so far is done."""

    def trim(self) -> None:
        """Give unused memory back to the GPU."""

    def close(self) -> None:
        """Give everything back."""


def is_there() -> bool:
    """Tell whether this process sees a GPU, and can use it."""
    try:
        import cupy
    except ImportError:
        return False
    try:
        return bool(cupy.cuda.runtime.getDeviceCount())
    except cupy.cuda.runtime.CUDARuntimeError:
        return False


def kernel_source(source: str) -> str:
    """Read a file in CUDA C of this package."""
    return (resources.files(__package__) / source).read_text(encoding="utf-8")


class CudaDevice:
    """The first GPU that the process sees, through CuPy: the launcher gives each worker one of its own.

    Copies up, work, and copies down have a stream each, so that they overlap. Memory comes from a pool of its
    own.

    Raises
    ------
    UsageError
        If there is none.
    """

    def __init__(self) -> None:
        if not is_there():
            raise UsageError(
                "no GPU can be used here",
                "choose the CPU, or install the extra `gpu` on a machine with an NVIDIA GPU",
            )
        import cupy

        self.xp = cupy
        self._device = cupy.cuda.Device(0)
        self.shared = int(self._device.attributes["MaxSharedMemoryPerBlockOptin"])
        self._pool, self._pinned = cupy.cuda.MemoryPool(), cupy.cuda.PinnedMemoryPool()
        with self._device:
            self._up, self._work, self._down = (cupy.cuda.Stream(non_blocking=True) for _ in range(3))

    def free(self) -> int:
        """Tell how many bytes are free, with those that the pool holds ready."""
        with self._device:
            return int(self.xp.cuda.runtime.memGetInfo()[0]) + int(self._pool.free_bytes())

    @contextmanager
    def working(self) -> Iterator[None]:
        """Within it, arrays come from this owner's pool, and work goes to its stream."""
        with self._device, self.xp.cuda.using_allocator(self._pool.malloc), self._work:
            yield

    def kernel(self, source: str, name: str, defines: Mapping[str, int | str]) -> Kernel:
        """Compile a kernel; CuPy keeps what it has compiled on disk."""
        options = ("--std=c++17", *(f"-D{key}={value}" for key, value in defines.items()))
        module = self.xp.RawModule(code=kernel_source(source), options=options)
        with self._device:
            function = module.get_function(name)

        def start(blocks: int, threads: tuple[int, int], shared: int, arguments: tuple[Any, ...]) -> None:
            function.max_dynamic_shared_size_bytes = shared  # more than 48 KiB have to be asked for
            function((blocks,), threads, arguments, shared_mem=shared)

        return start

    def pinned(self, shape: tuple[int, ...]) -> NDArray[np.float32]:
        """Make an array in memory that the system does not move."""
        count = math.prod(shape)
        memory = self._pinned.malloc(count * np.dtype(np.float32).itemsize)
        return np.frombuffer(memory, np.float32, count).reshape(shape)

    def upload(self, host: NDArray[np.number], array: Array) -> None:
        """Copy into an array; the work waits for it, and this thread does not."""
        array.set(host, stream=self._up)
        self._work.wait_event(self._up.record())

    def download(self, array: Array, host: NDArray[np.float32]) -> Ticket:
        """Copy to the host after the work; this thread does not wait."""
        self._down.wait_event(self._work.record())
        array.get(stream=self._down, out=host, blocking=False)
        ticket: Ticket = self._down.record()
        return ticket

    def trim(self) -> None:
        """Wait for all work, and give unused memory back: the pool's, and that of plans of transforms."""
        with self._device:
            for stream in (self._up, self._work, self._down):
                stream.synchronize()
            self.xp.fft.config.get_plan_cache().clear()
            self._pool.free_all_blocks()
            self._pinned.free_all_blocks()

    def close(self) -> None:
        """Give the memory back; the driver's own context stays until the process ends."""
        self.trim()
