"""What Grid Engine's answers mean: recorded on Son of Grid Engine 8.1.9, the others' from their manuals."""

from __future__ import annotations

from datetime import datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runner.batch.queue import sge
from runner.batch.queue.system import JobState


def waiting(word: str) -> JobState:
    return JobState(phase="waiting", word=word)


def running(word: str) -> JobState:
    return JobState(phase="running", word=word)


def ended(word: str, code: int | None) -> JobState:
    return JobState(phase="ended", word=word, exit_code=code)


QSTAT = """\
job-ID  prior   name       user         state submit/start at     queue                      slots ja-task-ID
-------------------------------------------------------------------------------------------------------------
      1 0.55500 recon      ana          {first}     11/30/2026 01:00:00 all.q@node1                    6
     12 0.00000 other      bob          {second}    11/30/2026 01:00:01                                4
      3 0.55500 recon      ana          r     11/30/2026 01:00:00 all.q@node1                    1 1
      3 0.55500 recon      ana          qw    11/30/2026 01:00:00                                1 2-5:1
"""


@pytest.mark.parametrize(
    ("job_id", "first", "state"),
    [
        ("1", "qw", waiting("qw")),
        ("1", "hqw", waiting("hqw")),
        ("1", "Eqw", waiting("Eqw")),
        ("1", "r", running("r")),
        ("1", "dr", running("dr")),
        ("3", "r", running("r")),
        ("3.4", "r", running("r")),
        ("2", "r", None),
    ],
)
def test_qstat_of_grid_engine(job_id: str, first: str, state: JobState | None) -> None:
    assert sge.read_qstat(QSTAT.format(first=first, second="qw"), job_id) == state
    assert sge.read_qstat("", job_id) is None


NOW = datetime(2026, 11, 30, 12, 0, 30)


def part(
    code: int,
    *,
    task: str = "undefined",
    submitted: int = 0,
    ended: int = 0,
    failed: int = 0,
    pe: str = "rr",
    process: str | None = None,
) -> str:
    """Return a part of what qacct of Son of Grid Engine says; times in seconds after noon."""
    failures = {0: "0    ", 1: "1   : assumedly before job", 100: "100 : assumedly after job"}
    own = "" if process is None else f"pe_taskid    {process}\n"
    return (
        f"{'=' * 62}\nqname        all.q               \njobnumber    3\ntaskid       {task}\n{own}"
        f"qsub_time    Mon Nov 30 12:00:{submitted:02d} 2026\n"
        f"end_time     Mon Nov 30 12:00:{ended:02d} 2026\n"
        f"granted_pe   {pe:<20}\nslots        4\nfailed       {failures[failed]}\n"
        f"exit_status  {code}                  {'(Killed)' if code == 137 else ''}\nru_wallclock 3s\n"
    )


ENDING = running("ending")


@pytest.mark.parametrize(
    ("said", "state"),
    [
        ("", None),
        ("error: job id 3 not found\n", None),
        (part(0, pe="NONE", ended=29), ended("finished", 0)),
        (part(75, pe="NONE", ended=29), ended("finished", 75)),
        (part(137, failed=100, pe="NONE"), ended("failed 100 : assumedly after job", 137)),
        (part(0, failed=1, pe="NONE"), ended("failed 1 : assumedly before job", 1)),
        # an array
        ("".join(part(code, task=str(code), pe="NONE") for code in (0, 3, 1)), ended("finished", 3)),
        # what qrsh -inherit started, and then the job itself, which was submitted before them
        (part(137, failed=100, submitted=8, ended=29) + part(9, submitted=7, ended=29), ended("finished", 9)),
        (part(5, submitted=8, ended=29) + part(0, submitted=9, ended=29), ENDING),
        (part(5, submitted=9, ended=9) + part(0, submitted=9, ended=9), ended("finished", 0)),
        # of one part nobody can say whose it is: it is the job's if no other comes
        (part(4, ended=29), ENDING),
        (part(4, ended=9), ended("finished", 4)),
        (part(4, task="1", submitted=7) + part(4, task="2", ended=29), ENDING),
        # Univa's and Altair's Grid Engine tell whose it is
        (part(137, process="1.node1", ended=29), ENDING),
        (part(0, process="1.node1") + part(6, process="NONE", ended=29), ended("finished", 6)),
    ],
)
def test_qacct(said: str, state: JobState | None) -> None:
    assert sge.read_qacct(said, NOW) == state


def test_times_of_qacct() -> None:
    of_univa = part(4).replace("Mon Nov 30 12:00:00 2026", "11/30/2026 12:00:29.123")
    assert sge.read_qacct(of_univa, NOW) == ENDING
    assert sge.read_qacct(part(4).replace("Mon Nov 30 12:00:00 2026", "-/-"), NOW) == ended("finished", 4)


PIECES = ["exit_status  ", "failed  ", "137", "0", "1 : x", "end_time  ", "11/30/2026", "=====\n", "\n"]


@given(st.lists(st.sampled_from(PIECES) | st.text(max_size=5)).map("".join))
def test_no_answer_is_too_odd_to_be_read(said: str) -> None:
    state = sge.read_qacct(said, NOW)
    assert state is None or state.exit_code is None or state.exit_code >= 0
