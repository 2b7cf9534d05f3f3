"""All corrections of a scan together: the same however its rows are cut."""

import numpy as np
import pytest

from runner.tomo.choice import parse_choice
from runner.tomo.correct.corrections import Corrections, prepared_sinograms
from runner.tomo.correct.flatfield import FlatField, corrected_sinograms
from runner.tomo.correct.phase import Paganin
from runner.tomo.correct.rings.methods import METHODS
from runner.tomo.correct.unsharp_methods import METHODS as UNSHARP_METHODS
from runner.tomo.scan import open_scan
from runner.tomo.simulate import Settings, write_scan


@pytest.fixture(scope="module")
def scan(tmp_path_factory):
    """Noise, dead pixels and gain errors on 40 rows of 64 columns."""
    path = tmp_path_factory.mktemp("scan") / "scan.nx"
    write_scan(path, Settings(rows=40, columns=64, angles=48, flats=3, darks=2))
    return open_scan(path)


def rings(text):
    return parse_choice("rings", text, METHODS)


def test_without_any_it_is_the_flat_field_alone(scan):
    rows = slice(3, 9)
    found = prepared_sinograms(scan, rows, Corrections())
    assert found.tobytes() == corrected_sinograms(scan, rows).tobytes()


PHASE = Paganin(delta_beta=50.0, energy=20.0, distance=0.05, pixel_size=5e-6)
UNSHARP = parse_choice("unsharp", "gaussian:sigma=0.8", UNSHARP_METHODS)
CASES = [
    *(Corrections(rings=rings(name)) for name in METHODS),
    Corrections(zingers=0.2),
    Corrections(air=3, flat_field=FlatField(by="mean")),
    Corrections(double_flat=0.0),
    Corrections(double_flat=1.7),
    Corrections(phase=PHASE),
    Corrections(unsharp=UNSHARP),
    Corrections(zingers=0.2, air=2, double_flat=2.0, rings=rings("sorting"), phase=PHASE, unsharp=UNSHARP),
]


@pytest.mark.parametrize("corrections", CASES, ids=str)
def test_the_bits_do_not_depend_on_the_rows_beside_or_the_threads(scan, corrections):
    whole = prepared_sinograms(scan, slice(0, 40), corrections)
    assert np.isfinite(whole).all()
    for rows in (slice(0, 16), slice(16, 32), slice(5, 21), slice(39, 40)):
        part = prepared_sinograms(scan, rows, corrections, threads=2)
        assert part.tobytes() == whole[rows].tobytes()
