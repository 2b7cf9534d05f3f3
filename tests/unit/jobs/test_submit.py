"""``runner submit`` and what follows a job, on systems that cannot be had here: their commands are played.

For SLURM see ``tests/cluster/test_submit.py``.
"""

from __future__ import annotations

import os
import re
from pathlib import Path

import numpy as np
import pytest

from runner.tomo import Reconstructor
from runner.tomo.correct.flatfield import counts_from, integrals_of
from runner.tomo.simulate import Settings, write_scan
from tests.unit.jobs.stand_ins import StandIns


@pytest.fixture
def stand_ins(tmp_path: Path) -> StandIns:
    return StandIns(tmp_path)


#: What the command of each system prints, and the id in it.
SYSTEMS = {
    "lsf": ("bsub", "cat > ../stdin; echo 'Job <77> is submitted to queue <normal>.'", "77", "runner.77.out"),
    "pbs": ("qsub", "cat > ../stdin; echo 77.pbs01", "77.pbs01", "runner.o77"),
    "htcondor": ("condor_submit", "echo '77.0 - 77.0'", "77", "runner.77.0.out"),
    "flux": ("flux", "echo ƒM7Zq9AKHno", "ƒM7Zq9AKHno", "runner-ƒM7Zq9AKHno.out"),
}


def script_of(output: str) -> Path:
    found = re.search(r"^script +(.*)$", output, re.MULTILINE)
    assert found
    return Path(found[1])


@pytest.mark.parametrize("system", SYSTEMS)
def test_submit(stand_ins: StandIns, system: str) -> None:
    name, body, job_id, log = SYSTEMS[system]
    stand_ins.play(name, body)
    if system == "pbs":
        stand_ins.play("pbsnodes", "")
    submitted = stand_ins.run("submit", "--nodes", "2", "--name", "runner", "job.py", "--fast")
    assert submitted.returncode == 0, submitted.stderr
    assert submitted.stderr == ""
    script = script_of(submitted.stdout)
    assert script.is_relative_to(stand_ins.work / "runner-jobs")
    assert "-m runner job.py --fast" in script.read_text()
    assert f" job {job_id} (runner)" in submitted.stdout
    for line in (
        str(stand_ins.work / log),
        f"runner status {job_id}",
        f"runner wait {job_id}",
        f"runner cancel {job_id}",
    ):
        assert line in submitted.stdout
    if system == "lsf":
        assert (stand_ins.folder / "stdin").read_text() == script.read_text()
    else:
        assert str(script) in stand_ins.asked(name)[0]


@pytest.fixture(scope="module")
def kernels() -> None:
    """Have them compiled: what is timed is predicted, and to compile takes long on a machine that is busy."""
    reconstruct = Reconstructor(angles=np.arange(40) * 4.5, columns=48)
    with reconstruct:
        reconstruct(
            integrals_of(
                counts_from(
                    np.ones((40, 8, 48), np.uint16),
                    np.arange(40) + 0.5,
                    np.zeros((8, 48), np.float32),
                    [np.ones((8, 48), np.float32)],
                    [0.0],
                )
            )
        )


