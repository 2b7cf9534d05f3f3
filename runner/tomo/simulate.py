"""A scan of a known object, as a beamline would have written it: noise, drifting beam, faulty pixels."""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import h5py
import numpy as np
from numpy.typing import NDArray

from runner.errors import ScanError, UsageError, WriteError
from runner.tomo.phantom import Detector, Ellipsoid, example, project
from runner.tomo.scan.hdf5 import find, open_file

_FIELD = 1.024  # width of the field of view, cm: with 0.5 to 3 /cm, 30 to 100 % are transmitted
_DARK_COUNTS = 100.0
_PHOTONS = 40_000.0  # per pixel and frame, in the middle of the beam
_BLOCK = 32  # projections made at a time
_COLLECTION = "entry/phantom"


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """What kind of scan to simulate.

    Attributes
    ----------
    columns, rows : int
        The detector's shape, pixels.
    angles : int
        Projections over half a turn.
    center : float, optional
        Column of the rotation axis; a little right of the middle if not given.
    start : float
        First angle, degrees.
    span : float
        Degrees over which the angles are spread evenly, the end not included.
    flats, darks : int
        Frames in each group: darks and flats before the projections, flats after them.
    noise : bool
        Whether there are photon noise, faulty pixels and gain errors; else the scan is exact and float32.
    seed : int
        For the random numbers.
    """

    columns: int = 256
    rows: int = 64
    angles: int = 400
    center: float | None = None
    start: float = 0.0
    span: float = 180.0
    flats: int = 10
    darks: int = 10
    noise: bool = True
    seed: int = 0

    def __post_init__(self) -> None:
        for name in ("columns", "rows", "angles", "flats", "darks"):
            if getattr(self, name) < 1:
                raise UsageError(f"{name} is {getattr(self, name)}", "give a number from 1 up")
        if not 0 <= self.detector.center <= self.columns - 1:
            raise UsageError(
                f"the rotation axis {self.center} is outside the detector", f"0 to {self.columns - 1}"
            )

    @property
    def detector(self) -> Detector:
        """The detector, with the pixel size that keeps the field of view."""
        center = (self.columns - 1) / 2 + 0.03 * self.columns if self.center is None else self.center
        return Detector(rows=self.rows, columns=self.columns, pixel=_FIELD / self.columns, center=center)

    @property
    def rotation_angles(self) -> NDArray[np.float64]:
        """Angle of each projection, (angle,) degrees."""
        return self.start + np.arange(self.angles, dtype=np.float64) * (self.span / self.angles)


@dataclass(frozen=True, slots=True, kw_only=True)
class Truth:
    """What a simulated scan was made from.

    Attributes
    ----------
    ellipsoids : tuple of Ellipsoid
    detector : Detector
        With the true rotation axis.
    """

    ellipsoids: tuple[Ellipsoid, ...]
    detector: Detector


def write_scan(path: Path, settings: Settings, *, overwrite: bool = False) -> Truth:
    """Simulate a scan and write it as NXtomo, with the object it was made from in ``entry/phantom``.

    Raises
    ------
    WriteError
        If the file exists already, or cannot be written.
    """
    if path.exists() and not overwrite:
        raise WriteError(f"{path} exists already", "choose another name or say --overwrite")
    detector = settings.detector
    reach = min(detector.center, settings.columns - 1 - detector.center) * detector.pixel
    truth = Truth(ellipsoids=example(reach, settings.rows * detector.pixel), detector=detector)
    temporary = path.with_name(f".{path.name}.{secrets.token_hex(6)}")
    try:
        with h5py.File(temporary, "w") as file:
            _write_entry(file.create_group("entry"), settings)
            _write_truth(file.create_group(_COLLECTION), truth)
            _write_frames(file["entry/instrument/detector/data"], settings, truth)
        temporary.replace(path)
    except OSError as error:
        raise WriteError(
            f"{path} cannot be written ({error})", "check its folder and the space left"
        ) from error
    finally:
        temporary.unlink(missing_ok=True)
    return truth


def read_truth(path: str | os.PathLike[str]) -> Truth:
    """Read what a simulated scan was made from.

    Raises
    ------
    ScanError
        If the file is not a simulated scan.
    """
    with open_file(Path(path)) as file:
        group = find(file, _COLLECTION)
        if group is None:
            raise ScanError(f"{path} is not a simulated scan", "make one with the job 'simulate'")
        shapes = (group[name][()].tolist() for name in ("center", "half_axes", "attenuation", "turn"))
        ellipsoids = tuple(
            Ellipsoid(center=tuple(center), half_axes=tuple(half_axes), attenuation=attenuation, turn=turn)
            for center, half_axes, attenuation, turn in zip(*shapes, strict=True)
        )
        _, rows, columns = file["entry/instrument/detector/data"].shape
        detector = Detector(
            rows=rows,
            columns=columns,
            pixel=float(group["pixel_size"][()]),
            center=float(group["rotation_axis_position"][()]),
        )
    return Truth(ellipsoids=ellipsoids, detector=detector)


