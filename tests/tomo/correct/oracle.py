"""The correction in plain NumPy: what the compiled one is held against."""

import numpy as np


def beam_of(flat, dark):
    with np.errstate(invalid="ignore"):
        beam = flat - dark
    beam[~(beam > 0)] = np.nan
    return beam


def fill_gaps(sinogram):
    gaps = np.isnan(sinogram)
    for angle in np.flatnonzero(gaps.any(axis=1)):
        line, missing = sinogram[angle], gaps[angle]
        there = np.flatnonzero(~missing)
        line[missing] = np.interp(np.flatnonzero(missing), there, line[there]) if len(there) else 0


def line_integrals(projections, times, dark, flats, positions, log=np.log):
    """Correct projections, a step after the other for each row."""
    count, height, width = projections.shape
    sinograms = np.empty((height, count, width), np.float32)
    beams = [beam_of(flat, dark) for flat in flats]
    segments = _segments(times, positions)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        for row, sinogram in enumerate(sinograms):
            np.subtract(projections[:, row], dark[row], out=sinogram, casting="same_kind")
            for angles, before, after, weight in segments:
                start, change = beams[before][row], beams[after][row] - beams[before][row]
                sinogram[angles] /= start if before == after else start + weight * change
            np.clip(sinogram, 1e-6, 10, out=sinogram)
            sinogram[...] = log(sinogram)
            np.negative(sinogram, out=sinogram)
            fill_gaps(sinogram)
    return sinograms


def _segments(times, positions):
    """Cut the projections at the flats: (which projections, flat before, flat after, weight of the latter).

    Outside the flats, the flat before and the flat after are the same, and there is no weight.
    """
    cuts = np.searchsorted(times, positions).tolist()
    last = len(positions) - 1
    segments = [
        (slice(0, cuts[0]), 0, 0, None),
        (slice(cuts[-1], len(times)), last, last, None),
    ]
    for before, after in zip(range(last), range(1, last + 1), strict=True):
        angles = slice(cuts[before], cuts[after])
        length = positions[after] - positions[before]
        weight = ((times[angles] - positions[before]) / length).astype(np.float32)[:, np.newaxis]
        segments.append((angles, before, after, weight))
    return segments
