"""The same methods, of another program: its projector interpolates linearly, ours without smoothing."""

from pathlib import Path

import numpy as np
import pytest
from scipy.ndimage import gaussian_filter

from runner.tomo.reconstruct import Reconstructor
from tests.tomo.reconstruct.conftest import nrmse
from tests.tomo.reconstruct.iterative.discs import COLUMNS, sinogram, truth, within

ANGLES = np.arange(72) * 2.5


@pytest.mark.parametrize(("method", "iterations"), [("sirt", 100), ("cgls", 15)])
def test_astra_finds_the_same(method, iterations):
    with np.load(Path(__file__).parent / "astra.npz") as found:
        reference = found[method]
    with Reconstructor(angles=ANGLES, columns=COLUMNS, method=method, iterations=iterations) as reconstruct:
        image = reconstruct(sinogram(ANGLES)[np.newaxis])[0]
    inside = within(45)
    assert image[inside].mean() == pytest.approx(reference[inside].mean(), rel=1e-3)  # neither has converged
    # linear interpolation smooths: that shows at the edges of the discs, and in the streaks of 72 views
    assert nrmse(image, reference, inside) < 0.04
    smooth = (gaussian_filter(one, 2) for one in (image, reference))
    assert nrmse(*smooth, inside) < 3e-3
    # ours is not further from what is there
    assert nrmse(image, truth(), inside) < nrmse(reference, truth(), inside)
