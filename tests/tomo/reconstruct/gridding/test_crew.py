import threading

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runner.tomo.reconstruct.gridding.crew import Crew, cut


@given(st.integers(0, 50), st.integers(1, 500), st.integers(1, 16), st.integers(1, 20))
def test_parts_cover_the_range_at_multiples_of_the_unit(begin, length, unit, parts):
    pieces = cut(begin, begin + length, unit, parts)
    assert len(pieces) <= parts
    assert [at for first, end in pieces for at in range(first, end)] == list(range(begin, begin + length))
    assert all((first - begin) % unit == 0 for first, _ in pieces)


@pytest.mark.parametrize("threads", [1, 2, 5])
def test_each_part_is_done_once_with_scratch_of_ones_own(threads):
    crew = Crew(threads, 3, 4)
    done, users, lock = [], {}, threading.Lock()

    def work(part, scratch):
        with lock:
            done.append(part)
            users.setdefault(scratch.ctypes.data, set()).add(threading.get_ident())

    parts = [(at, at + 1) for at in range(200)]
    for _ in range(20):
        done.clear()
        users.clear()
        crew.share(work, parts)
        assert sorted(done) == parts
        assert all(len(threads_) == 1 for threads_ in users.values())
        assert len(users) <= threads
    crew.close()


def test_all_threads_work_at_once():
    crew = Crew(3, 1, 4)
    meeting = threading.Barrier(3, timeout=60)
    crew.share(lambda *_: meeting.wait(), [(0, 1)] * 3)  # breaks if they do not meet
    crew.close()


@pytest.mark.parametrize("failing", range(4))
def test_a_failure_is_told_when_all_have_stopped(failing):
    crew = Crew(2, 1, 4)

    def work(part, _):
        if part[0] == failing:
            raise ValueError(f"part {failing}")

    with pytest.raises(ValueError, match=f"part {failing}"):
        crew.share(work, [(at, at + 1) for at in range(4)])
    crew.share(lambda *_: None, [(0, 1)])
    crew.close()
