"""The environment in which a job is submitted: without what the job that we may be in has left there.

A job that is submitted from inside of another inherits its variables. SLURM then pins its ranks to the cores
of the other (``SLURM_CPU_BIND``) and takes the number of ranks from it; processes take themselves for its
ranks.
"""

from __future__ import annotations

from collections.abc import Mapping

#: How the variables of a job begin, in each system and launcher.
_OF_JOBS = (
    "SLURM_",
    "SLURMD_",
    "SBATCH_",
    "SRUN_",
    "SGE_TASK_",
    "SGE_O_",
    "SGE_STD",
    "SGE_JOB_",
    "PBS_",
    "OAR_",
    "LSB_",
    "LS_SUBCWD",
    "_CONDOR_",
    "FLUX_JOB_",
    "FLUX_TASK_",
    "FLUX_KVS_",
    "COBALT_",
    "PALS_",
    "JSM_",
    "PMI_",
    "PMI2_",
    "PMIX_",
    "OMPI_",
    "PRTE_",
    "HYDRA_",
    "HYDI_",
    "I_MPI_HYDRA_",
    "MPI_LOCAL",
    "RUNNER_",
)
#: Grid Engine's, which share no beginning.
_OF_SGE = frozenset(
    [
        "JOB_ID",
        "JOB_NAME",
        "JOB_SCRIPT",
        "NHOSTS",
        "NQUEUES",
        "NSLOTS",
        "PE",
        "PE_HOSTFILE",
        "QUEUE",
        "REQNAME",
        "REQUEST",
        "RESTARTED",
    ]
)
#: What begins like a job's, and is the site's or the person's: where the system is, what to take by default.
_KEPT = frozenset(
    [
        "SLURM_CONF",
        "SLURM_CONF_SERVER",
        "SLURM_CLUSTERS",
        "SLURM_JWT",
        "SLURM_TIME_FORMAT",
        "SBATCH_ACCOUNT",
        "SBATCH_PARTITION",
        "SBATCH_QOS",
        "SBATCH_RESERVATION",
        "SBATCH_CLUSTERS",
        "PBS_CONF_FILE",
        "PBS_EXEC",
        "PBS_HOME",
        "PBS_SERVER",
        "PBS_DEFAULT",
        "PBS_PRIMARY",
        "PBS_SECONDARY",
        "LSB_DEFAULTQUEUE",
        "LSB_DEFAULTPROJECT",
        "_CONDOR_CONFIG",
        "RUNNER_RENDEZVOUS_DIR",
        "RUNNER_STATUS_DIR",
        "RUNNER_MAPS",
        "RUNNER_DRAIN",
    ]
)


def scrubbed(environ: Mapping[str, str], *, written: frozenset[str] = frozenset()) -> dict[str, str]:
    """Return an environment to submit a job in.

    Parameters
    ----------
    environ : mapping
        This process's environment.
    written : frozenset of str
        Variables that would overrule what the job script says, and therefore go too.
    """
    # outside of a job a person chose the scratch folder, inside of one its script did, for that job
    kept = _KEPT if "RUNNER_JOB" in environ else _KEPT | {"RUNNER_SCRATCH"}
    return {
        name: value
        for name, value in environ.items()
        if name in kept - written or not (name in _OF_SGE or name in written or name.startswith(_OF_JOBS))
    }
