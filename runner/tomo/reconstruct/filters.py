"""The ramp filter of filtered backprojection, its windows, and the padding of a sinogram.

The ramp is the transform of the *spatial* kernel, not ``|frequency|``: sampling the latter forces the
mean to zero and biases every grey value (Kak and Slaney, *Principles of Computerized Tomographic
Imaging*, 1988, section 3.3).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType

import numpy as np
import scipy.fft
from numpy.typing import NDArray

PADDINGS = ("edge", "zero")

# each takes the frequency as a fraction of the cutoff frequency, from 0 up, and is 1 at 0; `linear` is what
# linear interpolation between detector pixels does, unasked, in most programs
WINDOWS: Mapping[str, Callable[[NDArray[np.floating]], NDArray[np.floating]]] = MappingProxyType(
    {
        "ram-lak": np.ones_like,
        "shepp-logan": lambda f: np.sinc(f / 2),
        "cosine": lambda f: np.cos(np.pi * f / 2),
        "hann": lambda f: 0.5 + 0.5 * np.cos(np.pi * f),
        "hamming": lambda f: 0.54 + 0.46 * np.cos(np.pi * f),
        "parzen": lambda f: (1 - np.minimum(f, 1)) ** 3,  # as tomopy and tomocupy call it
        "butterworth": lambda f: 1 / np.sqrt(1 + f**8),
        "linear": lambda f: np.sinc(f / 2) ** 2,
    }
)


def padded_length(columns: int) -> int:
    """Length to which a sinogram's rows are padded: at least twice the columns, and quick to transform.

    It is even, and a product of powers of 2, 3 and 5. Twice the columns keep the circular convolution from
    wrapping around onto the detector. With the padding ``"edge"`` the length has a part in the grey values of
    an object that is wider than the field of view; this length is the field's custom.
    """
    return 2 * int(scipy.fft.next_fast_len(columns, real=True))


def ramp(length: int, window: str = "ram-lak", cutoff: float = 1.0) -> NDArray[np.floating]:
    """Frequency response of the discrete ramp filter, at the frequencies 0 and up.

    Parameters
    ----------
    length : int
        Length of the padded rows.
    window : str
        A key of `WINDOWS`.
    cutoff : float
        Where the window ends, as a fraction of the Nyquist frequency: there is nothing beyond. Only
        `butterworth` has half of its power there and goes on.

    Returns
    -------
    (length // 2 + 1,) float64
        Cycles per pixel, in the order of ``numpy.fft.rfft``; real, as the kernel is even.
    """
    distance = np.abs(np.fft.fftfreq(length, 1 / length)).round().astype(np.int64)
    kernel = np.zeros(length)
    kernel[0] = 0.25
    odd = distance % 2 == 1
    kernel[odd] = -1 / (np.pi * distance[odd]) ** 2
    response = np.fft.rfft(kernel).real
    fraction = 2 * np.fft.rfftfreq(length) / cutoff
    kept = (fraction <= 1) | (window == "butterworth")
    return np.where(kept, response * WINDOWS[window](fraction), 0)


def pad(sinogram: NDArray[np.float32], length: int, padding: str) -> NDArray[np.float32]:
    """Lengthen the rows of a sinogram.

    The rows are a circle: the first half of what follows the detector carries on its last column, the
    second half leads to its first one.

    Parameters
    ----------
    sinogram : (angle, column) float32
        Line integrals.
    length : int
        Length of the padded rows.
    padding : str
        ``"edge"`` carries on the outer columns, which is right for an object wider than the field of
        view; ``"zero"`` says that there is nothing outside.

    Returns
    -------
    (angle, length) float32
    """
    angles, columns = sinogram.shape
    padded = np.zeros((angles, length), np.float32)
    padded[:, :columns] = sinogram
    if padding == "edge":
        turn = columns + (length - columns) // 2
        padded[:, columns:turn] = sinogram[:, -1:]
        padded[:, turn:] = sinogram[:, :1]
    return padded
