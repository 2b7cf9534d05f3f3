"""The keys of tomocupy's and tomopy-cli's files, as those programs mean them.

Both name the same things in the same way: energies in keV, distances in millimetres, pixel sizes in
micrometres. Their flats are averaged, their volumes are in 1/pixel.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from runner.tomo.settings.others.rules import NOTE, NotDoneHereError, Rule, needless, only, same, truth

_WINDOWS = {
    "ramp": "ram-lak",
    "ramlak": "ram-lak",
    "shepp": "shepp-logan",
    "cosine": "cosine",
    "hann": "hann",
    "hamming": "hamming",
    "parzen": "parzen",
}
_FILTERS = {"gridrec": "gridrec-filter", "lprec_fbp": "lprec-fbp-filter"}
_FILTERS |= dict.fromkeys(("fourierrec", "lprec", "linerec"), "fbp-filter")
"""The method of reconstruction, and the key of its window."""

#: By why they have no bearing: keys, each with its usual values.
_NEEDLESS: Mapping[str, Mapping[str, tuple[str, ...]]] = {
    "VOLUME says where it is written, and in which form": {
        "out-path-name": ("", "None"),
        "save-format": ("tiff",),
        "output-format": ("tiff_stack",),
        "output-folder": ("", "{file_name_parent}_rec"),
        "clear-folder": ("False",),
        "dx-update": ("False",),
    },
    "the axis is found by our methods": {
        "center-search-width": ("50.0", "10.0"),
        "center-search-step": ("0.5",),
        "rotation-axis-method": ("sift", "vo"),
        "rotation-axis-pairs": ("[0,0]",),
        "rotation-axis-sift-threshold": ("0.5",),
        "rotation-axis-flip": ("-1.0",),
        "rotation-axis-file": ("", "rotation_axis.json"),
        "find-center-start-row": ("0",),
        "find-center-end-row": ("-1",),
    },
    "all rows are made; for some give --rows": {"nsino": ("0.5",)},
    "slices about several axes are made by the job center, --center A:B:STEP": {
        "reconstruction-type": ("full",)
    },
    "chunks and threads follow memory and cores": {
        "nsino-per-chunk": ("8", "256"),
        "nproj-per-chunk": ("8",),
        "max-write-threads": ("4", "8"),
        "max-read-threads": ("1", "4"),
    },
    "margins are as wide as they have to be": {"retrieve-phase-pad": ("1", "8")},
    "flats at both ends are always followed in time": {"flat-linear": ("False",)},
    "transmissions above 1 are kept": {"normalization-cutoff": ("",)},
    "pixels without a signal are interpolated": {
        "fix-nan-and-inf": ("False",),
        "fix-nan-and-inf-value": ("6.0",),
    },
    "the scan tells, or --pixel-size": {"pixel-size-auto": ("False",)},
    "see the options of the runner": {
        "verbose": ("False",),
        "config-update": ("False",),
        "extra-parameters-file": ("", "extra_params.yaml"),
    },
}

#: Details of what is refused where it is chosen, and of what is not there; nothing is said of them.
DETAILS = (
    "logs-home",
    *("dezinger-threshold", "zinger-level-projections", "zinger-level-white", "zinger-size"),
    *("fw-filter", "fw-pad", "fw-level", "fw-sigma", "rotate-proj-order", "pad-endpoint"),
    *("retrieve-phase-alpha-try", "retrieve-phase-delta-beta", "retrieve-phase-w"),
    *("lamino-search-width", "lamino-search-step", "lamino-start-row", "lamino-end-row"),
    *("blocked-views-start", "blocked-views-end", "scintillator-auto", "scintillator-material"),
    *("scintillator-thickness", "source-distance", "center-row", "sample-material"),
    *(f"filter-{number}-{what}" for number in (1, 2, 3) for what in ("auto", "material", "thickness")),
)
UNUSED_SECTIONS = ("ti", "sf", "astrasirt", "astrasart", "astracgls", "convert")
"""Sections that hold such details alone."""


def _scan(name: str) -> Mapping[str, Any]:
    return {"scan": name} if name not in ("", ".") else {}


def _frames(name: str, file: str) -> Mapping[str, Any]:
    return {name: file} if file not in ("", "None") else {}


def _field(kind: str) -> Mapping[str, Any]:
    fields = {"standard": "full", "double_fov": "half"}
    if kind not in fields:
        raise NotDoneHereError("is not done here")
    return {"field_of_view": fields[kind]}


def _center(position: str, how: str) -> Mapping[str, Any]:
    if how in ("auto", "read_auto"):
        return {"center": "auto", NOTE: "is found by our methods"}
    if how != "manual":
        raise NotDoneHereError("is read from elsewhere: give --center", "center")
    if float(position) < 0:
        raise NotDoneHereError("is the middle of the detector: give it with --center", "center")
    return {"center": float(position)}


def _rows(start: str, end: str) -> Mapping[str, Any]:
    """Read the first row and the one after the last; none after the last one of all."""
    first, last = int(start), int(end)
    return {} if (first, last) == (0, -1) else {"rows": (first or None, None if last < 0 else last)}


def _subset(start: str, end: str) -> Mapping[str, Any]:
    first, last = int(start), int(end)
    return {} if (first, last) == (0, -1) else {"subset": f"{first}:{'' if last < 0 else last}"}


def _rings(method: str, snr: str, large: str, small: str, dim: str) -> Mapping[str, Any]:
    """Read the removal of rings; Vo's methods work on transmissions there too."""
    if method == "none":
        return {}
    if method != "vo-all" or int(dim) != 1:
        raise NotDoneHereError("is none of our methods: give --rings", "rings")
    return {"rings": f"all:snr={snr},large={large},small={small}"}


