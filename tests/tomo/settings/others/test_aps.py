"""tomocupy.conf and tomopy.conf say here what they say there, with their units turned into ours."""

import math
import re
from pathlib import Path

import numpy as np
import pytest

from runner.errors import MissingFileError, UsageError
from runner.tomo.correct.phase import Paganin
from runner.tomo.settings import NAMES, Settings, load_settings, read_config

CENTER = {"reconstruction.rotation-axis": "782.5"}
ALWAYS = {"field_of_view": "full", "flats_by": "mean", "units": "1/pixel", "window": "parzen"}
PAGANIN = {
    "retrieve-phase.retrieve-phase-method": "paganin",
    "retrieve-phase.energy": "25",
    "retrieve-phase.propagation-distance": "60",
    "retrieve-phase.pixel-size": "1.17",
    "retrieve-phase.retrieve-phase-alpha": "0.0001",
}
PHYSICS = {"energy": 25.0, "distance": 0.06, "pixel_size": 1.17e-6, "delta_beta": 1e4 / (4 * math.pi**2)}


@pytest.mark.parametrize(
    ("changes", "settings"),
    [
        ({}, {}),
        ({"file-reading.flat-file-name": "flat.h5", "file-reading.dark-file-name": "dark.h5"},
         {"flats": "flat.h5", "darks": "dark.h5"}),
        ({"file-reading.file-type": "double_fov"}, {"field_of_view": "half"}),
        ({"reconstruction.start-row": "100", "reconstruction.end-row": "200"}, {"rows": (100, 200)}),
        ({"reconstruction.start-row": "100"}, {"rows": (100, None)}),
        ({"reconstruction.start-proj": "10"}, {"subset": "10:"}),
        ({"reconstruction.end-proj": "900"}, {"subset": "0:900"}),
        ({"reconstruction.fbp-filter": "ramp"}, {"window": "ram-lak"}),
        ({"reconstruction.fbp-filter": "shepp"}, {"window": "shepp-logan"}),
        ({"reconstruction.dtype": "float16"}, {"dtype": "float16"}),
        ({"reconstruction-types.reconstruction-algorithm": "lprec"}, {}),
        ({"reconstruction-steps-types.reconstruction-algorithm": "unheard of"}, {}),  # the first counts
        ({"retrieve-phase.energy": "25"}, {}),
        ({"remove-stripe.remove-stripe-method": "vo-all", "vo-all.vo-all-snr": "2.5"},
         {"rings": "all:snr=2.5,large=61,small=21"}),
        (PAGANIN, PHYSICS),
        (PAGANIN | {"retrieve-phase.pixel-size": "0"}, PHYSICS | {"pixel_size": None}),
    ],
)  # fmt: skip
def test_what_tomocupy_is_told_is_what_we_do(changed, changes, settings):
    file = read_config(changed("tomocupy.conf", CENTER | changes))
    loaded, expected = load_settings(file, {}), Settings(**ALWAYS | {"center": 782.5} | settings)
    for name in NAMES:
        value = getattr(expected, name)
        assert getattr(loaded, name) == (pytest.approx(value) if isinstance(value, float) else value)


@pytest.mark.parametrize(
    ("changes", "settings"),
    [
        ({}, {"padding": "zero"}),
        ({"find-rotation-axis.rotation-axis-auto": "auto"}, {}),
        ({"find-rotation-axis.rotation-axis-auto": "manual", "find-rotation-axis.rotation-axis": "1024"},
         {"center": 1024.0}),
        ({"gridrec.gridrec-filter": "hann", "gridrec.gridrec-padding": "True"},
         {"window": "hann", "padding": "edge"}),
        ({"reconstruction.reconstruction-algorithm": "lprec_fbp", "lprec-fbp.lprec-fbp-filter": "cosine"},
         {"window": "cosine", "padding": "zero"}),
        ({"reconstruction.reconstruction-mask": "True"}, {"mask": True}),
        ({"file-reading.dark-zero": "True"}, {"no_darks": True}),
        ({"flat-correction.flat-correction-method": "none"},
         {"flats_by": "median", "no_flats": True, "no_darks": True}),
        ({"flat-correction.flat-correction-method": "air", "flat-correction.air": "20"},
         {"flats_by": "median", "no_flats": True, "no_darks": True, "air": 20}),
        ({"file-reading.start-row": "0", "file-reading.end-row": "64"}, {"rows": (None, 64)}),
    ],
)  # fmt: skip
def test_what_tomopy_is_told_is_what_we_do(changed, changes, settings):
    loaded = load_settings(read_config(changed("tomopy.conf", changes)), {})
    expected = ALWAYS | {"center": "auto"} | settings
    assert {name: getattr(loaded, name) for name in expected} == expected


