from dataclasses import replace

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from runner.errors import ScanError
from runner.tomo.plan import (
    ALIGNMENT,
    Chunk,
    Resources,
    cut,
    describe,
    least_memory,
    make_plan,
    memory_of_rows,
    rows_decoded,
    rows_read,
)
from runner.tomo.work import Work

GIB = 1 << 30


def work(first=0, end=135, columns=160, angles=91, itemsize=2, method="fourier", quality="standard"):
    return Work(
        first_row=first,
        end_row=end,
        columns=columns,
        angles=angles,
        flats=10,
        darks=10,
        frames=angles + 20,
        itemsize=itemsize,
        size=columns,
        detector_rows=end,
        method=method,
        quality=quality,
    )


works = st.builds(
    lambda first, rows, *others: work(first, first + rows, *others),
    st.integers(0, 500),
    st.integers(1, 3000),
    st.integers(1, 5000),
    st.integers(1, 5000),
    st.sampled_from([1, 2, 4]),
    st.sampled_from(["fourier", "exact", "fbp"]),
    st.sampled_from(["standard", "high"]),
)
resources = st.builds(
    lambda workers, memory, threads: Resources(workers=workers, memory=memory * GIB // 4, threads=threads),
    st.integers(1, 100),
    st.integers(1, 2000),
    st.integers(1, 64),
)


@given(works, resources)
def test_chunks_cover_the_rows_once_on_the_grid_and_fit(work, resources):
    try:
        plan = make_plan(work, resources)
    except ScanError:
        assume(False)
    rows = [row for chunk in plan.chunks for row in range(chunk.first_row, chunk.end_row)]
    assert rows == list(range(work.first_row, work.end_row))
    inner = [chunk.end_row for chunk in plan.chunks[:-1]] + [chunk.first_row for chunk in plan.chunks[1:]]
    assert all(row % unit_of(plan) == 0 for row in inner)
    assert max(chunk.rows for chunk in plan.chunks) > 0
    assert plan.memory <= resources.memory
    for chunk in plan.chunks:
        assert (
            memory_of_rows(work, chunk.rows, resources.threads) + plan.buffers
            <= plan.memory
            <= 0.75 * resources.memory
        )


def unit_of(plan):
    """Chunks are cut at multiples of fewer rows only where the memory does not suffice for more."""
    room = int(0.75 * plan.resources.memory) - plan.buffers
    fitting = [unit for unit in (16, 8, 4) if memory_of_rows(plan.work, unit, plan.resources.threads) <= room]
    return max(fitting)


@given(works, resources)
def test_every_worker_has_work_while_there_are_rows(work, resources):
    try:
        plan = make_plan(work, resources)
    except ScanError:
        assume(False)
    assert len(plan.chunks) >= min(3 * resources.workers, work.rows // ALIGNMENT)


@given(works, resources)
def test_what_is_refused_does_not_fit(work, resources):
    if least_memory(work, resources.threads) > 0.75 * resources.memory:
        with pytest.raises(ScanError, match="4 rows"):
            make_plan(work, resources)
    else:
        make_plan(work, resources)


@given(st.integers(0, 300), st.integers(1, 300), st.integers(1, 100))
def test_cutting_depends_on_the_detector_not_on_the_first_row(first, rows, height):
    ends = {chunk.end_row for chunk in cut(first, first + rows, height)}
    whole = {chunk.end_row for chunk in cut(0, first + rows, height)}
    assert ends == {end for end in whole if end > first}


@pytest.mark.parametrize(
    ("rows", "workers", "heights"),
    [
        (135, 6, [16] * 8 + [7]),
        (135, 1, [16] * 8 + [7]),
        (2, 4, [2]),
        (2048, 4, [64] * 32),
    ],
)
def test_chunks_of_known_cases(rows, workers, heights):
    plan = make_plan(work(end=rows), Resources(workers=workers, memory=8 * GIB, threads=2))
    assert [chunk.rows for chunk in plan.chunks] == heights


def test_little_memory_makes_smaller_chunks():
    large = work(end=2048, columns=2048, angles=1500)
    heights = []
    for memory in (64 * GIB, 16 * GIB, 4 * GIB):
        plan = make_plan(large, Resources(workers=1, memory=memory, threads=4))
        heights.append(plan.chunks[0].rows)
    assert heights[0] > heights[1] > heights[2] >= ALIGNMENT


def test_too_little_memory_says_how_much_is_needed():
    resources = Resources(workers=1, memory=GIB // 2, threads=2)
    large = work(columns=2048, angles=1500)
    with pytest.raises(ScanError, match=r"has 512\.0 MiB .* need (\d+\.\d) MiB") as refusal:
        make_plan(large, resources)
    needed = float(str(refusal.value).split("need ")[1].split(" MiB")[0])
    make_plan(large, replace(resources, memory=int((needed + 0.1) * 2**20)))


def test_the_description_names_what_matters():
    text = describe(make_plan(work(first=3, end=67), Resources(workers=2, memory=2 * GIB, threads=3)))
    assert "64 of 160 x 160 pixels, rows 3:67" in text
    assert "2 with 3 threads and 2.0 GiB" in text
    assert "5 of 3 to 16 rows" in text
    assert "predicted peak" in text
    assert f"written  {64 * 160 * 160 * 4 / 2**20:.1f} MiB" in text


def test_a_very_large_scan_fits_a_large_node():
    """24,000 columns and 36,000 angles, as one beamline has them, in 128 GB."""
    large = work(end=2000, columns=24_000, angles=36_000)
    plan = make_plan(large, Resources(workers=1, memory=128 * 10**9, threads=32))
    assert plan.memory <= 0.75 * 128e9
    assert plan.chunks[0].rows in {4, 8, 16}


@given(works, resources, st.integers(0, 20).map(lambda blocks: 16 * blocks))
def test_margins_are_counted(work, resources, margin):
    with_margin = replace(work, margin=margin, thread_bytes=16)
    for height in {1, min(16, work.rows), work.rows}:
        read = rows_read(with_margin, height)
        assert height <= read <= max(height + 2 * margin + 15, height)
        assert read <= max(work.detector_rows, height)
        assert memory_of_rows(with_margin, height, 1) >= memory_of_rows(work, height, 1)


def test_chunks_with_margins_are_taller_so_that_less_is_read_twice():
    resources = Resources(workers=4, memory=64 * GIB, threads=2)
    plain = make_plan(work(end=2048), resources)
    margined = make_plan(replace(work(end=2048), margin=128), resources)
    assert margined.chunks[0].rows > plain.chunks[0].rows
    assert len(margined.chunks) >= 4
    assert plain.bytes_read < margined.bytes_read < 2 * plain.bytes_read


def test_a_part_of_the_slices_takes_less_memory():
    large = work(columns=2048, angles=100)
    part = replace(large, region=((100, 356), (0, 1024)))
    assert part.shape == (256, 1024)
    spared = 16 * (2048**2 - 256 * 1024) * 4
    assert memory_of_rows(large, 16, 1) - memory_of_rows(part, 16, 1) == spared


def test_three_chunks_at_once_where_they_fit():
    several = make_plan(work(end=2048), Resources(workers=4, memory=8 * GIB, threads=2))
    assert several.at_once == 3
    assert ", 3 at once\n" in describe(several)
    for height in (16, 64):
        alone, together = (memory_of_rows(several.work, height, 2, at_once) for at_once in (1, 3))
        assert alone < together <= 3 * alone
    # nothing is left to overlap with
    assert make_plan(work(end=60), Resources(workers=4, memory=8 * GIB, threads=2)).at_once == 1


@given(works, resources)
def test_what_a_worker_has_at_once_fits(work, resources):
    try:
        plan = make_plan(work, resources)
    except ScanError:
        assume(False)
    tallest = max(chunk.rows for chunk in plan.chunks)
    needed = memory_of_rows(work, tallest, resources.threads, plan.at_once) + plan.buffers
    assert needed == plan.memory <= 0.75 * resources.memory


def test_little_memory_is_for_the_engine_and_the_groups_of_slices_first():
    large = work(end=2048, columns=2048, angles=1500)
    plans = [make_plan(large, Resources(workers=1, memory=GIB * n // 4, threads=2)) for n in range(4, 64)]
    assert [plan.at_once for plan in plans] == sorted(plan.at_once for plan in plans)
    assert {plan.at_once for plan in plans} == {1, 3}
    assert all(plan.chunks[0].rows >= ALIGNMENT for plan in plans if plan.at_once == 3)
    assert all(plan.buffers == plans[-1].buffers for plan in plans if plan.at_once == 3)


def test_no_frame_is_decoded_twice_where_the_memory_allows_it():
    frames = replace(work(end=256), rows_together=256)
    plan = make_plan(frames, Resources(workers=1, memory=64 * GIB, threads=2))
    assert plan.rows_decoded == 256
    by_four = make_plan(frames, Resources(workers=4, memory=64 * GIB, threads=2))
    assert [chunk.rows for chunk in by_four.chunks] == [64] * 4  # each has some
    assert by_four.rows_decoded == 4 * 256
    assert by_four.bytes_read == 4 * frames.frames * 256 * frames.columns * frames.itemsize


def test_low_chunks_of_frames_that_are_decoded_again_and_again_do_not_overlap():
    frames = replace(work(end=2048, columns=2048, angles=1500), rows_together=2048)
    resources = Resources(workers=1, memory=16 * GIB, threads=2)
    plan = make_plan(frames, resources)
    plain = make_plan(replace(frames, rows_together=1), resources)
    assert (plan.at_once, plain.at_once) == (1, 3)
    assert plan.chunks[0].rows > plain.chunks[0].rows


@given(works, st.integers(0, 2000), st.integers(1, 300), st.integers(1, 40), st.sampled_from([0, 16, 48]))
def test_the_rows_that_are_decoded_are_whole_blocks(work, first, rows, together, margin):
    all_rows = first + rows + 100
    work = replace(work, detector_rows=all_rows, rows_together=together, margin=margin)
    decoded = rows_decoded(work, Chunk(first_row=first, end_row=first + rows))
    assert min(rows + margin, rows) <= decoded <= rows + 2 * (margin + 15 + together)
    assert decoded <= all_rows
    if together == 1:
        assert decoded <= rows_read(work, rows) + ALIGNMENT
