import base64
import io

import numpy as np
from matplotlib.image import imread

from runner.tomo.png import picture, png, to_grey


def test_another_program_reads_the_same_greys():
    grey = np.random.default_rng(1).integers(0, 256, (7, 5)).astype(np.uint8)
    found = imread(io.BytesIO(png(grey)), format="png")
    np.testing.assert_array_equal(np.round(found * 255), grey)


def test_black_and_white_are_where_they_were_said():
    image = np.array([[-1.0, 0.0, 0.5], [1.0, 7.0, np.nan]], np.float32)
    np.testing.assert_array_equal(to_grey(image, 0, 1), [[0, 0, 128], [255, 255, 0]])
    np.testing.assert_array_equal(to_grey(image, 1, 1), np.zeros((2, 3)))


def test_the_address_holds_the_picture():
    kind, _, content = picture(np.eye(3, dtype=np.float32), 0, 1).partition(",")
    assert kind == "data:image/png;base64"
    np.testing.assert_array_equal(imread(io.BytesIO(base64.b64decode(content)), format="png"), np.eye(3))
