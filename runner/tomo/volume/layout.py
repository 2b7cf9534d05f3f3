"""How a dataset lies in an HDF5 file that others write into by their own means."""

from __future__ import annotations

import h5py


def contiguous() -> h5py.h5p.PropDCID:
    """One plain range of bytes that is there from the start; the file system's zeros until written."""
    properties = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
    properties.set_layout(h5py.h5d.CONTIGUOUS)
    properties.set_alloc_time(h5py.h5d.ALLOC_TIME_EARLY)
    properties.set_fill_time(h5py.h5d.FILL_TIME_NEVER)  # filling would write every byte twice
    return properties
