"""The keys of nabu.conf, as nabu 2026 means them.

Where the file does not say something, nabu's default is what is meant. Most of nabu's conventions are ours:
medians of flats, means of darks, the limits of the transmission, columns counted from 0 at pixel centres,
slices about the rotation axis, 1/cm.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from runner.tomo.settings.others.rules import (
    NOTE,
    NotDoneHereError,
    Rule,
    needless,
    only,
    options_in,
    same,
    truth,
)

_WINDOWS = {
    "ramlak": "ram-lak",
    "ram-lak": "ram-lak",
    "shepp-logan": "shepp-logan",
    "cosine": "cosine",
    "hamming": "hamming",
    "hann": "hann",
}
_PADDINGS = {"edges": "edge", "edge": "edge", "zeros": "zero", "zero": "zero", "constant": "zero"}
_MIRRORED = ("edge", "edges", "mirror", "reflect", "symmetric")
_UNITS = {
    "energy": {"kev": 1.0, "ev": 1e-3, "mev": 1e3},
    "pixel_size": {
        "m": 1.0,
        "cm": 1e-2,
        "mm": 1e-3,
        "um": 1e-6,
        "micrometer": 1e-6,
        "micron": 1e-6,
        "nm": 1e-9,
    },
}
_UNITS["distance"] = _UNITS["pixel_size"]
_ENDINGS = {"hdf5": ".hdf5", "h5": ".hdf5", "nexus": ".hdf5", "nx": ".hdf5", "ome-zarr": ".zarr"}
_RESOURCES = "see the options of the runner, and of the batch system"
_CONE = "the geometry is parallel"


def _scan(location: str) -> Mapping[str, Any]:
    return {"scan": location} if location else {}


def _entry(text: str) -> Mapping[str, Any]:
    if set(text) & set(",*?"):
        raise NotDoneHereError("names several entries: give one with --entry", "entry")
    return {"entry": text} if text else {}


def _subset(text: str) -> Mapping[str, Any]:
    step, _, first = text.partition(":")
    numbers = int(first or 0), int(step)
    return {} if numbers == (0, 1) else {"subset": f"{numbers[0]}::{numbers[1]}"}


def _bin(along_row: str, along_column: str) -> Mapping[str, Any]:
    if int(along_row) != int(along_column):
        raise NotDoneHereError("is not the same along both sides: give --bin", "bin")
    factor = int(along_row)
    note = {NOTE: f"gives grey values {factor} times as large in nabu"} if factor > 1 else {}
    return {"bin": factor, **note}


def _metadata(text: str) -> Mapping[str, Any]:
    """Read quantities like ``energy = 19 kev ; pixel_size = 1.6 um``."""
    found = {}
    for name, quantity in options_in(text).items():
        match = re.fullmatch(r"(\S+)\s*([a-zA-Z]+)", quantity)
        if name not in _UNITS or match is None or match[2].lower() not in _UNITS[name]:
            raise NotDoneHereError(
                f"has {name} = {quantity}: energy, distance and pixel_size can be given, with units"
            )
        found[name] = float(match[1]) * _UNITS[name][match[2].lower()]
    return found


def _flats(mode: str) -> Mapping[str, Any]:
    if mode.lower() not in ("1", "true", "0", "false"):
        raise NotDoneHereError("is not done here")
    without = not truth(mode)
    return {"no_flats": without, "no_darks": without}


def _double_flat(mode: str, sigma: str) -> Mapping[str, Any]:
    if mode.lower() not in ("1", "true", "0", "false"):
        raise NotDoneHereError("is a file: give --double-flat", "double_flat")
    if not truth(mode):
        return {}
    if sigma and float(sigma) == 0:  # the mean of the logarithms, which is not that of the transmissions
        raise NotDoneHereError("has a dff_sigma of 0: leave that out, or give --double-flat", "double_flat")
    return {"double_flat": float(sigma or 0)}


def _spots(enabled: str, threshold: str) -> Mapping[str, Any]:
    if truth(enabled):
        raise NotDoneHereError(
            f"compares by a difference of transmissions ({threshold}), --zingers by a share: give it",
            "zingers",
        )
    return {}


def _rings(method: str, options: str) -> Mapping[str, Any]:
    if method.lower() in ("", "none"):
        return {}
    if method.lower() != "vo":
        raise NotDoneHereError("is none of our methods: give --rings", "rings")
    given = {"snr": "3.0", "la_size": "51", "sm_size": "21"} | options_in(options)
    near = "all:snr={snr},large={la_size},small={sm_size}".format(**given)
    raise NotDoneHereError(f"works on line integrals, ours on transmissions: give --rings {near}", "rings")


def _phase(method: str, delta_beta: str, padding: str) -> Mapping[str, Any]:
    if method.lower() in ("", "none"):
        return {}
    if method.lower() not in ("paganin", "tie"):
        raise NotDoneHereError("is not done here, only Paganin's method")
    if padding.lower() not in _MIRRORED:
        raise NotDoneHereError("has another padding than by mirroring: give --delta-beta", "delta_beta")
    if delta_beta.lower() == "auto":
        raise NotDoneHereError("is not computed from a material: give --delta-beta", "delta_beta")
    return {"delta_beta": float(delta_beta)}


def _unsharp(coeff: str, sigma: str, method: str) -> Mapping[str, Any]:
    if float(coeff) == 0 or float(sigma) == 0 or method.lower() in ("", "none"):
        return {}
    near = f" gaussian:sigma={float(sigma):g},coeff={float(coeff):g}" if method.lower() == "gaussian" else ""
    raise NotDoneHereError(
        f"sharpens transmissions, we sharpen line integrals: give --unsharp{near}", "unsharp"
    )


def _method(text: str) -> Mapping[str, Any]:
    if text.lower() not in ("fbp", "hbp", "ghbp"):
        raise NotDoneHereError("is not done here, only FBP")
    return {}


def _axis(text: str) -> Mapping[str, Any]:
    if not text:
        raise NotDoneHereError("is the middle of the detector: give it with --center", "center")
    try:
        return {"center": float(text)}
    except ValueError:
        return {"center": "auto", NOTE: "is a method of nabu: the axis is found by ours"}


def _window(kind: str, cutoff: str) -> Mapping[str, Any]:
    window = _WINDOWS.get(kind.lower())
    if window is None:
        raise NotDoneHereError("is not one of our windows: give --window", "window")
    if window != "ram-lak" and float(cutoff) != 1:  # without a window nabu has no cutoff
        raise NotDoneHereError(
            "goes on beyond the cutoff, ours end there: give --window and --cutoff", "window", "cutoff"
        )
    return {"window": window}


def _padding(text: str) -> Mapping[str, Any]:
    if text.lower() not in _PADDINGS:
        raise NotDoneHereError("is not one of our paddings: give --padding", "padding")
    return {"padding": _PADDINGS[text.lower()]}


def _half(text: str) -> Mapping[str, Any]:
    field = "auto" if text.lower() == "auto" else "half" if truth(text) else "full"
    return {"field_of_view": field}


def _mask(clip: str, value: str) -> Mapping[str, Any]:
    return {"mask": True, "mask_value": float(value)} if truth(clip) else {}


def _rows(start: str, end: str) -> Mapping[str, Any]:
    """Read the first and the last row, which nabu includes."""
    numbers = {"first": 0, "last": -1}
    try:
        first, last = (numbers[text] if text in numbers else int(text) for text in (start, end))
    except ValueError:
        first = last = -2
    if first < 0 or last < -1:
        raise NotDoneHereError(
            "counts from the middle or the end: give --rows FIRST:END, END not included", "rows"
        )
    return {} if (first, last) == (0, -1) else {"rows": (first or None, None if last == -1 else last + 1)}


def _volume(location: str, prefix: str, form: str, single: str, scan: str) -> Mapping[str, Any]:
    """Name the volume as nabu does."""
    form = form.lower()
    if form in ("tif", "tiff"):
        ending = ".tiff" if truth(single) else ""
    elif form in _ENDINGS:
        ending = _ENDINGS[form]
    else:
        raise NotDoneHereError("is none of our forms: name VOLUME", "volume")
    if "{" in prefix:
        raise NotDoneHereError("has a place to be filled in: name VOLUME", "volume")
    if not scan:
        return {}
    name = prefix or Path(scan).name.partition(".")[0] + "_rec"
    return {"volume": str(Path(location or Path(scan).parent) / (name + ending))}


RULES: tuple[Rule, ...] = (
    Rule(keys={"dataset.location": ""}, read=_scan, becomes=("scan",)),
    Rule(keys={"dataset.hdf5_entry": ""}, read=_entry, becomes=("entry",)),
    needless("dataset.nexus_version", "", why="the file tells"),
    only("dataset.darks_flats_dir", "", why="holds flats and darks of their own: give --flats and --darks"),
    Rule(keys={"dataset.binning": "1", "dataset.binning_z": "1"}, read=_bin, becomes=("bin",)),
    Rule(keys={"dataset.projections_subsampling": "1"}, read=_subset, becomes=("subset",)),
    only("dataset.exclude_projections", "", why="is not done here: --subset leaves out regularly"),
    Rule(
        keys={"dataset.overwrite_metadata": ""}, read=_metadata, becomes=("energy", "distance", "pixel_size")
    ),
    only("dataset.flip_lr", "auto", why="is not done here"),
    only("dataset.flip_ud", "auto", why="is not done here"),
    Rule(keys={"preproc.flatfield": "1"}, read=_flats, becomes=("no_flats", "no_darks")),
    only("preproc.flatfield_loading_mode", "load_if_present", "", "force-compute", why="needs reduced flats"),
    only("preproc.flat_distortion_correction_enabled", "0", "false", "no", why="is not done here"),
    needless(
        "preproc.flat_distortion_params",
        "tile_size=100; interpolation_kind='linear'; padding_mode='edge'; correction_spike_threshold=None",
        why="flats are not distorted here",
    ),
    needless("preproc.normalize_srcurrent", "0", default="1", why="say --ring-current to follow it"),
    Rule(
        keys={"preproc.ccd_filter_enabled": "0", "preproc.ccd_filter_threshold": "0.04"},
        read=_spots,
        becomes=("zingers",),
    ),
    only("preproc.detector_distortion_correction", "", "none", why="is not done here"),
    needless("preproc.detector_distortion_correction_options", "", why="there is no such correction here"),
    Rule(
        keys={"preproc.double_flatfield": "0", "preproc.dff_sigma": ""},
        read=_double_flat,
        becomes=("double_flat",),
    ),
    only("preproc.take_logarithm", "1", "true", "yes", why="is not done here: the logarithm is always taken"),
    only("preproc.log_min_clip", "1e-6", "0.000001", "1e-06", why="is 1e-6 here"),
    only("preproc.log_max_clip", "10.0", "10", "10.", why="is 10 here"),
    only("preproc.target_dark_mean", "", why="is not done here"),
    only("preproc.sino_normalization", "", "none", why="is not done here"),
    needless("preproc.sino_normalization_file", "", why="sinograms are not normalised here"),
    needless("preproc.processes_file", "", why="nothing is kept for later here"),
    Rule(
        keys={"preproc.sino_rings_correction": "", "preproc.sino_rings_options": ""},
        read=_rings,
        becomes=("rings",),
    ),
    only("preproc.rotate_projections_center", "", why="is not done here"),
    only("preproc.tilt_correction", "", why="is not done here: a tilted axis that is found is followed"),
    needless("preproc.autotilt_options", "", why="a tilted axis is found by our methods"),
    Rule(
        keys={"phase.method": "none", "phase.delta_beta": "100.0", "phase.padding_type": "edge"},
        read=_phase,
        becomes=("delta_beta",),
    ),
    needless("phase.material_formula", "", why="delta / beta is not computed here"),
    needless("phase.material_density", "", why="delta / beta is not computed here"),
    Rule(
        keys={"phase.unsharp_coeff": "0", "phase.unsharp_sigma": "0", "phase.unsharp_method": "gaussian"},
        read=_unsharp,
        becomes=("unsharp",),
    ),
    needless(
        "phase.ctf_geometry",
        "z1_v=None; z1_h=None; detec_pixel_size=None; magnification=True",
        why="there is no CTF here",
    ),
    needless(
        "phase.ctf_advanced_params",
        "length_scale=1e-5; lim1=1e-5; lim2=0.2; normalize_by_mean=True",
        why="there is no CTF here",
    ),
    Rule(keys={"reconstruction.method": "FBP"}, read=_method),
    needless("reconstruction.implementation", "", why="there is one here"),
    same("reconstruction.angles_file", "", "angles"),
    Rule(keys={"reconstruction.rotation_axis_position": "sliding-window"}, read=_axis, becomes=("center",)),
    needless("reconstruction.cor_options", "side='from_file'", "", why="the axis is found by our methods"),
    needless("reconstruction.cor_slice", "", why="the axis is found in several bands of rows"),
    only("reconstruction.axis_correction_file", "", why="is not done here"),
    only("reconstruction.translation_movements_file", "", why="is not done here"),
    only("reconstruction.angle_offset", "0", "0.", "0.0", why="is not done here"),
    Rule(
        keys={"reconstruction.fbp_filter_type": "ramlak", "reconstruction.fbp_filter_cutoff": "1."},
        read=_window,
        becomes=("window",),
    ),
    needless("reconstruction.source_sample_dist", "", why=_CONE),
    needless("reconstruction.sample_detector_dist", "", why=_CONE),
    Rule(keys={"reconstruction.padding_type": "edges"}, read=_padding, becomes=("padding",)),
    Rule(keys={"reconstruction.enable_halftomo": "auto"}, read=_half, becomes=("field_of_view",)),
    Rule(
        keys={"reconstruction.clip_outer_circle": "0", "reconstruction.outer_circle_value": "0"},
        read=_mask,
        becomes=("mask", "mask_value"),
    ),
    only(
        "reconstruction.centered_axis", "1", "true", "yes", why="is not done here: the axis is in the middle"
    ),
    needless("reconstruction.hbp_reduction_steps", "2", why="slices are made by another method"),
    needless("reconstruction.hbp_legs", "4", why="slices are made by another method"),
    only("reconstruction.crop_filtered_data", "1", "true", "yes", why="is not done here"),
    *(
        only(
            f"reconstruction.{name}",
            default,
            why="is about the axis there: give --x and --y",
            lifted_by=("x", "y"),
        )
        for name, default in (("start_x", "0"), ("end_x", "-1"), ("start_y", "0"), ("end_y", "-1"))
    ),
    Rule(keys={"reconstruction.start_z": "0", "reconstruction.end_z": "-1"}, read=_rows, becomes=("rows",)),
    *(
        needless(f"reconstruction.{name}", default, why="is of iterative methods")
        for name, default in (
            ("iterations", "200"),
            ("regularization_weight", "0"),
            ("expand_support_factor", "1"),
            ("optim_algorithm", "chambolle-pock"),
            ("preconditioning_filter", "1"),
            ("positivity_constraint", "1"),
        )
    ),
    Rule(
        keys={
            "output.location": "",
            "output.file_prefix": "",
            "output.file_format": "hdf5",
            "output.tiff_single_file": "0",
            "dataset.location": "",
        },
        read=_volume,
        becomes=("volume",),
    ),
    needless("output.overwrite_results", "1", "0", why="say --overwrite"),
    needless("output.keep_existing_files", "0", why="nothing else is removed"),
    needless("output.jpeg2000_compression_ratio", "", why="there is no JPEG 2000 here"),
    only("output.zarr_options", "", why="is not done here: give --dtype"),
    only("output.float_clip_values", "", why="is not done here: give --dtype and --greys"),
    needless("postproc.output_histogram", "1", "0", why="no histogram is written"),
    needless("postproc.histogram_bins", "1000000", why="no histogram is written"),
    only("resources.method", "local", "slurm", "", why="bins the data, which is not done here"),
    *(
        needless(f"resources.{name}", default, why=_RESOURCES)
        for name, default in (
            ("workers", "1"),
            ("gpus", "1"),
            ("gpu_id", ""),
            ("memory_fraction", "90%"),
            ("num_threads", "100%"),
        )
    ),
    needless("pipeline.save_steps", "", why="no steps are kept here"),
    only("pipeline.resume_from_step", "", why="is not done here: the same command goes on by itself"),
    needless("pipeline.ignore_checkpoint_config", "0", why="there are no steps here"),
    needless("pipeline.steps_file", "", why="no steps are kept here"),
    needless("pipeline.processing_margin", "", why="margins are as wide as they have to be"),
    needless("pipeline.verbosity", "2", why="see --verbose and --logs of the runner"),
    needless("about.nabu_version", "", why="it is read as nabu 2026 means it"),
    needless("about.nabu_config_version", "", why="it is read as nabu 2026 means it"),
)

RENAMED = {
    "preproc.flatfield_enabled": "preproc.flatfield",
    "preproc.double_flatfield_enabled": "preproc.double_flatfield",
    "about.overwrite_results": "output.overwrite_results",
    "about.verbosity": "pipeline.verbosity",
}
"""Older names of keys."""
