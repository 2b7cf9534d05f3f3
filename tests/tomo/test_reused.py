"""Memory of large arrays: lent once at a time, used again, kept for nobody else."""

import gc
import threading

import numpy as np
import pytest

from runner.tomo import reused

SHAPE = (3, 512, 512)
LARGE = 4 * 3 * 512 * 512


@pytest.fixture(autouse=True)
def _forgotten():
    yield
    reused.forget()


def place(array):
    return array.__array_interface__["data"][0]


def place_of_one_that_went(**what):
    """Make an array, and let it go."""
    return place(new(**what))


def new(use="slices", shape=SHAPE, dtype=np.float32):
    return reused.empty(use, shape, dtype)


def test_it_is_as_asked_for_and_may_be_written():
    reused.reuse()
    array = new(dtype=np.uint16)
    assert (array.shape, array.dtype) == (SHAPE, np.uint16)
    assert array.flags.c_contiguous
    array[:] = 7
    assert array.sum() == 7 * array.size


def test_memory_is_used_again_when_the_array_has_gone():
    reused.reuse()
    first = place_of_one_that_went()
    again = new()
    assert place(again) == first
    assert place(new()) != first  # which is in use


@pytest.mark.parametrize(
    "view",
    [
        lambda array: array[1:],
        lambda array: array.reshape(-1)[5:],
        lambda array: array[0].view(np.uint8),
        lambda array: memoryview(array[2]).cast("B"),
        lambda array: np.asarray(array).T,
    ],
)
def test_a_view_keeps_it(view):
    reused.reuse()
    array = new()
    first, kept = place(array), view(array)
    del array
    assert place(new()) != first
    del kept
    assert place(new()) == first


def test_uses_do_not_share():
    reused.reuse()
    first = place_of_one_that_went(use="slices")
    other = new("sinograms")
    assert place(other) != first
    assert place(new("slices")) == first


def test_a_lower_chunk_takes_the_memory_of_a_taller_one_and_leaves_it():
    reused.reuse()
    first = place_of_one_that_went()
    assert place_of_one_that_went(shape=(2, 512, 512)) == first
    assert place(new()) == first


@pytest.mark.parametrize("shape", [(1, 512, 512), (4, 512, 512)])
def test_memory_for_something_else_is_not_kept(shape):
    reused.reuse()
    array = new()
    del array
    other = new(shape=shape)
    assert [one.nbytes for one in reused.kept()] == []
    del other
    assert [one.nbytes for one in reused.kept()] == [np.prod(shape) * 4]


def test_there_is_never_more_than_was_in_use_at_one_time():
    reused.reuse()
    for _ in range(5):
        one = new()
        other = new()
        del one, other
    assert [memory.nbytes for memory in reused.kept()] == [LARGE, LARGE]


def test_nothing_is_kept_unless_it_is_asked_for():
    array = new()
    del array
    assert reused.kept() == []
    reused.reuse()
    array = new()
    reused.forget()
    del array
    assert reused.kept() == []


def test_small_arrays_are_let_be():
    reused.reuse()
    array = new(shape=(100,))
    del array
    assert reused.kept() == []


def test_threads_never_share_memory():
    """Each fills its array, waits for the others, and finds what it wrote."""
    reused.reuse()
    wrong, together = [], threading.Barrier(4, timeout=60)

    def work(number):
        for round_ in range(20):
            array = new(shape=(1, 512, 1024))
            array[:] = 100 * number + round_
            together.wait()
            if not (array == 100 * number + round_).all():
                wrong.append((number, round_))
            del array

    threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    gc.collect()
    assert not wrong
    assert len(reused.kept()) == 4
