"""What stays of a scan keeps its place."""

from pathlib import Path

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from runner.tomo.scan import FrameGroup, Frames, Scan
from runner.tomo.scan.select import keep_frames, keep_projections


def group(position, count=2):
    frames = Frames(file=Path("a.h5"), dataset="/d", indices=np.arange(count))
    return FrameGroup(frames=frames, position=float(position))


def scan_of(count, flats):
    return Scan(
        path=Path("a.h5"),
        format="hdf5",
        entry="/d",
        projections=Frames(file=Path("a.h5"), dataset="/d", indices=np.arange(100, 100 + count)),
        angles=np.arange(count, dtype=float),
        flats=tuple(group(position) for position in flats),
        darks=(),
        rows=2,
        columns=3,
        dtype=np.dtype(np.uint16),
    )


@given(st.lists(st.booleans(), min_size=1, max_size=30), st.data())
def test_flats_stay_between_the_projections_around_them(kept, data):
    place = data.draw(st.integers(0, len(kept)))
    left = keep_projections(scan_of(len(kept), [place]), np.array(kept))
    assert left.flats[0].position == sum(kept[:place])
    assert (left.projections.indices - 100).tolist() == left.angles.tolist() == np.flatnonzero(kept).tolist()


def test_a_group_in_the_middle_stays_in_the_middle():
    assert keep_projections(scan_of(4, [2.5]), np.array([True, False, True, True])).flats[0].position == 1.5


def test_groups_of_which_nothing_stays_go():
    left = keep_frames([group(0), group(4)], [np.array([False, False]), np.array([True, False])])
    assert [(some.position, some.frames.indices.tolist()) for some in left] == [(4, [0])]
