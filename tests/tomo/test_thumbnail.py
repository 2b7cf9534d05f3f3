import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from runner.tomo.thumbnail import shrink, step_for


@given(st.integers(1, 5000), st.integers(1, 600))
def test_a_step_leaves_as_many_pixels_as_may_be(length, most):
    step = step_for(length, most)
    assert -(-length // step) <= most
    assert step == 1 or -(-length // (step - 1)) > most


@given(st.integers(1, 40), st.integers(1, 40), st.integers(1, 12))
def test_a_small_image_has_the_means_of_the_blocks(height, width, most):
    image = np.arange(height * width, dtype=np.float32).reshape(height, width)
    small = shrink(image, most)
    assert small.shape[0] <= most
    assert small.shape[1] <= most
    down, across = step_for(height, most), step_for(width, most)
    np.testing.assert_allclose(small[0, 0], image[:down, :across].mean(), rtol=1e-6)
    np.testing.assert_allclose(
        small[-1, -1],
        image[: small.shape[0] * down, : small.shape[1] * across][-down:, -across:].mean(),
        rtol=1e-6,
    )