@pytest.mark.usefixtures("kernels")
def test_a_job_is_sized_by_what_is_timed(stand_ins: StandIns) -> None:
    stand_ins.play("sbatch", "echo 77")
    write_scan(stand_ins.work / "scan.nx", Settings(rows=40, columns=48, angles=40, center=24.5, noise=False))
    submitted = stand_ins.run(
        *("submit", "--auto", "--ntasks-per-node", "2", "reconstruct", "scan.nx", "volume.h5"),
        XDG_CACHE_HOME=str(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"),  # of compiled kernels
        timeout=100,
    )
    assert submitted.returncode == 0, submitted.stderr
    assert re.search(
        r"^runner: sized: 1 node for 10:00, 2\.0 GiB of memory on each: \d+\.\d s predicted with "
        r"2 workers of 33\d\.\d MiB; the walltime is for 2 times that and 5 minutes$",
        submitted.stderr,
        re.MULTILINE,
    )
    script = script_of(submitted.stdout).read_text()
    assert "#SBATCH --time=00:10:00" in script
    assert "#SBATCH --mem=2048M" in script
    assert sorted(path.name for path in stand_ins.work.iterdir()) == ["job.py", "runner-jobs", "scan.nx"]


@pytest.mark.usefixtures("kernels")
def test_a_batch_of_scans_is_sized_by_all_of_them(stand_ins: StandIns) -> None:
    stand_ins.play("sbatch", "echo 77")
    for name in "abc":
        write_scan(
            stand_ins.work / f"{name}.nx",
            Settings(rows=16, columns=48, angles=40, center=24.5, noise=False),
        )
    submitted = stand_ins.run(
        *("submit", "--auto", "reconstruct", "a.nx", "b.nx", "c.nx", "."),
        XDG_CACHE_HOME=str(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"),
        timeout=100,
    )
    assert submitted.returncode == 0, submitted.stderr
    assert "timed: 2 of 3 scans" in submitted.stderr
    assert "runner: sized: 1 node for 10:00, " in submitted.stderr
    assert "reconstruct a.nx b.nx c.nx ." in script_of(submitted.stdout).read_text()


def test_the_environment_is_scrubbed(stand_ins: StandIns) -> None:
    stand_ins.play("bsub", "echo 'Job <77> is submitted to queue <normal>.'")
    of_a_job = {
        "SLURM_CPU_BIND": "x",
        "LSB_JOBID": "5",
        "PMI_RANK": "3",
        "RUNNER_JOB": "lsf-5",
        "RUNNER_END": "1",
    }
    submitted = stand_ins.run("submit", "job.py", CONDA_PREFIX="/opt/env", **of_a_job)
    assert submitted.returncode == 0, submitted.stderr
    seen = stand_ins.environ("bsub")
    assert not set(of_a_job) & set(seen)
    assert seen["CONDA_PREFIX"] == "/opt/env"


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        ("job.py", 69, "bsub refused the job: gpu: No such queue. Job not submitted."),
        ("nothing.py", 66, "there is no script 'nothing.py' here"),
        ("status", 64, "status is a tool, not a job; run it here: runner status"),
        ("reconstruct scan.nx", 64, "VOLUME"),
        ("", 64, "no job was given"),
        ("--mem 4G job.py", 64, "--mem cannot be given for lsf"),
        ("mpi job.py", 64, "nothing can be submitted to 'mpi'"),
        ("slurm job.py", 69, "there is no command sbatch here"),
        ("--site nowhere job.py", 64, "no profile of a site 'nowhere'"),
        ("--site alcf-polaris job.py", 64, "takes no job without an account"),
        ("map job:main args.txt --name n", 64, "there is no job:main (job has no 'main')"),
        ("--auto job.py", 64, "--auto cannot foresee 'job.py', only the job reconstruct"),
        ("--auto reconstruct nothing.nx volume.h5", 66, "no such file: nothing.nx"),
    ],
)
def test_what_is_wrong_is_one_line(stand_ins: StandIns, words: str, code: int, message: str) -> None:
    stand_ins.play("bsub", "echo 'gpu: No such queue.' >&2; echo 'Job not submitted.' >&2; exit 255")
    submitted = stand_ins.run("submit", *words.split())
    assert submitted.returncode == code
    assert message in submitted.stderr
    assert "Traceback" not in submitted.stderr
    assert len([line for line in submitted.stderr.splitlines() if line.startswith("runner: ")]) <= 1
    assert submitted.stdout == ""


