"""Find the pixels of a detector that cannot be trusted, from a few whole flats, darks and projections."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.ndimage import label, median_filter, uniform_filter

from runner.tomo.scan.defects import KINDS

_LEAST_VIEWS = 8  # of a pixel, to say that it does not change, or is like none of its neighbours
_HARDLY_ANY = 1e-3  # share of all pixels: if more never change, that is no fault
_ODD = float(np.log(1.5))  # brighter or darker than the neighbours by so much, in most of the views
_CERTAIN = 6.0  # and by so many times what differs around it
_AROUND = 15  # pixels along both sides of what is around it
_FEW = 0.01  # share of all pixels: if more are, it is noise
_LARGEST = 30  # pixels: what is larger is a thing that stands in the beam
_LIT = 0.05  # of the usual beam: fewer counts are only noise
_SEEN = 0.01  # transmission; the same
_LEAST_BITS = 8  # of a camera that stores its counts in a larger type


def find_defects(
    flat: NDArray[np.float32] | None,
    dark: NDArray[np.float32] | None,
    views: NDArray[Any],
    saturation: float = np.inf,
) -> NDArray[np.uint8]:
    """Find defective pixels.

    Parameters
    ----------
    flat, dark : (row, column) float32, or None
        Typical counts without sample, and without beam; None where there are no such frames.
    views : (frame, row, column) ndarray
        A few projections, spread over the scan.
    saturation : float
        The largest count there can be: see `saturation_of`.

    Returns
    -------
    (row, column) uint8 ndarray
        0 for a good pixel, else the number in :data:`runner.tomo.scan.defects.KINDS`, plus one. A pixel is

        - dead, if its flat is not above its dark, or one of them, or every view, is not finite;
        - hot, if its dark is above the middle between what is usual of darks and of flats;
        - saturated, in its flat or in more than half of the views;
        - stuck, if it is the same in all views, where hardly any pixel is;
        - odd, if in every view it is 1.5 times brighter than the median of the nine around it, or darker, as
          a share of the flat, and beyond what noise does. The sample turns: what stays in a pixel is no
          part of it. Larger spots are left alone, a thing in the beam for instance.
    """
    found = np.zeros(views.shape[1:], np.uint8)
    typical = _typical(views)
    offset = np.zeros_like(typical) if dark is None else dark
    beam = np.ones_like(typical) if flat is None else flat - offset
    dead = ~(np.isfinite(beam) & (beam > 0) & np.isfinite(typical))
    if dead.all():
        return np.full(dead.shape, KINDS.index("dead") + 1, np.uint8)
    beam = np.where(dead, np.float32(np.nan), beam)
    if len(views) >= _LEAST_VIEWS:
        _mark(found, "odd", _odd(views, typical, offset, beam))
        _mark(found, "stuck", _stuck(views, ~dead))
    _mark(found, "saturated", np.mean(views >= saturation, axis=0) > 0.5)
    if flat is not None:
        _mark(found, "saturated", flat >= saturation)
        middle = np.nanmedian(offset) + np.nanmedian(beam) / 2
        _mark(found, "hot", offset > middle)
    _mark(found, "dead", dead)
    return found


def saturation_of(*stacks: NDArray[Any] | None) -> float:
    """Tell the largest count that a camera can store, which may have fewer bits than the type of its pixels.

    Infinite where that cannot be told.

    >>> saturation_of(np.array([17, 4095], np.uint16)), saturation_of(np.array([17, 4000], np.uint16))
    (4095.0, 65535.0)
    """
    seen = [stack for stack in stacks if stack is not None and stack.size]
    top = max((float(np.nanmax(stack)) for stack in seen), default=np.inf)
    bits = np.log2(top + 1) if top > 0 else 0.0
    if _LEAST_BITS <= bits < np.inf and bits == round(bits):
        return top
    kinds = {stack.dtype for stack in seen if stack.dtype.kind in "iu"}
    return float(max(np.iinfo(kind).max for kind in kinds)) if kinds else np.inf


def _typical(views: NDArray[Any]) -> NDArray[np.float32]:
    """Take the median of what is finite; NaN where nothing is."""
    if views.dtype.kind != "f" or np.isfinite(views).all():
        return np.asarray(np.median(views, axis=0), np.float32)
    with warnings.catch_warnings(action="ignore", category=RuntimeWarning):  # of pixels that are all NaN
        return np.asarray(np.nanmedian(np.where(np.isfinite(views), views, np.nan), axis=0), np.float32)


def _mark(found: NDArray[np.uint8], kind: str, pixels: NDArray[np.bool_]) -> None:
    found[pixels] = KINDS.index(kind) + 1


def _stuck(views: NDArray[Any], alive: NDArray[np.bool_]) -> NDArray[np.bool_]:
    same = np.asarray((views == views[0]).all(axis=0) & alive)
    return same if same.mean() <= _HARDLY_ANY else np.zeros_like(same)


def _odd(
    views: NDArray[Any], typical: NDArray[np.float32], offset: NDArray[np.float32], beam: NDArray[np.float32]
) -> NDArray[np.bool_]:
    """Find small spots where the transmission is unlike that around them: `beam` is NaN in dead pixels."""
    transmission = (typical - offset) / beam
    whole = np.where(np.isfinite(transmission), transmission, np.float32(1))
    around = median_filter(whole, 3, mode="nearest")
    away = np.abs(_log_ratio(whole, around))
    usual = uniform_filter(np.minimum(away, _ODD), _AROUND, mode="mirror")
    lit = (beam > _LIT * np.nanmedian(beam)) & (around > _SEEN)
    odd = lit & (away > np.maximum(_ODD, _CERTAIN * usual))
    if not odd.any() or odd.mean() > _FEW:
        return np.zeros_like(odd)
    odd[odd] = _in_every_view(views, offset, beam, *np.nonzero(odd))
    spots, number = label(odd, np.ones((3, 3)))
    sizes = np.bincount(spots.ravel(), minlength=number + 1)
    return np.asarray(odd & (sizes[spots] <= _LARGEST))


def _in_every_view(
    views: NDArray[Any],
    offset: NDArray[np.float32],
    beam: NDArray[np.float32],
    rows: NDArray[np.intp],
    columns: NDArray[np.intp],
) -> NDArray[np.bool_]:
    """Tell which of some pixels are brighter in every view, or darker in every view, (pixel,).

    What lies on the rotation axis stays near its column, but what is around it does not.
    """
    height, width = beam.shape
    step = np.arange(-1, 2)
    near_rows = np.clip(rows[:, np.newaxis] + np.repeat(step, 3), 0, height - 1)
    near_columns = np.clip(columns[:, np.newaxis] + np.tile(step, 3), 0, width - 1)
    near = near_rows, near_columns
    seen = (views[:, *near] - offset[near]) / beam[near]  # (view, pixel, neighbour)
    away = _log_ratio(seen[..., 4], np.nanmedian(seen, axis=-1))
    return np.asarray((away > _ODD).all(axis=0) | (away < -_ODD).all(axis=0))


def _log_ratio(one: NDArray[np.floating], other: NDArray[np.floating]) -> NDArray[np.floating]:
    least = np.float32(1e-6)
    return np.asarray(np.log(np.maximum(one, least) / np.maximum(other, least)))
