"""Nothing takes more instructions or more memory than it did: the counts of `benchmarks.guard`."""

from dataclasses import replace

import pytest

from benchmarks.guard import Counts, changes, measure, missing, read_record

BEFORE = Counts(versions={"numba": "0.68"}, instructions={"correct": 1_000_000}, peak={"correct": 10_000_000})


@pytest.mark.slow
@pytest.mark.timeout(1300)  # it also compiles, and computes fifty times slower; each half may take 600 s
def test_no_case_takes_more_than_before():
    if reason := missing():
        pytest.skip(reason)
    assert changes(read_record(), measure()) == []


@pytest.mark.parametrize(
    ("case", "instructions", "peak", "numba", "found"),
    [
        ("correct", 1_000_000, 10_000_000, "0.68", []),
        ("correct", 1_019_000, 10_200_000, "0.68", []),
        ("correct", 1_021_000, 10_000_000, "0.68", ["correct: 1,021,000 instructions, 1,000,000 before"]),
        ("correct", 979_000, 10_000_000, "0.68", ["correct: 979,000 instructions, 1,000,000 before"]),
        ("correct", 1_000_000, 10_300_000, "0.68", ["correct: 10,300,000 bytes at the peak, 10,000,000 be"]),
        ("correct", 500_000, 5_000_000, "0.69", []),
        ("correct", 1_140_000, 11_400_000, "0.69", []),
        ("correct", 1_160_000, 10_000_000, "0.69", ["correct: 1,160,000 instructions, 1,000,000 before"]),
        ("new", 1, 100_000, "0.68", ["correct: 0 b", "correct: 0 i", "new: 1 i", "new: 100,000 b"]),
    ],
)
def test_what_has_changed_is_named(case, instructions, peak, numba, found):
    now = Counts(versions={"numba": numba}, instructions={case: instructions}, peak={case: peak})
    lines = changes(BEFORE, now)
    assert len(lines) == len(found)
    assert all(line.startswith(start) for line, start in zip(lines, found, strict=True))


def test_what_was_recorded_has_not_changed():
    record = read_record()
    assert changes(record, record) == []
    assert changes(record, replace(record, instructions={})) != []
