"""A volume as one ordinary HDF5 file in the NXtomoproc form of NeXus.

The `default` attributes lead a viewer from the root to the pixels. Everything but the pixels is written when
the file is made; the workers write those (see :mod:`runner.tomo.volume.slab`).
"""

from __future__ import annotations

import os
import tempfile
import uuid
from collections.abc import Sequence
from pathlib import Path

import h5py
import numpy as np

from runner.errors import WriteError
from runner.tomo.scan.defects import KINDS, Defects, pack
from runner.tomo.volume import bigtiff
from runner.tomo.volume.content import ChunkRecord, Content
from runner.tomo.volume.disk import write_all
from runner.tomo.volume.greys import Greys
from runner.tomo.volume.hdf5_parts import virtual_layout
from runner.tomo.volume.layout import contiguous
from runner.tomo.volume.provenance import PROGRAM, Parameter, Provenance, now
from runner.tomo.volume.slab import WRITTEN, Files, Target

DATASET = "/entry/data/data"
PROCESS = "/entry/reconstruction"
RUN = "/entry/entry_identifier_uuid"
_STATUS = f"{PROCESS}/status"
_PAGE = 4096
_ROOM = 1 << 18  # for all that is said of a volume beside its slices and its chunks, bytes


def create_file(
    path: Path, content: Content, *, files: Files | None = None, offset: int = 0, tiff: bool = False
) -> Target:
    """Make a file that describes a volume, with room for all pixels.

    Parameters
    ----------
    path : Path
        Its name.
    content : Content
        All but the pixels.
    files, offset : Files or None, int
        Where the pixels are, if not in this file, and from which byte on in each of those.
    tiff : bool
        Make the file a BigTIFF too, see :mod:`runner.tomo.volume.bigtiff`.

    Raises
    ------
    WriteError
        If it cannot be written, or another run's is there.
    """
    try:
        path.touch(exist_ok=False)
    except FileExistsError as error:
        raise WriteError(
            f"{path} was begun by another run just now", "let one run at a time make a volume"
        ) from error
    except OSError as error:
        raise WriteError(f"{path} cannot be written ({error})", "see to the file system") from error
    try:
        _see_to_room(path.parent, 1024 * content.shape[0])
        # every slab of whole pages: two machines never write into the same one
        with h5py.File(
            path,
            "w",
            locking="best-effort",
            alignment_threshold=_PAGE,
            alignment_interval=_PAGE,
            userblock_size=_PAGE if tiff else 0,
        ) as file:
            target = _write(file, path, content, files, offset)
            if tiff:
                first = _write_directories(file, content, target.offset)
        if tiff:
            with path.open("r+b") as start:
                start.write(bigtiff.header(first))
    except OSError as error:
        path.unlink(missing_ok=True)
        raise WriteError(f"{path} cannot be written ({error})", "see to the file system") from error
    return target


def note_end(path: Path, records: Sequence[ChunkRecord]) -> tuple[int, int, int]:
    """Note how the chunks went, and count the pixels that the volume's type could not hold.

    Returns
    -------
    below, above, not a number : int
        Pixels of the whole volume.

    Raises
    ------
    WriteError
        If a slice is not marked as written.
    OSError
        If it cannot be written.
    """
    _see_to_room(path.parent, 1024 * len(records))
    with h5py.File(path, "r+", locking="best-effort") as file:
        missing = np.flatnonzero(file[_STATUS][:] != WRITTEN)
        if len(missing):
            raise WriteError(f"{path} lacks {len(missing)} slices, the first is number {missing[0]}")
        file["entry/end_time"] = now()
        process = file[PROCESS]
        chunks = _group(process, "chunks", "NXcollection")
        ordered = sorted(records, key=lambda record: record.first_row)
        chunks["rows"] = np.array([(record.first_row, record.end_row) for record in ordered], np.int64)
        chunks["worker"] = [record.worker for record in ordered]
        chunks["tries"] = np.array([record.tries for record in ordered], np.int64)
        chunks["begun"] = np.array([record.begun for record in ordered])
        chunks["begun"].attrs["units"] = "seconds since 1970-01-01T00:00:00Z"
        chunks["seconds"] = np.array([sum(record.seconds.values()) for record in ordered])
        for stage in dict.fromkeys(stage for record in ordered for stage in record.seconds):
            chunks[f"seconds_{stage}"] = np.array([record.seconds.get(stage, 0.0) for record in ordered])
        if any(record.misfits for record in ordered):
            chunks["misfit"] = np.array([record.misfits for record in ordered])
            chunks["misfit"].attrs["description"] = (
                "what the slices did not explain after each iteration, as a share of what was measured"
            )
        below, above, lost = process["clipped"][:].sum(axis=0, dtype=np.int64).tolist()
        return below, above, lost


