"""Opening HDF5 files and their datasets, so that every failure is one line that names the file at fault."""

from __future__ import annotations

import re
from pathlib import Path

import h5py

from runner.errors import MissingFileError, ScanError


def open_file(path: Path) -> h5py.File:
    """Open an HDF5 file for reading.

    The file is not locked: many workers read the same scan, often from file systems without locks.

    Raises
    ------
    MissingFileError
        If there is no such file.
    ScanError
        If it is no HDF5 file, is truncated, or cannot be read.
    """
    import hdf5plugin  # noqa: F401  # registers the compression filters that detectors use

    try:
        if not path.exists():
            raise MissingFileError(f"no such file: {path}", "check the path of the scan")
        if path.is_dir():
            raise ScanError(f"{path} is a folder, not a file", "give the HDF5 file of the scan")
        return h5py.File(path, "r", locking=False)
    except PermissionError as error:
        raise ScanError(f"{path} must not be read by this user", "ask its owner for permission") from error
    except OSError as error:
        if "flag values don't match" in str(error):  # open in this process already, in the default way
            return h5py.File(path, "r")
        raise _unreadable(path, str(error)) from error


def _unreadable(path: Path, message: str) -> ScanError:
    if "signature not found" in message:
        return ScanError(f"{path} is not an HDF5 file", "give a scan in NXtomo or DXchange form")
    if match := re.search(r"truncated file: eof = (\d+),.* stored_eof = (\d+)", message):
        there, whole = match.groups()
        return ScanError(
            f"{path} is truncated: {there} of {whole} bytes are there", "copy or record the file again"
        )
    return ScanError(f"{path} cannot be opened ({message})", "check it with h5ls, or copy it again")


def find(group: h5py.Group, path: str) -> h5py.Group | h5py.Dataset | None:
    """Follow a path from a group, through links into other files too; None if there is no such name.

    Raises
    ------
    MissingFileError
        If a link on the way leads to a file that is not there.
    ScanError
        If that file is damaged, or a link leads to a name that does not exist.
    """
    try:
        return group[path]
    except (KeyError, OSError) as error:  # either means "not there" or "there, but the link is broken"
        _explain(group, path, error)
        return None


def _explain(group: h5py.Group, path: str, error: Exception) -> None:
    """Look for a link of a path that leads nowhere, and raise what is wrong with it; none: no such name."""
    here: h5py.Group | h5py.Dataset = group
    for name in path.strip("/").split("/"):
        link = here.get(name, getlink=True) if isinstance(here, h5py.Group) else None
        if link is None:
            return
        try:
            here = here[name]
        except (KeyError, OSError):
            raise _broken(here, name, link) from error


def _broken(group: h5py.Group, name: str, link: object) -> MissingFileError | ScanError:
    at = f"{group.name.rstrip('/')}/{name} of {group.file.filename}"
    if isinstance(link, h5py.ExternalLink):
        target = beside(Path(group.file.filename), link.filename)
        if not target.exists():
            return MissingFileError(
                f"the file {target} is missing, which {at} links to", "put it there, or mend the link"
            )
        with open_file(target):  # says so if it is damaged
            return ScanError(f"{at} links to {link.path}, which is not in {target}")
    if isinstance(link, h5py.SoftLink):
        return ScanError(f"{at} links to {link.path}, which does not lead to data")
    return ScanError(f"{at} cannot be opened", "check the file with h5ls, or copy it again")


def beside(file: Path, name: str) -> Path:
    """Where a file name written inside an HDF5 file leads: relative ones start at the file's folder."""
    return file.resolve().parent / name


def dataset_at(group: h5py.Group, path: str) -> h5py.Dataset:
    """Find a dataset that must be there.

    Raises
    ------
    MissingFileError, ScanError
        As from :func:`find`, and if there is no dataset of that name.
    """
    found = find(group, path)
    if not isinstance(found, h5py.Dataset):
        raise ScanError(
            f"{group.file.filename} has no dataset {group.name.rstrip('/')}/{path}",
            "check that it is a complete NXtomo or DXchange file",
        )
    return found


def text(value: object) -> str:
    """Text of an attribute or scalar, whether it is stored as bytes, string or an array of one."""
    if isinstance(value, h5py.Dataset):
        value = value[()]
    if hasattr(value, "ravel"):
        flat = value.ravel()
        value = flat[0] if flat.size else ""
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else str(value)


def attribute(item: h5py.Group | h5py.Dataset, name: str) -> str:
    """Text of an attribute, empty where there is none."""
    return text(item.attrs[name]) if name in item.attrs else ""


def text_at(group: h5py.Group, path: str) -> str:
    """Text of a dataset, empty where there is none."""
    return text(group[path]) if isinstance(group.get(path), h5py.Dataset) else ""


def name_of(item: h5py.Group | h5py.Dataset) -> str:
    """Name an item and its file, for people."""
    return f"{item.name} of {item.file.filename}"
