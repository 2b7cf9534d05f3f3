"""Discs: their line integrals, and what they are."""

import numpy as np

DISCS = ((0, 0, 38, 0.02), (15, -9, 8, 0.02), (-12, 8, 6, -0.015))
"""x, y (down), radius and attenuation, pixels; they add up."""

COLUMNS = 96


def sinogram(angles, columns=COLUMNS, center=None, discs=DISCS, scale=1.0):
    """Line integrals, averaged over a detector pixel, (angle, column) float32."""
    theta = np.deg2rad(angles)[:, np.newaxis]
    center = (columns - 1) / 2 if center is None else center
    fine = (np.arange(columns)[:, np.newaxis] + (np.arange(16) - 7.5) / 16).ravel()
    total = np.zeros((len(theta), fine.size))
    for x, y, radius, attenuation in discs:
        distance = fine - center - scale * (x * np.cos(theta) - y * np.sin(theta))
        total += 2 * attenuation * np.sqrt(np.maximum((scale * radius) ** 2 - distance**2, 0))
    return total.reshape(len(theta), columns, 16).mean(axis=2).astype(np.float32)


def truth(size=COLUMNS, discs=DISCS):
    """What the discs are, averaged over each pixel, (y, x)."""
    position = (np.arange(8 * size) - (8 * size - 1) / 2) / 8
    total = np.zeros((8 * size, 8 * size), np.float32)
    for x, y, radius, attenuation in discs:
        total += attenuation * (np.hypot(position - x, position[:, np.newaxis] - y) < radius)
    return total.reshape(size, 8, size, 8).mean(axis=(1, 3))


def within(radius, size=COLUMNS, x=0.0, y=0.0):
    """The pixels of a slice within a circle, (y, x) bool."""
    position = np.arange(size) - (size - 1) / 2
    return np.hypot(position - x, position[:, np.newaxis] - y) < radius
