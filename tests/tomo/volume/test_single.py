from pathlib import Path

import numpy as np
import pytest
import tifffile
from matplotlib.image import imread

from runner.errors import WriteError
from runner.tomo.volume.single import files_of_slice, write_slice


@pytest.fixture
def values():
    return np.random.default_rng(2).normal(size=(5, 4)).astype(np.float32)


def test_a_tiff_has_the_values_and_what_they_mean(tmp_path, content, values):
    write_slice(tmp_path / "slice.tif", values, content, (0.0, 1.0))
    with tifffile.TiffFile(tmp_path / "slice.tif") as file:
        (page,) = file.pages
        np.testing.assert_array_equal(page.asarray(), values)
        assert '"units": "1/cm"' in page.description
        per_cm = page.tags["XResolution"].value
        assert per_cm[0] / per_cm[1] == pytest.approx(0.01 / content.pixel_size)


def test_a_picture_has_the_greys(tmp_path, content, values):
    write_slice(tmp_path / "slice.png", values, content, (-1.0, 1.0))
    expected = np.round(np.clip((values + 1) / 2, 0, 1) * 255)
    np.testing.assert_allclose(imread(tmp_path / "slice.png") * 255, expected, atol=1.01)


def test_files_are_named_after_the_volume_and_the_row():
    named = [
        [path.name for path in files_of_slice(Path("out") / name, 7, alone=alone)]
        for name in ("volume.h5", "volume", "look.png")
        for alone in (True, False)
    ]
    both = ["volume_slice_00007.png", "volume_slice_00007.tif"]
    assert named == [both, both, both, both, ["look.png"], ["look_slice_00007.png"]]


def test_what_cannot_be_written_is_said(tmp_path, content, values):
    with pytest.raises(WriteError, match=r"slice\.png cannot be written"):
        write_slice(tmp_path / "nowhere" / "slice.png", values, content, (0.0, 1.0))
