"""Remove rings from the sinograms of some rows, each by itself."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from runner.tomo.choice import Choice
from runner.tomo.correct.rings.methods import NO_RINGS
from runner.tomo.kernels.compiled import ensure_compiled
from runner.tomo.share import share

_LEAST, _MOST = 1e-6, 10.0  # of a transmission, as in the correction of the flat field

#: For a pixel of a sinogram: copies in single and double precision, keys, spectra.
_BYTES_PER_PIXEL = {
    NO_RINGS.name: 0,
    "sorting": 16,
    "filtering": 28,
    "fitting": 96,
    "large": 28,
    "dead": 32,
    "all": 32,
    "wavelet-fft": 40,
    "titarenko": 1,
    "mean": 1,
}


def remove_rings(sinograms: NDArray[np.float32], choice: Choice, *, threads: int = 1) -> None:
    """Remove rings.

    Parameters
    ----------
    sinograms : (row, angle, column) float32
        Line integrals; in place. Each is treated by itself, so that it does not matter which lie beside it.
    choice : Choice
        One of :data:`~runner.tomo.correct.rings.methods.METHODS`. What multiplies a column's counts is added
        to its line integrals: methods that add work on these, those that multiply on the transmission.
    threads : int
        How many compute, each at a sinogram.
    """
    if choice == NO_RINGS:
        return
    treat = _treatment(choice)
    ensure_compiled("ring removal", _run_once)
    share(lambda row: treat(sinograms[row]), range(len(sinograms)), threads)


def bytes_per_pixel(choice: Choice) -> int:
    """Say what a thread takes for a pixel of the sinogram that it treats."""
    return _BYTES_PER_PIXEL[choice.name]


def _treatment(choice: Choice) -> Callable[[NDArray[np.float32]], None]:
    from runner.tomo.correct.rings import smooth, vo, wavelet  # numba and SciPy are slow to import

    adding: dict[str, Callable[..., None]] = {
        "sorting": vo.remove_by_sorting,
        "filtering": vo.remove_by_filtering,
        "wavelet-fft": wavelet.remove_by_wavelets,
        "titarenko": smooth.remove_by_regularization,
        "mean": smooth.remove_by_mean,
    }
    multiplying: dict[str, Callable[..., None]] = {
        "fitting": vo.remove_by_fitting,
        "large": vo.remove_large,
        "dead": vo.remove_dead,
        "all": vo.remove_all,
    }
    values = dict(choice.values)
    if choice.name in adding:
        return lambda sinogram: adding[choice.name](sinogram, **values)
    return lambda sinogram: _on_transmission(sinogram, lambda t: multiplying[choice.name](t, **values))


def _on_transmission(sinogram: NDArray[np.float32], treat: Callable[[NDArray[np.float32]], None]) -> None:
    transmission = np.exp(-sinogram)
    treat(transmission)
    np.clip(transmission, _LEAST, _MOST, out=transmission)
    np.negative(np.log(transmission, out=transmission), out=sinogram)


def _run_once() -> None:
    """Sort next to nothing."""
    from runner.tomo.correct.rings.vo import remove_by_sorting

    remove_by_sorting(np.zeros((2, 3), np.float32), size=3)
