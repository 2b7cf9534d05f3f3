"""How to reconstruct, apart from the geometry: one frozen value that every method reads."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """See :class:`runner.tomo.reconstruct.Reconstructor` for what the values mean.

    Attributes
    ----------
    window, padding : str
        Keys of :mod:`runner.tomo.reconstruct.filters`.
    cutoff : float
        Where the window ends, as a fraction of the Nyquist frequency.
    quality : str
        A key of :data:`runner.tomo.reconstruct.gridding.quality.QUALITIES`.
    threads : int
        How many threads compute.
    memory : float
        Bytes that a method's buffers may take.
    device : str
        ``"cpu"`` or ``"gpu"``.
    iterations : int
        Steps of an iterative method.
    nonnegative : bool
        Whether it keeps all values from being negative.
    scale : float
        Factor of all values.
    """

    window: str = "ram-lak"
    padding: str = "edge"
    cutoff: float = 1.0
    quality: str = "standard"
    threads: int = 1
    memory: float = float("inf")
    device: str = "cpu"
    iterations: int = 0
    nonnegative: bool = False
    scale: float = 1.0
