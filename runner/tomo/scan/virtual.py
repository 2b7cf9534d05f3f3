"""Virtual datasets: HDF5 reads zeros where a source file is missing, so we look before we read."""

from __future__ import annotations

from pathlib import Path

import h5py

from runner.errors import MissingFileError, ScanError
from runner.tomo.scan.hdf5 import beside, dataset_at, name_of, open_file


def check_sources(dataset: h5py.Dataset) -> None:
    """Make sure that a virtual dataset is complete; any other dataset passes.

    Raises
    ------
    MissingFileError
        If a source file is missing.
    ScanError
        If a source holds fewer frames than are mapped, or parts of the dataset are not mapped at all.
    """
    if not dataset.is_virtual:
        return
    check_source_files(dataset)
    mapped = 0
    for source in dataset.virtual_sources():
        mapped += source.vspace.get_select_npoints()
        _check_extent(dataset, source)
    if mapped < dataset.size:
        raise ScanError(
            f"{name_of(dataset)} is a virtual dataset of which only {mapped} of {dataset.size} values"
            " have a source",
            "complete the file that joins the sources",
        )


def check_source_files(dataset: h5py.Dataset) -> None:
    """Make sure that every source file of a virtual dataset can be seen from this machine.

    Raises
    ------
    MissingFileError
        If one is missing.
    ScanError
        If the sources are a numbered series, whose end cannot be known.
    """
    if not dataset.is_virtual:
        return
    for name in sorted({source.file_name for source in dataset.virtual_sources()}):
        if "%" in name:
            raise ScanError(
                f"{name_of(dataset)} joins a numbered series of files ({name}), in which a missing one"
                " cannot be noticed",
                "join them by name, or copy them into one dataset",
            )
        if not source_path(dataset, name).exists():
            raise MissingFileError(
                f"the file {source_path(dataset, name)} is missing, of which the virtual dataset"
                f" {name_of(dataset)} is made",
                "put it there: its frames would be read as zeros",
            )


def _check_extent(dataset: h5py.Dataset, source: h5py.VDSmap) -> None:
    path = source_path(dataset, source.file_name)
    with open_file(path) as file:
        stored = dataset_at(file, source.dset_name)
        check_sources(stored)  # a source may be virtual itself
        if not _holds(stored, source):
            raise ScanError(
                f"{source.dset_name} of {path} has shape {stored.shape} only, less than {name_of(dataset)} is"
                " made of",
                "the scan was probably aborted: join only the frames that exist",
            )


def _holds(stored: h5py.Dataset, source: h5py.VDSmap) -> bool:
    """Whether a dataset has all that a virtual one takes from it."""
    if source.src_space.get_select_type() == h5py.h5s.SEL_ALL:  # HDF5 does not keep how much that was
        return bool(source.vspace.get_select_npoints() <= stored.size)
    _, last = source.src_space.get_select_bounds()
    return all(index < length for index, length in zip(last, stored.shape, strict=True))


def source_path(dataset: h5py.Dataset, name: str) -> Path:
    """Tell where the source of a virtual dataset lies that it calls by this name."""
    file = Path(dataset.file.filename)
    return file if name == "." else beside(file, name)
