"""A volume as one ordinary HDF5 file in the NXtomoproc form of NeXus.

The `default` attributes lead a viewer from the root to the pixels. Everything but the pixels is written when
the file is made; the workers write those (see :mod:`runner.tomo.volume.slab`).
"""

from __future__ import annotations

import contextlib
import os
import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import h5py
import numpy as np

from runner.errors import WriteError
from runner.tomo.volume.place import partial_path
from runner.tomo.volume.provenance import PROGRAM, Provenance, now
from runner.tomo.volume.slab import WRITTEN, Target, check_own

DATASET = "/entry/data/data"
PROCESS = "/entry/reconstruction"
RUN = "/entry/entry_identifier_uuid"
_STATUS = f"{PROCESS}/status"
_PAGE = 4096


@dataclass(frozen=True, slots=True, kw_only=True)
class Content:
    """What a volume's file says beside the pixels.

    Attributes
    ----------
    title : str
        Of the scan.
    first_row : int
        Detector row of the first slice.
    shape : (int, int, int)
        Axes (slice, y, x).
    units : str
        Of the pixels' values: ``"1/cm"`` or ``"1/pixel"``.
    pixel_size : float or None
        Metres.
    provenance : Provenance
        How it came about.
    """

    title: str
    first_row: int
    shape: tuple[int, int, int]
    units: str
    pixel_size: float | None
    provenance: Provenance


@dataclass(frozen=True, slots=True, kw_only=True)
class ChunkRecord:
    """What is noted about a chunk: which rows, and who made it how fast."""

    first_row: int
    end_row: int
    seconds: float
    worker: str


def create_volume(volume: Path, content: Content, *, overwrite: bool = False) -> Target:
    """Make the file, under its unfinished name, with room for all pixels.

    Always a new file, never an old one emptied: whoever still writes into that does us no harm.

    Parameters
    ----------
    volume : Path
        The name that it will have.
    content : Content
        All but the pixels.
    overwrite : bool
        Remove what another run has left under the unfinished name.

    Raises
    ------
    WriteError
        If it cannot be written, or another run's is there.
    """
    path = partial_path(volume)
    try:
        if overwrite:
            path.unlink(missing_ok=True)
        path.touch(exist_ok=False)
    except FileExistsError as error:
        raise WriteError(
            f"{path} was begun by another run just now", "let one run at a time make a volume"
        ) from error
    except OSError as error:
        raise WriteError(f"{path} cannot be written ({error})", "see to the file system") from error
    try:
        # every slab of whole pages: two machines never write into the same one
        with h5py.File(
            path, "w", locking="best-effort", alignment_threshold=_PAGE, alignment_interval=_PAGE
        ) as file:
            return _write(file, path, content)
    except OSError as error:
        path.unlink(missing_ok=True)
        raise WriteError(f"{path} cannot be written ({error})", "see to the file system") from error


def finish_volume(volume: Path, target: Target, records: Sequence[ChunkRecord]) -> None:
    """Note how the chunks went, and give a complete volume its name.

    Raises
    ------
    WriteError
        If it cannot be done, the file has become another run's, or a slice is not marked as written.
    """
    check_own(target)
    try:
        _note_chunks(target.path, records)
        _sync(target.path)
        target.path.replace(volume)
        _sync(volume.parent)
    except OSError as error:
        raise WriteError(f"{volume} cannot be finished ({error})", "see to the file system") from error


def discard_volume(target: Target) -> None:
    """Remove an unfinished volume, if it is still ours."""
    with contextlib.suppress(WriteError):
        check_own(target)
        target.path.unlink(missing_ok=True)


def locate(file: h5py.File, path: Path) -> Target:
    """Find where the pixels of a volume, and what is noted of them, lie in its file.

    Raises
    ------
    KeyError
        If it is no volume of ours.
    """
    pixels, process, run = file[DATASET], file[PROCESS], file[RUN]
    return Target(
        path=path,
        offset=pixels.id.get_offset(),
        first_row=int(process["first_row"][()]),
        shape=pixels.shape,
        status_offset=process["status"].id.get_offset(),
        checksum_offset=process["crc32"].id.get_offset(),
        run=run[()].decode(),
        run_offset=run.id.get_offset(),
    )