def _write_entry(entry: h5py.Group, settings: Settings) -> None:
    """Write all but the pixels."""
    keys, angles = _sequence(settings)
    _typed(entry, "NXentry")
    entry["definition"] = "NXtomo"
    entry["title"] = "simulated ellipsoids"
    instrument = _typed(entry.create_group("instrument"), "NXinstrument")
    detector = _typed(instrument.create_group("detector"), "NXdetector")
    kind = np.uint16 if settings.noise else np.float32
    detector.create_dataset("data", (len(keys), settings.rows, settings.columns), kind)
    detector["image_key"] = keys
    for name in ("x_pixel_size", "y_pixel_size"):
        _quantity(detector, name, settings.detector.pixel / 100, "m")
    _quantity(detector, "distance", 0.1, "m")
    beam = _typed(instrument.create_group("beam"), "NXbeam")
    _quantity(beam, "incident_energy", 25.0, "keV")
    source = _typed(instrument.create_group("source"), "NXsource")
    source["name"], source["type"], source["probe"] = "simulation", "Synchrotron X-ray Source", "x-ray"
    sample = _typed(entry.create_group("sample"), "NXsample")
    sample["name"] = "ellipsoids"
    _quantity(sample, "rotation_angle", angles, "degree")
    data = _typed(entry.create_group("data"), "NXdata")
    data.attrs["signal"] = "data"
    for name, target in (
        ("data", "instrument/detector/data"),
        ("image_key", "instrument/detector/image_key"),
        ("rotation_angle", "sample/rotation_angle"),
    ):
        data[name] = h5py.SoftLink(f"{entry.name}/{target}")
    entry.attrs["default"] = "data"
    entry.file.attrs["default"] = "entry"


def _write_truth(group: h5py.Group, truth: Truth) -> None:
    _typed(group, "NXcollection")
    shapes = truth.ellipsoids
    _quantity(group, "center", [shape.center for shape in shapes], "cm")
    _quantity(group, "half_axes", [shape.half_axes for shape in shapes], "cm")
    _quantity(group, "turn", [shape.turn for shape in shapes], "degree")
    _quantity(group, "attenuation", [shape.attenuation for shape in shapes], "1/cm")
    _quantity(group, "pixel_size", truth.detector.pixel, "cm")
    _quantity(group, "rotation_axis_position", truth.detector.center, "pixel")


def _write_frames(data: h5py.Dataset, settings: Settings, truth: Truth) -> None:
    """Write darks, flats, projections and flats, in the order of :func:`_sequence`."""
    random = np.random.default_rng(settings.seed)
    camera = _Camera(settings, random)
    first = 0
    for frames in _exposures(settings, truth, camera):
        data[first : first + len(frames)] = frames
        first += len(frames)


def _exposures(settings: Settings, truth: Truth, camera: _Camera) -> Iterator[NDArray[np.number]]:
    shape = (settings.rows, settings.columns)
    yield camera.expose(np.zeros((settings.darks, *shape)))
    yield camera.expose(np.tile(camera.beam(0), (settings.flats, 1, 1)))
    angles = settings.rotation_angles
    for start in range(0, len(angles), _BLOCK):
        numbers = np.arange(start, min(start + _BLOCK, len(angles)))
        transmission = np.exp(-project(truth.ellipsoids, angles[numbers], truth.detector))
        beams = np.stack([camera.beam((number + 0.5) / len(angles)) for number in numbers])
        yield camera.expose(beams * transmission * camera.gain)
    yield camera.expose(np.tile(camera.beam(1), (settings.flats, 1, 1)))


class _Camera:
    """Turns photons into counts, with the faults of one detector."""

    def __init__(self, settings: Settings, random: np.random.Generator) -> None:
        self._random = random
        self._noise = settings.noise
        rows, columns = settings.rows, settings.columns
        y, x = np.linspace(-1, 1, rows)[:, np.newaxis], np.linspace(-1, 1, columns)
        stripes = 1 + 0.03 * np.sin(9 * y + 2 * np.sin(3 * x))  # of a multilayer monochromator
        self._at_start: NDArray[np.float64] = _PHOTONS * np.exp(-0.3 * y**2 - 0.2 * x**2) * stripes
        self._at_end: NDArray[np.float64] = (
            0.95 * _PHOTONS * np.exp(-0.3 * (y - 0.05) ** 2 - 0.2 * x**2) * stripes
        )
        # a response that depends on the intensity is not mended by the flats, and makes rings
        self.gain = np.ones((rows, columns))
        self._dead: tuple[NDArray[np.int64], NDArray[np.int64]] | None = None
        if self._noise:
            faulty = random.choice(columns, size=max(columns // 64, 1), replace=False)
            self.gain[:, faulty] += random.uniform(-0.01, 0.01, len(faulty))
            number = max(rows * columns // 4096, 1)
            self._dead = random.integers(rows, size=number), random.integers(columns, size=number)

    def beam(self, time: float) -> NDArray[np.float64]:
        """Make the photons without sample, (row, column), from 0 at the start of the scan to 1 at its end."""
        return (1 - time) * self._at_start + time * self._at_end

    def expose(self, photons: NDArray[np.float64]) -> NDArray[np.number]:
        """Turn the photons of some frames into counts, (frame, row, column)."""
        if not self._noise:
            return (photons + _DARK_COUNTS).astype(np.float32)
        counts = self._random.poisson(photons) + self._random.normal(_DARK_COUNTS, 3.0, photons.shape)
        if self._dead is not None:
            counts[:, self._dead[0], self._dead[1]] = 0
        return np.clip(np.rint(counts), 0, 65535).astype(np.uint16)


def _sequence(settings: Settings) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Image key and rotation angle of each frame: darks, flats, projections, flats."""
    angles = settings.rotation_angles
    counts = (settings.darks, settings.flats, settings.angles, settings.flats)
    keys = np.repeat([2, 1, 0, 1], counts)
    still = np.full(settings.darks + settings.flats, angles[0])
    return keys, np.concatenate([still, angles, np.full(settings.flats, angles[-1])])


def _typed(group: h5py.Group, nexus_class: str) -> h5py.Group:
    group.attrs["NX_class"] = nexus_class
    return group


def _quantity(group: h5py.Group, name: str, value: object, units: str) -> None:
    group[name] = value
    group[name].attrs["units"] = units