@pytest.mark.parametrize(
    ("name", "changes", "said", "lifted_by"),
    [
        ("tomocupy", {}, "rotation-axis = -1.0 is the middle", {"center": 7.0}),
        ("tomocupy", CENTER | {"file-reading.binning": "1"}, "--bin", {"bin": 2}),
        ("tomocupy", CENTER | {"file-reading.blocked-views": "[0,1]"}, "blocked-views", {}),
        ("tomocupy", CENTER | {"remove-stripe.remove-stripe-method": "fw"},
         "--rings", {"rings": "wavelet-fft:level=7,sigma=1"}),
        ("tomocupy", CENTER | {"remove-stripe.remove-stripe-method": "vo-all", "vo-all.vo-all-dim": "2"},
         "vo-all-dim = 2", {"rings": "all"}),
        ("tomocupy", CENTER | {"reconstruction.dezinger": "3"}, "--zingers", {"zingers": 0.2}),
        ("tomocupy", CENTER | {"reconstruction.fbp-filter": "cosine2"}, "--window", {"window": "cosine"}),
        ("tomocupy", CENTER | {"reconstruction.minus-log": "False"}, "logarithm", {}),
        ("tomocupy", CENTER | {"lamino.lamino-angle": "20"}, "lamino-angle", {}),
        ("tomocupy", CENTER | PAGANIN | {"retrieve-phase.retrieve-phase-alpha": "0"},
         "--delta-beta", {"delta_beta": 100.0}),
        ("tomocupy", CENTER | {"retrieve-phase.retrieve-phase-method": "Gpaganin"},
         "--delta-beta", {"delta_beta": 100.0}),
        ("tomopy", {"find-rotation-axis.rotation-axis-auto": "yaml"}, "--center", {"center": 7.0}),
        ("tomopy", {"reconstruction.reconstruction-algorithm": "sirt"},
         "--method", {"method": "fourier", "window": "hann"}),
        ("tomopy", {"flat-correction.flat-correction-method": "pca"}, "flat-correction-method", {}),
        ("tomopy", {"file-reading.file-type": "mosaic"}, "file-type = mosaic", {}),
        ("tomopy", {"beam-hardening.beam-hardening-method": "standard"}, "beam-hardening", {}),
        ("tomopy", {"reconstruction.reconstruction-mask": "True",
                    "reconstruction.reconstruction-mask-ratio": "0.9"}, "another circle", {"mask": True}),
    ],
)  # fmt: skip
def test_what_is_not_done_here_is_refused_unless_it_is_said_otherwise(
    changed, name, changes, said, lifted_by
):
    file = read_config(changed(f"{name}.conf", changes))
    with pytest.raises(UsageError, match=re.escape(said)):
        load_settings(file, {})
    if lifted_by:
        expected = Settings(**lifted_by)
        loaded = load_settings(file, lifted_by)
        assert [getattr(loaded, name) for name in lifted_by] == [
            getattr(expected, name) for name in lifted_by
        ]
    else:
        assert [*file.refused.values()] == [()]


def test_the_regularisation_of_tomopy_is_the_filter_of_that_delta_over_beta(changed):
    settings = load_settings(read_config(changed("tomocupy.conf", CENTER | PAGANIN)), {})
    ours = Paganin(
        delta_beta=settings.delta_beta,
        energy=settings.energy,
        distance=settings.distance,
        pixel_size=settings.pixel_size,
    )
    frequency = np.linspace(0, 0.1, 6)  # cycles per pixel
    wavelength = 12.39841984e-8 / 25  # cm
    theirs = 1 / (wavelength * 6 * (frequency / 1.17e-4) ** 2 / (4 * math.pi) + 1e-4)  # all in cm
    curve = 1 / (1 + (2 * math.pi * ours.length * frequency) ** 2)
    np.testing.assert_allclose(curve, theirs / theirs[0], rtol=1e-6)
    assert curve[-1] < 0.1


@pytest.mark.parametrize(
    ("name", "notes"),
    [
        ("tomocupy.conf", ["reconstruction-type"]),
        ("tomopy.conf", ["rotation-axis-auto", "reconstruction-type", "normalization-cutoff"]),
    ],
)
def test_as_they_are_written_they_need_few_words(changed, name, notes):
    file = read_config(changed(name, {}))
    assert [note.partition(": ")[2].partition(" ")[0] for note in file.notes] == notes
    assert len(file.refusals({"center"})) == 0


def test_the_scan_is_taken(changed):
    assert read_config(changed("tomopy.conf", {"file-reading.file-name": "a/b.h5"})).scan == Path("a/b.h5")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("center = 3\n", "sections of keys"),
        ("[a]\nb = 1\n", "no file of nabu, tomocupy or tomopy-cli: it has a"),
        ("", "it has no sections"),
        ("[dataset]\n[dataset]\n", "sections of keys"),
    ],
)
def test_a_file_of_nobody_is_refused_in_one_line(tmp_path, text, said):
    file = tmp_path / "some.conf"
    file.write_text(text)
    with pytest.raises(UsageError) as refusal:
        read_config(file)
    assert said in str(refusal.value)
    assert "\n" not in str(refusal.value)


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(MissingFileError, match=r"nowhere\.conf"):
        read_config(tmp_path / "nowhere.conf")