def _write(file: h5py.File, path: Path, content: Content) -> Target:
    file.attrs["NX_class"] = "NXroot"
    file.attrs["default"] = "entry"
    entry = _group(file, "entry", "NXentry")
    entry.attrs["default"] = "data"
    entry["definition"] = "NXtomoproc"
    entry["title"] = content.title
    entry["start_time"] = content.provenance.started
    _group(entry, "sample", "NXsample")["name"] = content.title
    process = _write_process(entry, content.provenance)
    process["first_row"] = content.first_row
    status = process.create_dataset(
        "status", dcpl=_allocated_early(), shape=content.shape[:1], dtype=np.uint8
    )
    status.attrs["description"] = "of each slice: 1 written and read back, 0 missing"
    checksum = process.create_dataset("crc32", dcpl=_allocated_early(), shape=content.shape[:1], dtype="<u4")
    checksum.attrs["description"] = "CRC-32 of the bytes of each slice that is written"
    _write_data(entry, content)
    entry.create_dataset("entry_identifier_uuid", data=np.bytes_(str(uuid.uuid4())))
    file.flush()
    return locate(file, path)


def _write_data(entry: h5py.Group, content: Content) -> None:
    data = _group(entry, "data", "NXdata")
    data.attrs["signal"] = "data"
    data.attrs["axes"] = ["z", "y", "x"]
    pixels = data.create_dataset("data", dcpl=_allocated_early(), shape=content.shape, dtype="<f4")
    pixels.attrs["units"] = content.units
    pixels.attrs["long_name"] = f"attenuation ({content.units})"
    slices, height, width = content.shape
    # z counts from the detector's first row, y and x from the rotation axis
    axes = {
        "z": content.first_row + np.arange(slices, dtype=np.float64),
        "y": np.arange(height) - (height - 1) / 2,
        "x": np.arange(width) - (width - 1) / 2,
    }
    for name, positions in axes.items():
        data[name] = positions * (content.pixel_size or 1)
        data[name].attrs["units"] = "m" if content.pixel_size else "pixel"


def _write_process(entry: h5py.Group, provenance: Provenance) -> h5py.Group:
    process = _group(entry, "reconstruction", "NXprocess")
    versions = dict(provenance.versions)
    process["program"] = PROGRAM
    process["version"] = versions.pop(PROGRAM)
    process["date"] = provenance.started
    process["command_line"] = provenance.command_line
    process["python"] = provenance.python
    libraries = _group(process, "libraries", "NXcollection")
    for name, version in versions.items():
        libraries[name] = version
    parameters = _group(process, "parameters", "NXparameters")
    parameters["raw_file"] = str(provenance.scan)
    parameters["raw_file"].attrs["size"] = provenance.scan_size
    parameters["raw_file"].attrs["last_change"] = provenance.scan_changed
    for parameter in provenance.parameters:
        parameters[parameter.name] = parameter.value
        parameters[parameter.name].attrs["origin"] = parameter.origin
    return process


def _note_chunks(path: Path, records: Sequence[ChunkRecord]) -> None:
    with h5py.File(path, "r+", locking="best-effort") as file:
        missing = np.flatnonzero(file[_STATUS][:] != WRITTEN)
        if len(missing):
            raise WriteError(f"{path} lacks {len(missing)} slices, the first is number {missing[0]}")
        file["entry/end_time"] = now()
        chunks = _group(file["entry/reconstruction"], "chunks", "NXcollection")
        ordered = sorted(records, key=lambda record: record.first_row)
        chunks["rows"] = np.array([(record.first_row, record.end_row) for record in ordered], np.int64)
        chunks["seconds"] = np.array([record.seconds for record in ordered])
        chunks["worker"] = [record.worker for record in ordered]


def _allocated_early() -> h5py.h5p.PropDCID:
    """One plain range of bytes that is there from the start; the file system's zeros until written."""
    properties = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
    properties.set_layout(h5py.h5d.CONTIGUOUS)
    properties.set_alloc_time(h5py.h5d.ALLOC_TIME_EARLY)
    properties.set_fill_time(h5py.h5d.FILL_TIME_NEVER)  # filling would write every byte twice
    return properties


def _group(parent: h5py.Group, name: str, nexus_class: str) -> h5py.Group:
    group = parent.create_group(name)
    group.attrs["NX_class"] = nexus_class
    return group


def _sync(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
