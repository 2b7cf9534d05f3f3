"""Going on with an unfinished volume: what is there and whole counts, for the same input and settings."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest

from runner.errors import WriteError
from runner.tomo.volume.claim import claimed
from runner.tomo.volume.forms import create_volume
from runner.tomo.volume.place import partial_path
from runner.tomo.volume.resume import check_same, read_unfinished, take_over
from runner.tomo.volume.slab import clear_slab, count_written, rows_to_make, write_slab


def slices(count):
    return np.random.default_rng(count).normal(size=(count, 5, 4)).astype(np.float32)


def test_nothing_is_no_unfinished_volume(volume):
    assert read_unfinished(volume) is None


@pytest.mark.parametrize("bytes_", [b"", b"text", b"\x89HDF\r\n\x1a\n" + bytes(100)])
def test_something_else_is_refused(volume, bytes_):
    partial_path(volume).write_bytes(bytes_)
    with pytest.raises(WriteError, match="cannot be continued"):
        read_unfinished(volume)


def test_the_same_is_gone_on_with(volume, content):
    target = create_volume(volume, content)
    write_slab(target, 11, slices(2))
    found = read_unfinished(volume)
    assert found.target == target
    assert (found.center, found.center_origin) == (31.25, "command line")
    check_same(found, content)
    ours = take_over(found)
    assert ours == replace(target, run=ours.run)
    assert rows_to_make(ours, 10, 16) == [10, 13, 14, 15]
    write_slab(ours, 13, slices(1))
    with pytest.raises(WriteError, match="another run"):
        write_slab(target, 10, slices(1))
    assert count_written(ours) == 3


def test_what_differs_is_named(volume, content):
    create_volume(volume, content)
    found = read_unfinished(volume)
    settings = tuple(
        replace(one, value="cosine") if one.name == "window" else one for one in content.provenance.parameters
    )
    provenance = replace(content.provenance, parameters=settings, scan_size=124)
    with pytest.raises(
        WriteError, match=r"begun with size of the scan 123 \(now 124\), window hann \(now cosine\)"
    ):
        check_same(found, replace(content, provenance=provenance))
    with pytest.raises(WriteError, match=r"shape \(6, 5, 4\) \(now \(7, 5, 4\)\)"):
        check_same(found, replace(content, shape=(7, 5, 4)))


def test_other_versions_of_what_computes_are_a_difference(volume, content):
    create_volume(volume, content)
    found = read_unfinished(volume)
    for name, differs in (("numpy", True), ("dask", False)):
        versions = tuple(
            (one, "0" if one == name else version) for one, version in content.provenance.versions
        )
        other = replace(content, provenance=replace(content.provenance, versions=versions))
        if differs:
            with pytest.raises(WriteError, match="numpy "):
                check_same(found, other)
        else:
            check_same(found, other)


def test_slices_that_are_not_as_they_were_written_are_made_again(volume, content):
    target = create_volume(volume, content)
    write_slab(target, 10, slices(6))
    assert rows_to_make(target, 10, 16) == []
    clear_slab(target, 11, 12)
    with partial_path(volume).open("r+b") as file:  # one bit of the slice of row 14
        where = target.offset + 4 * 5 * 4 * 4 + 7
        byte = os.pread(file.fileno(), 1, where)[0]
        os.pwrite(file.fileno(), bytes([byte ^ 8]), where)
    assert rows_to_make(target, 10, 16) == [11, 14]


def test_one_run_at_a_time_and_a_killed_one_counts_no_more(volume):
    code = (
        "import pathlib, sys; from runner.tomo.volume.claim import claimed; "
        "lock = claimed(pathlib.Path(sys.argv[1])); lock.__enter__(); "
        "print('held', flush=True); sys.stdin.read()"
    )
    argv = [sys.executable, "-c", code, str(volume)]
    with subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as other:
        assert other.stdout.readline() == "held\n"
        with pytest.raises(WriteError, match=r"another run is making volume\.h5 now"), claimed(volume):
            pass
        other.kill()
        other.wait(60)
        with claimed(volume):
            assert [path.name for path in volume.parent.iterdir()] == [".volume.h5.lock"]
    assert not list(volume.parent.iterdir())
