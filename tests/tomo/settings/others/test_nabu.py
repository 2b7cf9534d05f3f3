"""nabu.conf says here what it says to nabu, or is refused."""

import re
from pathlib import Path

import pytest

from runner.errors import UsageError
from runner.tomo.settings import Settings, load_settings, read_config
from runner.tomo.settings.others.nabu import RULES

UNSHARP = {"phase.unsharp_coeff": "3.", "phase.unsharp_sigma": "0.8"}
MEDIAN = {"preproc.ccd_filter_enabled": "1"}


def test_as_nabu_writes_it_it_asks_for_nothing_unusual(changed):
    file = read_config(changed("nabu.conf", {}))
    assert (dict(file.settings), file.refused, file.scan, file.volume) == ({}, {}, None, None)
    assert [note.partition(": ")[2].partition(" ")[0] for note in file.notes] == [
        "preproc.normalize_srcurrent",
        "reconstruction.rotation_axis_position",
    ]


def test_every_key_of_nabu_has_one_rule_but_the_scan_which_names_the_volume_too(changed):
    text = changed("nabu.conf", {}).read_text()
    keys, section = set(), ""
    for line in text.splitlines():
        section = line.strip("[]") if line.startswith("[") else section
        if " =" in line and not line.startswith("#"):
            keys.add(f"{section}.{line.partition(' =')[0]}")
    ruled = [key for rule in RULES for key in rule.keys]
    assert keys <= set(ruled)
    assert {key for key in ruled if ruled.count(key) > 1} == {"dataset.location"}


@pytest.mark.parametrize(
    ("changes", "settings"),
    [
        ({"dataset.hdf5_entry": "entry0001"}, {"entry": "entry0001"}),
        ({"dataset.projections_subsampling": "4"}, {"subset": "0::4"}),
        ({"dataset.projections_subsampling": "2:1"}, {"subset": "1::2"}),
        ({"dataset.overwrite_metadata": "energy = 19 kev; pixel_size = 1.6 um ; distance=50 cm"},
         {"energy": 19.0, "pixel_size": 1.6e-6, "distance": 0.5}),
        ({"dataset.overwrite_metadata": "energy = 19000 eV"}, {"energy": 19.0}),
        ({"dataset.binning": "2", "dataset.binning_z": "2"}, {"bin": 2}),
        ({"preproc.flatfield": "0"}, {"no_flats": True, "no_darks": True}),
        ({"preproc.double_flatfield": "1"}, {"double_flat": 0.0}),
        ({"preproc.double_flatfield": "true", "preproc.dff_sigma": "8"}, {"double_flat": 8.0}),
        ({"preproc.dff_sigma": "8"}, {}),
        ({"phase.method": "Paganin"}, {"delta_beta": 100.0}),
        ({"phase.method": "tie", "phase.delta_beta": "250", "phase.padding_type": "mirror"},
         {"delta_beta": 250.0}),
        ({"phase.delta_beta": "250"}, {}),
        ({"phase.unsharp_coeff": "3."}, {}),
        ({"reconstruction.method": "HBP"}, {}),
        ({"reconstruction.angles_file": "angles.txt"}, {"angles": "angles.txt"}),
        ({"reconstruction.rotation_axis_position": "295.75"}, {"center": 295.75}),
        ({"reconstruction.rotation_axis_position": "global"}, {"center": "auto"}),
        ({"reconstruction.fbp_filter_type": "hann"}, {"window": "hann"}),
        ({"reconstruction.fbp_filter_type": "Shepp-Logan"}, {"window": "shepp-logan"}),
        ({"reconstruction.fbp_filter_cutoff": "0.5"}, {}),  # nabu's ramlak has none
        ({"reconstruction.padding_type": "zeros"}, {"padding": "zero"}),
        ({"reconstruction.enable_halftomo": "1"}, {"field_of_view": "half"}),
        ({"reconstruction.enable_halftomo": "0"}, {"field_of_view": "full"}),
        ({"reconstruction.clip_outer_circle": "1"}, {"mask": True}),
        ({"reconstruction.clip_outer_circle": "1", "reconstruction.outer_circle_value": "0.5"},
         {"mask": True, "mask_value": 0.5}),
        ({"reconstruction.outer_circle_value": "0.5"}, {}),
        ({"reconstruction.start_z": "100", "reconstruction.end_z": "199"}, {"rows": (100, 200)}),
        ({"reconstruction.start_z": "7"}, {"rows": (7, None)}),
        ({"reconstruction.end_z": "0"}, {"rows": (None, 1)}),
        ({"reconstruction.start_z": "first", "reconstruction.end_z": "last"}, {}),
        ({"preproc.flatfield": "True", "preproc.log_max_clip": "10"}, {}),
    ],
)  # fmt: skip
def test_what_it_says_is_what_we_do(changed, changes, settings):
    file = read_config(changed("nabu.conf", changes))
    assert file.refused == {}
    loaded = load_settings(file, {})
    expected = Settings(**settings)
    assert [getattr(loaded, name) for name in settings] == [getattr(expected, name) for name in settings]
    assert set(file.settings) == {name for name in settings if settings[name] != getattr(Settings(), name)}
    assert all(loaded.origin(name) == str(file.path) for name in file.settings)


