"""What the commands of each batch system are asked, and what their answers mean.

The answers of SLURM, Grid Engine and OAR are in the form of the versions in ``tests/testbed``; the others are
written from their manuals.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runner.batch.queue import flux, htcondor, lsf, oar, pbs, slurm
from runner.batch.queue.system import Command, JobState
from runner.batch.queue.systems import BATCH_SYSTEMS, batch_system
from runner.errors import UsageError

SCRIPT = Path("/scans/runner-jobs/recon-1/job.sh")


def waiting(word: str) -> JobState:
    return JobState(phase="waiting", word=word)


def running(word: str) -> JobState:
    return JobState(phase="running", word=word)


def ended(word: str, code: int | None) -> JobState:
    return JobState(phase="ended", word=word, exit_code=code)


@pytest.mark.parametrize(
    ("system", "argv", "behind"),
    [
        ("slurm", "sbatch --parsable SCRIPT", "sbatch --parsable --dependency=afterany:7 SCRIPT"),
        ("pbs", "qsub SCRIPT", "qsub -W depend=afterany:7 SCRIPT"),
        ("pbs-pals", "qsub SCRIPT", "qsub -W depend=afterany:7 SCRIPT"),
        ("sge", "qsub -terse SCRIPT", "qsub -terse -hold_jid 7 SCRIPT"),
        ("oar", "oarsub --scanscript SCRIPT", "oarsub --anterior 7 --scanscript SCRIPT"),
        ("lsf", "bsub", "bsub -w ended(7)"),
        ("lsf-jsrun", "bsub", "bsub -w ended(7)"),
        ("htcondor", "condor_submit -terse SCRIPT", None),
        ("flux", "flux batch SCRIPT", "flux batch --dependency=afterany:7 SCRIPT"),
    ],
)
def test_submit(system: str, argv: str, behind: str | None) -> None:
    def command(line: str) -> Command:
        words = tuple(str(SCRIPT) if word == "SCRIPT" else word for word in line.split())
        return Command(words, stdin=SCRIPT if system.startswith("lsf") else None)

    assert batch_system(system).submit(SCRIPT) == command(argv)
    if behind is None:
        with pytest.raises(UsageError, match="lets no job wait"):
            batch_system(system).submit(SCRIPT, after="7")
    else:
        assert batch_system(system).submit(SCRIPT, after="7") == command(behind)


@pytest.mark.parametrize(
    ("system", "said", "job_id"),
    [
        ("slurm", "12\n", "12"),
        ("slurm", "12;main\n", "12"),
        ("slurm", "", None),
        ("pbs", "1234.pbs01\n", "1234.pbs01"),
        ("pbs", "1234[].pbs01.site.org\n", "1234[].pbs01.site.org"),
        ("pbs", "1234\n", "1234"),
        ("pbs", "welcome to PBS\n", None),
        ("sge", "3\n", "3"),
        ("sge", "3.1-5:2\n", "3"),
        ("oar", "[ADMISSION RULE] Modify resource description\nOAR_JOB_ID=5\n", "5"),
        ("oar", "OAR_JOB_ID=-5\n", None),
        ("lsf", "Job <99> is submitted to default queue <normal>.\n", "99"),
        ("htcondor", "12.0 - 12.0\n", "12"),
        ("flux", "ƒM7Zq9AKHno\n", "ƒM7Zq9AKHno"),
        ("flux", "fM7Zq9AKHno\n", "fM7Zq9AKHno"),
        ("flux", "flux-batch: ERROR\n", None),
    ],
)
def test_job_id(system: str, said: str, job_id: str | None) -> None:
    assert batch_system(system).job_id(said) == job_id


SCONTROL = (
    "JobId=9 JobName=recon UserId=ana(1000) GroupId=ana(1000) MCS_label=N/A Priority=4294901759 Nice=0 "
    "Account=(null) QOS=(null) JobState={state} Reason={reason} Dependency=(null) Requeue=1 Restarts=0 "
    "BatchFlag=1 Reboot=0 ExitCode={code} RunTime=00:00:05 TimeLimit=01:00:00 Command=/scans/job.sh "
    "WorkDir=/scans StdErr=/scans/recon-9.out StdIn=/dev/null StdOut=/scans/recon-9.out Power= \n"
)


def scontrol(state: str, code: str = "0:0", reason: str = "None") -> str:
    return SCONTROL.format(state=state, code=code, reason=reason)


@pytest.mark.parametrize(
    ("said", "state"),
    [
        (scontrol("PENDING", reason="Resources"), waiting("PENDING (Resources)")),
        (scontrol("CONFIGURING"), running("CONFIGURING")),
        (scontrol("RUNNING"), running("RUNNING")),
        (scontrol("COMPLETING", "3:0"), running("COMPLETING")),
        (scontrol("COMPLETED"), ended("COMPLETED", 0)),
        (scontrol("FAILED", "75:0", "NonZeroExitCode"), ended("FAILED (NonZeroExitCode)", 75)),
        (scontrol("FAILED", "0:9"), ended("FAILED", 137)),
        (scontrol("CANCELLED", "0:15"), ended("CANCELLED", 143)),
        (scontrol("CANCELLED", "0:0"), ended("CANCELLED", 143)),
        (scontrol("TIMEOUT", "0:0", "TimeLimit"), ended("TIMEOUT (TimeLimit)", 143)),
        (scontrol("NODE_FAIL", "0:0"), ended("NODE_FAIL", 1)),
        (scontrol("COMPLETED") + scontrol("RUNNING") + scontrol("PENDING"), running("RUNNING")),
        (scontrol("COMPLETED") + scontrol("PENDING"), waiting("PENDING")),
        (scontrol("COMPLETED") + scontrol("FAILED", "3:0"), ended("FAILED", 3)),
        ("", None),
    ],
)
def test_scontrol(said: str, state: JobState | None) -> None:
    assert slurm.read_scontrol(said) == state


@pytest.mark.parametrize(
    ("said", "state"),
    [
        ("COMPLETED|0:0\n", ended("COMPLETED", 0)),
        ("CANCELLED by 1000|0:15\n", ended("CANCELLED", 143)),
        ("TIMEOUT|0:0\n", ended("TIMEOUT", 143)),
        ("OUT_OF_MEMORY|0:125\n", ended("OUT_OF_MEMORY", 253)),
        ("PENDING|0:0\n", waiting("PENDING")),
        ("", None),
    ],
)
def test_sacct(said: str, state: JobState | None) -> None:
    assert slurm.read_sacct(said) == state


def test_where_the_output_goes() -> None:
    expected = Path("/scans/recon-9.out")
    assert BATCH_SYSTEMS["slurm"].log_in(scontrol("RUNNING")) == expected
    assert (
        BATCH_SYSTEMS["pbs"].log_in("Job Id: 9.s\n    Output_Path = s.org:/scans/re\n\tcon-9.out\n")
        == expected
    )
    assert BATCH_SYSTEMS["oar"].log_in(OARSTAT.format(state="Running", code="")) == Path("/scans/recon-5.out")
    for system in ("sge", "lsf", "htcondor", "flux"):
        assert BATCH_SYSTEMS[system].log_in("anything") is None


def qstat(letter: str, *more: str) -> str:
    lines = [
        "Job Id: 1234.pbs01",
        "    Job_Name = recon",
        f"    job_state = {letter}",
        "    queue = gpu",
        *more,
    ]
    return "\n".join(lines)


@pytest.mark.parametrize(
    ("said", "state"),
    [
        (qstat("Q"), waiting("queued")),
        (qstat("H"), waiting("held")),
        (qstat("R"), running("running")),
        (qstat("E"), running("exiting")),
        (qstat("F", "    Exit_status = 0"), ended("finished", 0)),
        (qstat("F", "    Exit_status = 75"), ended("finished", 75)),
        (qstat("F", "    Exit_status = 271"), ended("finished", 143)),
        (qstat("F", "    Exit_status = -29"), ended("finished", 143)),
        (qstat("F"), ended("finished", None)),
        ("", None),
    ],
)
def test_qstat_of_pbs(said: str, state: JobState | None) -> None:
    assert pbs.read_qstat(said) == state


OARSTAT = """\
Job_Id: 5
    job_array_id = 5
    job_array_index = 1
    name = recon
    project = default
    owner = ana
    state = {state}
    wanted_resources = -l "{{type = 'default'}}/host=2/core=2,walltime=0:2:0"
    command = ./job.sh
{code}    launchingDirectory = /scans
    stdout_file = recon-5.out
    stderr_file = recon-5.out
    initial_request = oarsub -S ./job.sh
    message = R=4,W=0:2:0,J=B (state = fine)