def _phase(method: str, energy: str, distance: str, pixel_size: str, alpha: str) -> Mapping[str, Any]:
    """Read phase retrieval; 0 is what the scan tells.

    The filter is ``1 / (wavelength distance frequency^2 / (4 pi) + alpha)`` there, with the frequency in
    cycles, divided by its largest value. It is Paganin's with delta / beta = 1 / (4 pi^2 alpha).
    """
    if method == "none":
        return {}
    if method != "paganin":
        raise NotDoneHereError("is not done here, only Paganin's method: give --delta-beta", "delta_beta")
    if float(alpha) <= 0:
        raise NotDoneHereError("is no filter: give --delta-beta", "delta_beta")
    factors = {"energy": (energy, 1.0), "distance": (distance, 1e3), "pixel_size": (pixel_size, 1e6)}
    physics = {name: float(text) / factor for name, (text, factor) in factors.items() if float(text)}
    return {"delta_beta": 1 / (4 * math.pi**2 * float(alpha)), **physics}


def _reconstruction(
    algorithm: str, gridrec_padded: str, lprec_padded: str, *windows: str
) -> Mapping[str, Any]:
    """Read what the slices are made by; each method has a key of its own for the window."""
    if algorithm not in _FILTERS:
        raise NotDoneHereError("is not done here in the same way: give --method", "method")
    window = dict(zip(("gridrec-filter", "lprec-fbp-filter", "fbp-filter"), windows, strict=True))[
        _FILTERS[algorithm]
    ]
    if window not in _WINDOWS:
        raise NotDoneHereError("has none of our windows: give --window", "window")
    padded = {"gridrec": gridrec_padded, "lprec_fbp": lprec_padded}.get(algorithm, "True")
    padding = "edge" if truth(padded) else "zero"
    return {"units": "1/pixel", "window": _WINDOWS[window], "padding": padding}


def _mask(applied: str, ratio: str) -> Mapping[str, Any]:
    if truth(applied) and float(ratio) != 1:
        raise NotDoneHereError("is another circle than ours: give --mask or --no-mask", "mask")
    return {"mask": truth(applied)}