def read_parameters(path: Path) -> tuple[Parameter, ...]:
    """Read all that shaped a volume from the file that describes it.

    Raises
    ------
    OSError
        If it cannot be read.
    """
    with h5py.File(path, locking="best-effort") as file:
        kept = file[PROCESS]["parameters"]
        return tuple(
            Parameter(name=name, value=plain(one), origin=str(one.attrs["origin"]))
            for name, one in kept.items()
            if name != "raw_file"
        )


def plain(dataset: h5py.Dataset) -> str | int | float | bool:
    """Read a single value as Python has it."""
    value = dataset[()]
    if isinstance(value, bytes):
        return value.decode()
    found: str | int | float | bool = value.item() if isinstance(value, np.generic) else value
    return found


def read_defects(path: Path) -> Defects | None:
    """Read from a volume's file which pixels of the detector were interpolated; None if it does not tell.

    Raises
    ------
    WriteError
        If it cannot be read.
    """
    try:
        with h5py.File(path, locking="best-effort") as file:
            kept = file[PROCESS].get("defects")
            return None if kept is None else pack(kept[()])
    except (OSError, KeyError) as error:
        raise WriteError(f"{path} cannot be read as a volume ({error})", "look whether it is one") from error


def locate(file: h5py.File, path: Path) -> Target:
    """Find where the pixels of a volume, and what is noted of them, lie in its file.

    Raises
    ------
    KeyError
        If it is no volume of ours.
    """
    process, run = file[PROCESS], file[RUN]
    pixels, greys = process["pixels"].attrs, process["greys"].attrs
    place = pixels.get("pattern")
    return Target(
        path=path,
        offset=int(pixels["offset"]) if place else file[DATASET].id.get_offset(),
        first_row=int(process["first_row"][()]),
        shape=tuple(pixels["shape"].tolist()),
        status_offset=process["status"].id.get_offset(),
        checksum_offset=process["crc32"].id.get_offset(),
        run=run[()].decode(),
        run_offset=run.id.get_offset(),
        clipped_offset=process["clipped"].id.get_offset(),
        clipped_checksum_offset=process["clipped_crc32"].id.get_offset(),
        greys=Greys(dtype=str(greys["dtype"]), low=float(greys["low"]), high=float(greys["high"])),
        files=place and Files(pattern=place, first=int(pixels["first"]), slices=int(pixels["slices"])),
    )


def _see_to_room(folder: Path, needed: int) -> None:
    """Make sure that the disk takes a little more; HDF5 does not survive it where it does not."""
    with tempfile.TemporaryFile(dir=folder) as probe:
        write_all(probe.fileno(), bytes(_ROOM + needed), 0)
        os.fsync(probe.fileno())