@pytest.mark.parametrize(
    ("changes", "said", "lifted_by"),
    [
        ({"dataset.hdf5_entry": "entry000?"}, "several entries", {"entry": "entry0001"}),
        ({"dataset.binning": "2"}, "both sides: give --bin", {"bin": 2}),
        ({"dataset.exclude_projections": "indices = a.txt"}, "exclude_projections", {}),
        ({"dataset.overwrite_metadata": "scale_factor = 2 dimensionless"}, "scale_factor", {}),
        ({"dataset.overwrite_metadata": "energy = 19"}, "with units", {}),
        ({"dataset.flip_lr": "1"}, "flip_lr", {}),
        ({"preproc.flatfield": "pca"}, "flatfield = pca", {}),
        (MEDIAN, "--zingers", {"zingers": 0.1}),
        ({"preproc.double_flatfield": "force-load"}, "--double-flat", {"double_flat": 5.0}),
        ({"preproc.double_flatfield": "1", "preproc.dff_sigma": "0.0"}, "dff_sigma", {"double_flat": 0.0}),
        ({"preproc.take_logarithm": "0"}, "logarithm", {}),
        ({"preproc.log_min_clip": "1e-5"}, "1e-6 here", {}),
        ({"preproc.sino_rings_correction": "munch"}, "--rings", {"rings": "wavelet-fft"}),
        ({"preproc.sino_rings_correction": "vo"}, "--rings all:snr=3.0,large=51,small=21", {"rings": "all"}),
        ({"preproc.sino_rings_correction": "Vo", "preproc.sino_rings_options": "snr=2.5; la_size=81 ;dim=1"},
         "--rings all:snr=2.5,large=81,small=21", {"rings": "all:large=81"}),
        ({"preproc.tilt_correction": "0.3"}, "tilted axis", {}),
        ({"phase.method": "CTF"}, "only Paganin", {}),
        ({"phase.method": "paganin", "phase.delta_beta": "auto"}, "--delta-beta", {"delta_beta": 99.0}),
        ({"phase.method": "paganin", "phase.padding_type": "zeros"}, "mirroring", {"delta_beta": 99.0}),
        (UNSHARP, "--unsharp gaussian:sigma=0.8,coeff=3", {"unsharp": "gaussian:sigma=0.8,coeff=3"}),
        ({"reconstruction.method": "MLEM"}, "only FBP", {}),
        ({"reconstruction.rotation_axis_position": ""}, "middle of the detector", {"center": 319.5}),
        ({"reconstruction.fbp_filter_type": "tukey"}, "--window", {"window": "hann"}),
        ({"reconstruction.fbp_filter_type": "none"}, "--window", {"window": "hann"}),
        ({"reconstruction.fbp_filter_type": "hann", "reconstruction.fbp_filter_cutoff": "0.5"},
         "--cutoff", {"window": "hann", "cutoff": 0.5}),
        ({"reconstruction.padding_type": "mirror"}, "--padding", {"padding": "edge"}),
        ({"reconstruction.centered_axis": "0"}, "in the middle", {}),
        ({"reconstruction.start_x": "10"}, "--x and --y", {"x": "10:", "y": ":"}),
        ({"reconstruction.start_z": "middle"}, "--rows", {"rows": "3:4"}),
        ({"reconstruction.end_z": "-2"}, "--rows", {"rows": "3:4"}),
        ({"reconstruction.angle_offset": "90"}, "angle_offset", {}),
        ({"resources.method": "preview"}, "bins the data", {}),
    ],
)  # fmt: skip
def test_what_is_not_done_here_is_refused_unless_it_is_said_otherwise(changed, changes, said, lifted_by):
    file = read_config(changed("nabu.conf", changes))
    with pytest.raises(UsageError, match=re.escape(said)) as refusal:
        load_settings(file, {})
    assert all(f"{key} = {value}" in str(refusal.value) for key, value in changes.items() if value)
    if lifted_by:
        expected = Settings(**lifted_by)
        loaded = load_settings(file, lifted_by)
        assert [getattr(loaded, name) for name in lifted_by] == [
            getattr(expected, name) for name in lifted_by
        ]
    else:
        assert [*file.refused.values()] == [()]