def _flats(method: str, air: str) -> Mapping[str, Any]:
    if method == "standard":
        return {"flats_by": "mean"}
    without = {"no_flats": True, "no_darks": True}
    if method not in ("air", "none"):
        raise NotDoneHereError("is not done here")
    return without | ({"air": int(air)} if method == "air" else {})


def _spots(region: str, method: str) -> Mapping[str, Any]:
    if int(region) or method != "none":
        raise NotDoneHereError("compares by a difference of counts, --zingers by a share: give it", "zingers")
    return {}


RULES: tuple[Rule, ...] = (
    Rule(keys={"file-name": "."}, read=_scan, becomes=("scan",)),
    Rule(keys={"flat-file-name": ""}, read=lambda file: _frames("flats", file), becomes=("flats",)),
    Rule(keys={"dark-file-name": ""}, read=lambda file: _frames("darks", file), becomes=("darks",)),
    Rule(keys={"file-type": "standard"}, read=_field, becomes=("field_of_view",)),
    only("file-format", "dx", why="is not done here: see --projections"),
    only("binning", "0", why="is a power of 2: give --bin", lifted_by=("bin",)),
    Rule(keys={"start-row": "0", "end-row": "-1"}, read=_rows, becomes=("rows",)),
    Rule(keys={"start-proj": "0", "end-proj": "-1"}, read=_subset, becomes=("subset",)),
    only("start-column", "0", why="is not done here"),
    only("end-column", "-1", why="is not done here"),
    only("blocked-views", "none", "false", why="is not done here"),
    only("reverse", "False", why="is not done here: give --angles"),
    Rule(keys={"dark-zero": "False"}, read=lambda text: {"no_darks": truth(text)}, becomes=("no_darks",)),
    only("pre-processing", "True", why="is not done here"),
    Rule(keys={"rotation-axis": "-1.0", "rotation-axis-auto": "manual"}, read=_center, becomes=("center",)),
    Rule(keys={"dezinger": "0", "zinger-removal-method": "none"}, read=_spots, becomes=("zingers",)),
    Rule(
        keys={"flat-correction-method": "standard", "air": "10"},
        read=_flats,
        becomes=("flats_by", "no_flats", "no_darks", "air"),
    ),
    only("bright-ratio", "1", "1.0", why="is not done here"),
    only("minus-log", "True", why="is not done here: the logarithm is always taken"),
    Rule(
        keys={
            "remove-stripe-method": "none",
            "vo-all-snr": "3",
            "vo-all-la-size": "61",
            "vo-all-sm-size": "21",
            "vo-all-dim": "1",
        },
        read=_rings,
        becomes=("rings",),
    ),
    Rule(
        keys={
            "retrieve-phase-method": "none",
            "energy": "0",
            "propagation-distance": "0",
            "pixel-size": "0",
            "retrieve-phase-alpha": "0",
        },
        read=_phase,
        becomes=("delta_beta", "energy", "distance", "pixel_size"),
    ),
    only("rotate-proj-angle", "0", "0.0", why="is not done here"),
    only("lamino-angle", "0", "0.0", why="is not done here"),
    only("beam-hardening-method", "none", why="is not done here"),
    Rule(
        keys={
            "reconstruction-algorithm": "fourierrec",
            "gridrec-padding": "False",
            "lprec-fbp-padding": "False",
            "gridrec-filter": "parzen",
            "lprec-fbp-filter": "parzen",
            "fbp-filter": "parzen",
        },
        read=_reconstruction,
        becomes=("units", "window", "padding"),
    ),
    Rule(
        keys={"reconstruction-mask": "False", "reconstruction-mask-ratio": "1.0"},
        read=_mask,
        becomes=("mask",),
    ),
    same("dtype", "float32", "dtype"),
    *(needless(key, *usual, why=why) for why, keys in _NEEDLESS.items() for key, usual in keys.items()),
    *(Rule(keys={key: ""}, read=lambda _: {}, needless=True) for key in DETAILS),
)
