"""How much memory a method's own buffers take: predicted from sizes alone, without making anything."""

from __future__ import annotations

import math
from dataclasses import dataclass

from runner.tomo.reconstruct.filters import padded_length
from runner.tomo.reconstruct.gpu.layout import choose_lanes, host_bytes
from runner.tomo.reconstruct.gridding.memory import buffer_bytes, choose_layout, sizes_of
from runner.tomo.reconstruct.gridding.pair import pair_sizes
from runner.tomo.reconstruct.gridding.quality import QUALITIES
from runner.tomo.reconstruct.iterative.memory import layout_within, needed_bytes
from runner.tomo.reconstruct.iterative.methods import ITERATIONS
from runner.tomo.reconstruct.iterative.rays import full_size


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem:
    """What the memory depends on; see :class:`runner.tomo.reconstruct.Reconstructor`.

    `shape` is that of what is wanted of a slice, (y, x), and `seen` the columns of a detector that sees as
    much and has the axis in its middle.
    """

    method: str
    quality: str
    angles: int
    columns: int
    size: int
    threads: int
    shape: tuple[int, int]
    seen: int = 0
    device: str = "cpu"


def buffers_of(problem: Problem, limit: float) -> int:
    """Predict the bytes that a method takes where it may take `limit`: more, if it cannot do with that."""
    if problem.method == "fourier":
        on_cpu = _fourier(problem, limit) if problem.device != "gpu" else 0
        on_gpu = _fourier_on_gpu(problem, limit) if problem.device != "cpu" else 0
        return max(on_cpu, on_gpu)
    if problem.method in ITERATIONS:
        return _iterative(problem, limit)
    return _exact(problem) if problem.method == "exact" else _fbp(problem)


def _fourier(problem: Problem, limit: float) -> int:
    shape = problem.size, problem.size
    sizes = sizes_of(problem.angles, problem.columns, shape, QUALITIES[problem.quality])
    return buffer_bytes(sizes, choose_layout(sizes, problem.threads, limit), problem.threads)


def _fourier_on_gpu(problem: Problem, limit: float) -> int:
    def needed(lanes: int) -> int:
        return host_bytes(problem.angles, problem.columns, problem.shape, lanes)

    return needed(choose_lanes(lambda lanes: needed(lanes) <= limit))


def _iterative(problem: Problem, limit: float) -> int:
    size, rays = full_size(problem.size, problem.seen), problem.angles * problem.columns
    sizes = pair_sizes(problem.angles, problem.columns, size, problem.quality)
    layout = layout_within(sizes, rays, size, problem.threads, limit)
    return needed_bytes(sizes, rays, size, problem.threads, layout)


def _exact(problem: Problem) -> int:
    length = padded_length(problem.columns)
    points = problem.angles * (length // 2 + 1)
    shared = points * (4 + 4 + 8)  # the positions of the points and the transfer function
    # of each thread: spectrum, padded sinogram, sorted points; the transform's grid and its image
    per_thread = points * (8 + 8 + 8) + problem.size**2 * 8 * (1.25**2 + 1)
    return int(shared + problem.threads * per_thread)


def _fbp(problem: Problem) -> int:
    length = padded_length(problem.columns)
    # of each thread: padded, transformed and filtered rows; the image, and what is added to it
    per_thread = problem.angles * length * (4 + 4 + 4) + math.prod(problem.shape) * 8 * 5
    return problem.threads * per_thread
