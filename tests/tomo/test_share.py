"""Parts done by several threads: each once, all at once, and failures told."""

import threading

import pytest

from runner.tomo.share import share


@pytest.mark.parametrize("threads", [1, 2, 5])
@pytest.mark.parametrize("count", [0, 1, 100])
def test_each_part_is_done_once(threads, count):
    done = []
    share(done.append, range(count), threads)
    assert sorted(done) == list(range(count))


def test_all_threads_work_at_once_and_the_caller_is_one():
    meeting, users = threading.Barrier(3, timeout=60), set()

    def work(_):
        users.add(threading.get_ident())
        meeting.wait()  # breaks if they do not meet

    share(work, range(3), 3)
    assert threading.get_ident() in users


@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize("failing", range(4))
def test_a_failure_is_told(threads, failing):
    def work(part):
        if part == failing:
            raise ValueError(f"part {part}")

    with pytest.raises(ValueError, match=f"part {failing}"):
        share(work, range(4), threads)
