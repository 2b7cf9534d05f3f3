import pytest

from runner.tomo.dispatch import Failure
from runner.tomo.missing import out_of_time, row_ranges
from runner.tomo.plan import Chunk
from runner.tomo.volume.slab import Target


def test_what_failed_before_the_time_was_over_is_told_too(tmp_path):
    volume = tmp_path / "volume.h5"
    target = Target(
        path=volume,
        offset=0,
        first_row=0,
        shape=(100, 48, 48),
        status_offset=0,
        checksum_offset=0,
        run="",
        run_offset=0,
        clipped_offset=0,
        clipped_checksum_offset=0,
    )
    failed, waiting = Chunk(first_row=0, end_row=16), Chunk(first_row=48, end_row=64)
    error = out_of_time(volume, target, [Failure(chunk=failed, cause=OSError("bad disk"))], [waiting])
    assert "68 of 100 slices were made, rows 0:16, 48:64 are missing (bad disk); " in str(error)


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        ([(0, 16)], "0:16"),
        ([(16, 32), (0, 16), (48, 64)], "0:32, 48:64"),
        ([(48, 70), (0, 16)], "0:16, 48:70"),
    ],
)
def test_rows_are_told_short(rows, said):
    assert row_ranges([Chunk(first_row=first, end_row=end) for first, end in rows]) == said