def _write(file: h5py.File, path: Path, content: Content, files: Files | None, offset: int) -> Target:
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
    slices = content.shape[0]
    for name, shape, dtype, description in (
        ("status", (slices,), "u1", "of each slice: 1 written and read back, 0 missing"),
        ("crc32", (slices,), "<u4", "CRC-32 of the bytes of each slice that is written"),
        (
            "clipped",
            (slices, 3),
            "<u4",
            "pixels of each slice below and above what the type holds, not a number",
        ),
        ("clipped_crc32", (slices,), "<u4", "CRC-32 of the bytes of each slice's three counts"),
    ):
        dataset = process.create_dataset(name, dcpl=contiguous(), shape=shape, dtype=dtype)
        dataset.attrs["description"] = description
    if content.defects is not None:
        _write_defects(process, content.defects)
    _write_greys(process, content.greys)
    _write_place(process, content, files, offset)
    _write_data(entry, content, files)
    entry.create_dataset("entry_identifier_uuid", data=np.bytes_(str(uuid.uuid4())))
    file.flush()
    return locate(file, path)


def _write_defects(process: h5py.Group, defects: Defects) -> None:
    kept = process.create_dataset("defects", data=defects.map(), compression="gzip", shuffle=True)
    kept.attrs["description"] = "of each pixel of the detector (row, column): 0 good, else interpolated"
    for number, kind in enumerate(KINDS, 1):
        kept.attrs[kind] = number


def _write_greys(process: h5py.Group, greys: Greys) -> None:
    kept = _group(process, "greys", "NXcollection")
    kept.attrs["description"] = "value = pixel * step + low, where pixels are whole numbers"
    for name in ("dtype", "low", "high", "step"):
        kept.attrs[name] = getattr(greys, name)


def _write_place(process: h5py.Group, content: Content, files: Files | None, offset: int) -> None:
    kept = _group(process, "pixels", "NXcollection")
    kept.attrs["shape"] = content.shape
    if files is not None:
        kept.attrs["description"] = "files that hold the pixels, and from which byte on"
        for name in ("pattern", "first", "slices"):
            kept.attrs[name] = getattr(files, name)
        kept.attrs["offset"] = offset


def _write_directories(file: h5py.File, content: Content, offset: int) -> int:
    """Write what makes the pixels a TIFF, and tell where it begins in the file."""
    group = _group(file["entry"], "tiff", "NXcollection")
    length = bigtiff.length_of_directories(content)
    dataset = group.create_dataset("directories", dcpl=contiguous(), shape=(length,), dtype=np.uint8)
    first = int(dataset.id.get_offset())
    dataset[:] = np.frombuffer(bigtiff.directories(content, pixels=offset, place=first), np.uint8)
    return first


def _write_data(entry: h5py.Group, content: Content, files: Files | None) -> None:
    data = _group(entry, "data", "NXdata")
    data.attrs["axes"] = ["z", "y", "x"]
    if files is None or files.dataset:
        data.attrs["signal"] = "data"
        _write_pixels(data, content, files)
    for name, begin, count in zip("zyx", content.origin, content.shape, strict=True):
        data[name] = (begin + np.arange(count)) * (content.pixel_size or 1)
        data[name].attrs["units"] = "m" if content.pixel_size else "pixel"


def _write_pixels(data: h5py.Group, content: Content, files: Files | None) -> None:
    greys = content.greys
    if files is None:
        pixels = data.create_dataset("data", dcpl=contiguous(), shape=content.shape, dtype=greys.stored)
    else:
        pixels = data.create_virtual_dataset("data", virtual_layout(content, files))
    pixels.attrs["units"] = content.units
    pixels.attrs["long_name"] = f"attenuation ({content.units})"
    if greys.levels:  # as NeXus says it, and as xarray and others read it
        data["data_scaling_factor"], data["data_offset"] = greys.step, greys.low
        pixels.attrs["scale_factor"], pixels.attrs["add_offset"] = greys.step, greys.low


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
    parameters["raw_file"].attrs["files"] = provenance.inputs
    for parameter in provenance.parameters:
        parameters[parameter.name] = parameter.value
        parameters[parameter.name].attrs["origin"] = parameter.origin
    return process


def _group(parent: h5py.Group, name: str, nexus_class: str) -> h5py.Group:
    group = parent.create_group(name)
    group.attrs["NX_class"] = nexus_class
    return group
