"""The window that carries a point of the spectrum onto the grid around it.

A Kaiser-Bessel function of a few grid cells' width, nearly zero outside of the band that the grid resolves;
what it does to the image inside of that band is divided out afterwards. Kernels evaluate it by one polynomial
for each cell, in float32.

References
----------
J. I. Jackson et al., "Selection of a convolution function for Fourier inversion using gridding", IEEE Trans.
Med. Imaging 10 (1991) 473; P. J. Beatty et al., "Rapid gridding reconstruction with a minimal oversampling
ratio", IEEE Trans. Med. Imaging 24 (2005) 799, whose equation 5 gives the shape parameter.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.polynomial import chebyshev, polynomial
from numpy.typing import NDArray

_VECTOR = 8  # the kernels evaluate so many polynomials at once; no window is wider


class Window(NamedTuple):
    """The window in the form that the kernels read.

    Attributes
    ----------
    coefficients : (degree + 1, 8) float32
        Of the polynomial of each cell, from the constant up; the degree is the width.
    taps : tuple of int
        0 .. width - 1: its length tells the compiler the width in cells.
    """

    coefficients: NDArray[np.float32]
    taps: tuple[int, ...]


def shape_parameter(width: int, oversampling: float) -> float:
    """Choose how steep the window is."""
    return float(np.pi * np.sqrt((width / oversampling * (oversampling - 0.5)) ** 2 - 0.8))


def kaiser_bessel(distance: NDArray[np.float64], width: int, shape: float) -> NDArray[np.float64]:
    """Evaluate the window at a distance in grid cells, 1 at 0."""
    root = np.sqrt(np.maximum(1 - (2 * distance / width) ** 2, 0))
    inside = np.abs(distance) <= width / 2
    return np.asarray(np.where(inside, np.i0(shape * root) / np.i0(shape), 0))


def make_window(width: int, shape: float) -> Window:
    """Fit the polynomials, cell by cell.

    A point at ``u`` touches the cells ``ceil(u - width / 2) + tap``; each polynomial takes the distance of
    the middle of them from the point, -0.5 to 0.5.
    """
    nodes = 0.5 * chebyshev.chebpts1(64)
    coefficients = np.zeros((width + 1, _VECTOR), np.float32)
    for tap in range(width):
        values = kaiser_bessel(nodes + tap - (width - 1) / 2, width, shape)
        coefficients[:, tap] = polynomial.polyfit(nodes, values, width)
    return Window(coefficients=coefficients, taps=tuple(range(width)))


def apodisation(frequency: NDArray[np.float64], width: int, shape: float) -> NDArray[np.float64]:
    """Evaluate the Fourier transform of the window, by Gauss-Legendre quadrature.

    Parameters
    ----------
    frequency : (number,) float64
        Cycles per grid cell: the position of a pixel divided by the length of the grid.
    """
    nodes, weights = np.polynomial.legendre.leggauss(80)
    distance = nodes * width / 2
    values = kaiser_bessel(distance, width, shape) * weights * width / 2
    return np.asarray(np.cos(2 * np.pi * np.outer(frequency, distance)) @ values)
