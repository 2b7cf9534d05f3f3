"""What is left of a job's environment when it submits another job."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runner.batch.scrub import scrubbed
from tests.unit.batch.environments import FOLDER, recorded

OURS = {"PATH": "/usr/bin", "HOME": "/home/ana", "OMP_NUM_THREADS": "4", "CONDA_PREFIX": "/opt/env"}
SITE = {
    "SLURM_CONF": "/etc/slurm/slurm.conf",
    "SBATCH_ACCOUNT": "abc",
    "SGE_ROOT": "/var/lib/gridengine",
    "SGE_CELL": "default",
    "PBS_SERVER": "pbs01",
    "LSF_ENVDIR": "/opt/lsf/conf",
    "FLUX_URI": "local:///run/flux/local",
    "RUNNER_RENDEZVOUS_DIR": "/shared/ana",
}
#: Grid Engine's own places, recorded with the rest; the system is found by them.
PLACES = {
    "SGE_ROOT",
    "SGE_CELL",
    "SGE_ARCH",
    "SGE_ACCOUNT",
    "SGE_BINARY_PATH",
    "SGE_RSH_COMMAND",
    "SGE_CWD_PATH",
}
HARMLESS = {
    "ARC",
    "FLUX_URI",
    "TMPDIR",
    "TMP",
    "PERL5LIB",
    "CUDA_VISIBLE_DEVICES",
    "NCPUS",
    "OMP_NUM_THREADS",
    "I_MPI_HYDRA_TOPOLIB",
}


@pytest.mark.parametrize("name", sorted(file.stem for file in FOLDER.glob("*.env")))
def test_nothing_of_a_recorded_job_is_left(name: str) -> None:
    left = set(scrubbed(OURS | recorded(name))) - set(OURS)
    assert left <= PLACES | HARMLESS


def test_what_is_the_persons_and_the_sites_stays() -> None:
    assert scrubbed(OURS | SITE) == OURS | SITE


def test_what_would_overrule_the_script_goes() -> None:
    left = scrubbed(SITE, written=frozenset({"SBATCH_ACCOUNT"}))
    assert left == {name: value for name, value in SITE.items() if name != "SBATCH_ACCOUNT"}


@pytest.mark.parametrize(
    "name",
    [
        "SLURM_CPU_BIND",
        "SBATCH_CPU_BIND_LIST",
        "PMI_RANK",
        "PMIX_NAMESPACE",
        "OMPI_COMM_WORLD_RANK",
        "PALS_RANKID",
        "FLUX_JOB_ID",
        "_CONDOR_PROCNO",
        "LSB_JOBID",
        "JSM_NAMESPACE_RANK",
        "RUNNER_RANK",
        "RUNNER_JOB",
        "RUNNER_END",
    ],
)
def test_a_variable_of_the_other_job_goes(name: str) -> None:
    assert scrubbed({name: "1"} | OURS) == OURS


def test_a_scratch_folder_is_a_persons_outside_of_a_job_only() -> None:
    assert "RUNNER_SCRATCH" in scrubbed({"RUNNER_SCRATCH": "/nvme"})
    assert "RUNNER_SCRATCH" not in scrubbed({"RUNNER_SCRATCH": "/local/pbs.12", "RUNNER_JOB": "pbs-12"})


@given(st.dictionaries(st.from_regex(r"[A-Z_]{1,8}", fullmatch=True), st.text(max_size=3)))
def test_scrubbing_takes_away_only_and_twice_is_once(environ: dict[str, str]) -> None:
    left = scrubbed(environ)
    assert left.items() <= environ.items()
    assert scrubbed(left) == left