"""


@pytest.mark.parametrize(
    ("word", "code", "state"),
    [
        ("Waiting", "", waiting("Waiting")),
        ("Hold", "", waiting("Hold")),
        ("Running", "", running("Running")),
        ("Finishing", "", running("Finishing")),
        ("Terminated", "    exit_code = 0 (0,0,0)\n", ended("Terminated", 0)),
        ("Terminated", "    exit_code = 19200 (75,0,0)\n", ended("Terminated", 75)),
        ("Terminated", "    exit_code = 9 (0,9,0)\n", ended("Terminated", 137)),
        ("Terminated", "", ended("Terminated", None)),
        ("Error", "", ended("Error", 143)),
        ("Error", "    exit_code = 0 (0,0,0)\n", ended("Error", 1)),
        ("Whatever", "", None),
    ],
)
def test_oarstat(word: str, code: str, state: JobState | None) -> None:
    assert oar.read_oarstat(OARSTAT.format(state=word, code=code)) == state
    assert oar.read_oarstat("") is None


@pytest.mark.parametrize(
    ("said", "state"),
    [
        ("PEND     -         \n", waiting("PEND")),
        ("RUN      -         \n", running("RUN")),
        ("DONE     -         \n", ended("DONE", 0)),
        ("EXIT     75        \n", ended("EXIT", 75)),
        ("EXIT     -         \n", ended("EXIT", 143)),
        ("", None),
    ],
)
def test_bjobs(said: str, state: JobState | None) -> None:
    assert lsf.read_bjobs(said) == state


@pytest.mark.parametrize(
    ("said", "state"),
    [
        ("1 undefined undefined\n", waiting("idle")),
        ("2 undefined undefined\n", running("running")),
        ("5 undefined undefined\n", waiting("held")),
        ("4 0 undefined\n", ended("completed", 0)),
        ("4 75 undefined\n", ended("completed", 75)),
        ("4 undefined 9\n", ended("completed", 137)),
        ("3 undefined undefined\n", ended("removed", 143)),
        ("", None),
    ],
)
def test_condor(said: str, state: JobState | None) -> None:
    assert htcondor.read_ad(said) == state


@pytest.mark.parametrize(
    ("said", "state"),
    [
        ("PENDING \n", waiting("PENDING")),
        ("DEPEND \n", waiting("DEPEND")),
        ("RUN \n", running("RUN")),
        ("COMPLETED 0\n", ended("COMPLETED", 0)),
        ("FAILED 75\n", ended("FAILED", 75)),
        ("FAILED -9\n", ended("FAILED", 137)),
        ("CANCELED -128\n", ended("CANCELED", 143)),
        ("CANCELED \n", ended("CANCELED", 143)),
        ("", None),
    ],
)
def test_flux_jobs(said: str, state: JobState | None) -> None:
    assert flux.read_jobs(said) == state


@pytest.mark.parametrize(
    ("system", "said"),
    [
        ("slurm", "slurm_load_jobs error: Invalid job id specified"),
        ("slurm", "Slurm accounting storage is disabled"),
        ("pbs", "qstat: Unknown Job Id 1234.pbs01"),
        ("pbs", "qstat: 1234.pbs01 Job has finished, use -x or -H to obtain historical job information"),
        ("pbs", "qstat: PBS is not configured to maintain job history"),
        ("sge", "error: job id 99 not found"),
        ("lsf", "Job <99> is not found"),
        ("flux", "flux-jobs: ERROR: JobID ƒM unknown"),
    ],
)
def test_a_job_that_is_not_known(system: str, said: str) -> None:
    assert batch_system(system).forgotten.search(said)


@pytest.mark.parametrize(
    ("system", "said"),
    [
        ("slurm", "slurm_load_jobs error: Unable to contact slurm controller (connect failure)"),
        ("pbs", "Connection refused"),
        ("sge", "error: unable to send message to qmaster using port 6444 on host head"),
        ("lsf", "LSF is down. Please wait ..."),
    ],
)
def test_a_system_that_is_down_has_not_forgotten_the_job(system: str, said: str) -> None:
    assert not batch_system(system).forgotten.search(said)


#: What each of these reads, and pieces that its answers are made of.
READERS = {
    slurm.read_scontrol: ["JobState=", "RUNNING", "PENDING", "ExitCode=", "1:0", "Reason=", " ", "\n"],
    slurm.read_sacct: ["COMPLETED", "|", "0:0", "CANCELLED by 1", "\n"],
    pbs.read_qstat: ["job_state = ", "F", "R", "Z", "Exit_status = ", "-3", "\n", "    "],
    oar.read_oarstat: ["    state = ", "Terminated", "Error", "    exit_code = ", "256", "\n"],
    lsf.read_bjobs: ["EXIT", "RUN", " ", "-", "3", "\n"],
    htcondor.read_ad: ["4", "2", "undefined", " ", "0", "\n"],
    flux.read_jobs: ["FAILED", "RUN", " ", "-9", "-128", "\n"],
}


@pytest.mark.parametrize("reader", READERS, ids=lambda reader: reader.__name__)
@given(data=st.data())
def test_no_answer_is_too_odd_to_be_read(
    reader: Callable[[str], JobState | None], data: st.DataObject
) -> None:
    pieces = st.sampled_from(READERS[reader]) | st.text(max_size=3) | st.integers().map(str)
    state = reader("".join(data.draw(st.lists(pieces, max_size=12))))
    if state is not None and state.exit_code is not None:
        assert state.phase == "ended"
        assert state.exit_code >= 0


@pytest.mark.parametrize("name", BATCH_SYSTEMS)
def test_every_system_ends_jobs_and_shows_them(name: str) -> None:
    system = batch_system(name)
    assert system.cancel(("1", "2")).argv[-2:] == ("1", "2")
    assert "12" in system.watch("12")
    assert "12" in system.log("recon", "12")
    assert "recon" in system.log("recon", "12")
    assert name.partition("-")[0] == system.name


def test_the_output_of_a_job_is_where_its_script_says() -> None:
    from runner.batch.request import JobRequest
    from runner.batch.script import render

    placeholders = {
        "slurm": "%x-%j.out",
        "oar": "recon-%jobid%.out",
        "lsf": "recon.%J.out",
        "lsf-jsrun": "recon.%J.out",
        "htcondor": "recon.$(Cluster).$(Node).out",
        "flux": "recon-{{id}}.out",
    }
    for name, placeholder in placeholders.items():
        script = render(name, JobRequest(command=("job.py",), name="recon"))
        assert placeholder in script
        filled = placeholder
        for mark, value in (
            ("%x", "recon"),
            ("%jobid%", "12"),
            ("%j", "12"),
            ("%J", "12"),
            ("$(Cluster)", "12"),
            ("$(Node)", "0"),
            ("{{id}}", "12"),
        ):
            filled = filled.replace(mark, value)
        assert batch_system(name).log("recon", "12") == filled


def test_there_is_nothing_to_submit_to_without_a_batch_system() -> None:
    with pytest.raises(UsageError, match="nothing can be submitted to 'mpi'"):
        batch_system("mpi")