def test_a_folder_that_cannot_be_written(stand_ins: StandIns) -> None:
    stand_ins.play("bsub", "echo 'Job <77> is submitted to queue <normal>.'")
    (stand_ins.work / "runner-jobs").write_text("a file")
    submitted = stand_ins.run("submit", "job.py")
    assert submitted.returncode == 73
    assert "no job script can be kept in" in submitted.stderr
    assert stand_ins.asked("bsub") == []


def test_what_stands_in_a_file_and_is_not_used_is_said(stand_ins: StandIns) -> None:
    stand_ins.play("bsub", "echo 'Job <77> is submitted to queue <normal>.'")
    file = stand_ins.work / "jobqueue.yaml"
    file.write_text("jobqueue: {lsf: {queue: gpu, mem: 4000000000, memory: 4GB}}")
    submitted = stand_ins.run("submit", "--jobqueue", file.name, "job.py")
    assert submitted.returncode == 0, submitted.stderr
    assert "#BSUB -q gpu" in script_of(submitted.stdout).read_text()
    assert "runner: jobqueue.yaml: mem is not used: it has no counterpart here" in submitted.stderr
    assert "runner: jobqueue.yaml: memory is not used: what LSF counts" in submitted.stderr


def test_a_command_that_says_nothing_useful(stand_ins: StandIns) -> None:
    stand_ins.play("bsub", "echo 'Welcome!'")
    submitted = stand_ins.run("submit", "job.py")
    assert submitted.returncode == 69
    assert "bsub gave no job id: Welcome!" in submitted.stderr


def test_options_of_the_runner_go_behind_two_dashes(stand_ins: StandIns) -> None:
    stand_ins.play("bsub", "echo 'Job <77> is submitted to queue <normal>.'")
    submitted = stand_ins.run(
        "submit", "lsf", "--nodes", "2", "--", "--logs", "logs", "job.py", "--nodes", "3"
    )
    assert submitted.returncode == 0, submitted.stderr
    assert "-m runner --logs logs job.py --nodes 3" in script_of(submitted.stdout).read_text()


def test_a_reconstruction_is_submitted(stand_ins: StandIns) -> None:
    stand_ins.play("bsub", "echo 'Job <77> is submitted to queue <normal>.'")
    submitted = stand_ins.run(
        "submit", "--nodes", "4", "reconstruct", "scan.nx", "volume.h5", "--center", "auto"
    )
    assert submitted.returncode == 0, submitted.stderr
    assert "-m runner reconstruct scan.nx volume.h5 --center auto" in script_of(submitted.stdout).read_text()


COUNTING = """
n=$(cat ../count 2> /dev/null || echo 77); echo $((n + 1)) > ../count
echo "Job <$n> is submitted to queue <normal>."
"""


def test_a_chain_is_followed_and_ended_as_one(stand_ins: StandIns) -> None:
    stand_ins.play("bsub", COUNTING)
    stand_ins.play("bkill", "echo done")
    submitted = stand_ins.run("submit", "--parts", "3", "--time", "1:00:00", "job.py")
    assert submitted.returncode == 0, submitted.stderr
    assert "jobs 77, 78, 79, one after the other" in submitted.stdout
    assert "runner wait 79" in submitted.stdout
    assert stand_ins.asked("bsub") == ["", "-w ended(77)", "-w ended(78)"]
    assert "ended=" in script_of(submitted.stdout).read_text()
    cancelled = stand_ins.run("cancel", "78")
    assert (cancelled.returncode, cancelled.stdout) == (0, "LSF was asked to end 78, 79\n")
    assert stand_ins.asked("bkill") == ["78 79"]


def test_a_chain_that_is_refused_half_way_is_taken_back(stand_ins: StandIns) -> None:
    stand_ins.play("bsub", f"if [ $# -gt 0 ]; then echo 'No dependencies here.' >&2; exit 1; fi\n{COUNTING}")
    stand_ins.play("bkill", "")
    submitted = stand_ins.run("submit", "--parts", "3", "job.py")
    assert submitted.returncode == 69
    assert "bsub refused the job: No dependencies here." in submitted.stderr
    assert stand_ins.asked("bkill") == ["77"]


