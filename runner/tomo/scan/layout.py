"""How the pixels of frames lie in their file: which rows can be read alone, and which only together."""

from __future__ import annotations

import h5py

from runner.tomo.scan.hdf5 import dataset_at, open_file
from runner.tomo.scan.images import rows_of_one_read
from runner.tomo.scan.scan import Frames, Images
from runner.tomo.scan.virtual import source_path


def rows_together(frames: Frames | Images) -> int:
    """Tell how many rows of a frame are decoded at once, whichever of them are wanted.

    Parameters
    ----------
    frames : Frames or Images
        Frames that lie in the same way as the first of them.

    Returns
    -------
    int
        1 where lines lie as they are and can be read one by one; the height of a compressed chunk, or of an
        image that is read whole.

    Raises
    ------
    MissingFileError, ScanError
        If the file, or the first source of a virtual dataset, cannot be read.
    """
    if isinstance(frames, Images):
        return rows_of_one_read(frames)
    with open_file(frames.file) as file:
        return _rows_of(dataset_at(file, frames.dataset))


def _rows_of(dataset: h5py.Dataset) -> int:
    if dataset.is_virtual:
        source = dataset.virtual_sources()[0]
        with open_file(source_path(dataset, source.file_name)) as file:
            return _rows_of(dataset_at(file, source.dset_name))
    if dataset.ndim != 3 or dataset.chunks is None or dataset.id.get_create_plist().get_nfilters() == 0:
        return 1
    return int(dataset.chunks[1])
