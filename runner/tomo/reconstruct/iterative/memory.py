"""How much memory the iterative methods take, and how they do with less: from sizes alone."""

from __future__ import annotations

from runner.tomo.reconstruct.gridding.memory import Layout, Sizes, choose_layout, forward_bytes, pair_bytes

_SLICES, _SINOGRAMS = 3, 4  # of each slice that is computed at once: what a step holds beside the projector
_REAL = 4  # bytes
_MAKING = 16  # two numbers in double precision, bytes


def group_bytes(rays: int, size: int) -> int:
    """Predict what a step holds of one slice with `size` pixels along both sides, and `rays` rays."""
    return (_SLICES * size**2 + _SINOGRAMS * rays) * _REAL


def constant_bytes(rays: int, size: int) -> int:
    """Predict what is held for all: the lengths of the rays, the gains and the disc, and their making."""
    return rays * (_REAL + _MAKING) + size**2 * (_REAL + 1 + _MAKING)


def layout_within(sizes: Sizes, rays: int, size: int, threads: int, limit: float) -> Layout:
    """Choose how much is computed at once in so many bytes."""
    beside = forward_bytes(sizes, threads) + group_bytes(rays, size)
    return choose_layout(sizes, threads, limit - constant_bytes(rays, size), beside)


def needed_bytes(sizes: Sizes, rays: int, size: int, threads: int, layout: Layout) -> int:
    """Predict the memory of all of it."""
    own = constant_bytes(rays, size) + layout.lanes * group_bytes(rays, size)
    return own + pair_bytes(sizes, layout, threads)