@pytest.mark.parametrize(
    ("changes", "volume"),
    [
        ({}, "raw/tooth_rec.hdf5"),
        ({"output.location": "/out"}, "/out/tooth_rec.hdf5"),
        ({"output.file_prefix": "mine", "output.file_format": "nx"}, "raw/mine.hdf5"),
        ({"output.file_format": "tiff"}, "raw/tooth_rec"),
        ({"output.file_format": "tif", "output.tiff_single_file": "1"}, "raw/tooth_rec.tiff"),
        ({"output.file_format": "ome-zarr"}, "raw/tooth_rec.zarr"),
    ],
)
def test_scan_and_volume_have_the_names_that_nabu_gives_them(changed, changes, volume):
    file = read_config(changed("nabu.conf", {"dataset.location": "raw/tooth.2.nx", **changes}))
    assert (file.scan, file.volume) == (Path("raw/tooth.2.nx"), Path(volume))


@pytest.mark.parametrize("changes", [{"output.file_format": "jp2"}, {"output.file_prefix": "{entry}_rec"}])
def test_a_volume_that_cannot_be_named_has_to_be(changed, changes):
    file = read_config(changed("nabu.conf", {"dataset.location": "raw/tooth.nx", **changes}))
    assert file.volume is None
    assert len(file.refusals(())) == 1
    assert file.refusals({"volume"}) == []


@pytest.mark.parametrize(
    ("changes", "note"),
    [
        ({"dataset.binning": "2", "dataset.binning_z": "2"}, "grey values 2 times as large in nabu"),
        ({"resources.workers": "4"}, "resources.workers = 4 is not used: see the options of the runner"),
        ({"pipeline.save_steps": "sinogram"}, "save_steps = sinogram is not used: no steps are kept"),
        ({"preproc.normalize_srcurrent": "0"}, None),
    ],
)
def test_what_has_no_bearing_is_told_of(changed, changes, note):
    file = read_config(changed("nabu.conf", changes))
    assert file.refused == {}
    if note is None:
        assert not any(key in text for key in changes for text in file.notes)
    else:
        assert any(note in text for text in file.notes)


def test_a_value_that_makes_no_sense_and_a_key_that_is_none_are_named(changed):
    with pytest.raises(UsageError, match=r"nabu.conf: phase.unsharp_coeff = much cannot be read"):
        read_config(changed("nabu.conf", {"phase.unsharp_coeff": "much"}))
    file = changed("nabu.conf", {})
    file.write_text(file.read_text().replace("fbp_filter_type", "fbp_filter"))
    with pytest.raises(
        UsageError, match=r"reconstruction.fbp_filter is unknown; did you mean .*fbp_filter_type\?"
    ):
        load_settings(file, {})


def test_older_names_of_keys_are_known(changed):
    file = changed("nabu.conf", {})
    file.write_text(file.read_text().replace("double_flatfield = 0", "double_flatfield_enabled = 1"))
    assert load_settings(file, {}).double_flat == 0.0
