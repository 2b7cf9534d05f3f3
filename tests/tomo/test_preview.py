import numpy as np
import pytest

from runner.errors import PartialError, UsageError
from runner.tomo.pipeline import reconstruct
from runner.tomo.preview import make_preview
from runner.tomo.settings import Settings

from .conftest import pixels


@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"center": 24.5, "window": "hann", "rings": "sorting", "zingers": 0.2},
        {"center": 24.5, "delta_beta": 50, "energy": 20, "distance": 0.01, "unsharp": "gaussian"},
        {"center": 24.5, "method": "fbp", "mask": True, "mask_value": -1.0, "units": "1/pixel"},
        {"center": 24.5, "x": "5:40", "y": "20:30"},
    ],
    ids=["as it is", "rings", "phase", "fbp", "part"],
)
def test_a_slice_is_bit_for_bit_that_of_the_volume(small_scan, tmp_path, client, settings):
    settings = Settings(**settings)
    outcome = reconstruct(small_scan, tmp_path / "volume.h5", settings, client)
    made = make_preview(small_scan, (99, 3, 50), settings, client)
    assert made.rows == (3, 50, 99)
    np.testing.assert_array_equal(made.slices, pixels(outcome.volume)[[3, 50, 99]])
    assert made.content.units == outcome.units
    assert made.axis.position == outcome.axis.position


def test_of_larger_pixels_the_slice_is_that_which_holds_the_row(small_scan, tmp_path, client):
    settings = Settings(center=24.5, bin=2)
    outcome = reconstruct(small_scan, tmp_path / "volume.h5", settings, client)
    made = make_preview(small_scan, (7, 30, 6, 99), settings, client)
    assert made.rows == (6, 30, 99)
    np.testing.assert_array_equal(made.slices, pixels(outcome.volume)[[3, 15, 49]])


def test_the_middle_is_that_of_the_rows_that_were_chosen(small_scan, client):
    assert make_preview(small_scan, None, Settings(center=24.5), client).rows == (50,)
    assert make_preview(small_scan, (), Settings(center=24.5, rows="10:31"), client).rows == (20,)


def test_a_row_that_is_not_there_is_refused(small_scan, client):
    with pytest.raises(UsageError, match=r"row 100 is not on the detector; choose within 0 .. 99"):
        make_preview(small_scan, (4, 100), Settings(center=24.5), client)


def test_what_cannot_be_made_in_time_is_said(small_scan, client):
    with pytest.raises(PartialError, match="the time is over"):
        make_preview(small_scan, (4,), Settings(center=24.5), client, seconds_left=lambda: 0.0)