def test_htcondor_has_no_chains(stand_ins: StandIns) -> None:
    stand_ins.play("condor_submit", "echo '77.0 - 77.0'")
    submitted = stand_ins.run("submit", "--parts", "2", "job.py")
    assert submitted.returncode == 64
    assert "HTCondor lets no job wait for the end of another by itself" in submitted.stderr
    assert stand_ins.asked("condor_submit") == []


@pytest.fixture
def lsf(stand_ins: StandIns) -> StandIns:
    """LSF with a job 77 that we submitted; its state is the first line of ``states`` that is left."""
    stand_ins.play("bsub", "echo 'Job <77> is submitted to queue <normal>.'")
    assert stand_ins.run("submit", "job.py").returncode == 0
    stand_ins.play(
        "bjobs",
        'mapfile -t states < ../states; echo "${states[0]}"\n'
        '[ ${#states[@]} -gt 1 ] && printf "%s\\n" "${states[@]:1}" > ../states; exit 0',
    )
    return stand_ins


def test_wait_says_each_change_and_ends_with_the_job(lsf: StandIns) -> None:
    (lsf.folder / "states").write_text("PEND -\nRUN -\nEXIT 75\n")
    waited = lsf.run("wait", "77")
    assert waited.returncode == 75
    assert waited.stderr.splitlines() == [
        "runner: LSF job 77: PEND",
        "runner: LSF job 77: RUN",
        "runner: LSF job 77: EXIT, exit code 75",
    ]


def test_wait_goes_on_when_the_system_is_silent_for_a_moment(lsf: StandIns) -> None:
    lsf.play(
        "bjobs", "if [ -e ../asked ]; then echo 'DONE -'; else > ../asked; echo LSF is down >&2; exit 1; fi"
    )
    waited = lsf.run("wait", "77")
    assert waited.returncode == 0
    assert "cannot be asked for now (bjobs says: LSF is down)" in waited.stderr


def test_wait_for_a_job_that_nobody_knows(lsf: StandIns) -> None:
    lsf.play("bjobs", "echo 'Job <78> is not found' >&2; exit 255")
    waited = lsf.run("wait", "78")
    assert waited.returncode == 69
    assert waited.stderr == "runner: LSF does not know job 78; it may be over for long, or mistyped\n"


def test_status_of_a_job_that_waits(lsf: StandIns) -> None:
    (lsf.folder / "states").write_text("PEND -\n")
    assert lsf.run("status", "77").stdout == "LSF job 77: PEND\n"


def test_the_log_is_printed_and_followed_to_the_end(lsf: StandIns) -> None:
    (lsf.folder / "states").write_text("PEND -\n")
    missing = lsf.run("log", "77")
    assert missing.returncode == 66
    assert "there is no output of LSF job 77 yet" in missing.stderr
    assert "the job is PEND" in missing.stderr
    (lsf.work / "runner.77.out").write_text("hello\nno newline")
    assert lsf.run("log", "77").stdout == "hello\nno newline"
    (lsf.folder / "states").write_text("DONE -\n")
    assert lsf.run("log", "77", "--follow").stdout == "hello\nno newline"


def test_a_refused_cancel_is_told(lsf: StandIns) -> None:
    lsf.play("bkill", "echo 'Job <77>: Job has already finished' >&2; exit 255")
    cancelled = lsf.run("cancel", "77")
    assert cancelled.returncode == 69
    assert cancelled.stderr == "runner: bkill refused: Job <77>: Job has already finished\n"


@pytest.mark.parametrize("tool", ["wait", "cancel", "log"])
def test_without_a_batch_system(stand_ins: StandIns, tool: str) -> None:
    done = stand_ins.run(tool, "12")
    assert done.returncode == 69
    assert "no batch system is here" in done.stderr
