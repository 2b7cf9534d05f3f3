#!/bin/bash
# Submit with: bsub < FILE
# For LSF with mpirun. Not run: no LSF was at hand; written from its manuals.
#BSUB -J runner
#BSUB -n 1
#BSUB -R "span[ptile=1]"
#BSUB -o runner.%J.out

# Lines like "module load ..." or "conda activate ..." go here; the Python below needs none of them.
set -euo pipefail
# for every rank: parallel file systems refuse HDF5's locks
settings=(HDF5_USE_FILE_LOCKING=FALSE)
settings+=(RUNNER_JOB="lsf-$LSB_JOBID-${LSB_JOBINDEX:-0}-$$")
# Open MPI 5, Open MPI 4 and Intel MPI would bind a rank with all its threads to a single core
export PRTE_MCA_hwloc_default_binding_policy=none OMPI_MCA_hwloc_base_binding_policy=none I_MPI_PIN=off
# a rank for each line of the file: Open MPI would fill all cores of a host that stands there once
export PRTE_MCA_rmaps_default_mapping_policy=seq:oversubscribe OMPI_MCA_rmaps_base_mapping_policy=seq:oversubscribe
# Open MPI passes none of this on to other hosts
for name in PYTHONPATH LD_LIBRARY_PATH ${!RUNNER_@}; do
    [ -z "${!name:-}" ] || settings=("$name=${!name}" "${settings[@]}")
done
# the system's own ssh, for Open MPI 5, Open MPI 4, MPICH and Intel MPI
export PRTE_MCA_plm_ssh_agent=blaunch OMPI_MCA_plm_rsh_agent=blaunch
export HYDRA_LAUNCHER=ssh HYDRA_LAUNCHER_EXEC=blaunch
export I_MPI_HYDRA_BOOTSTRAP=ssh I_MPI_HYDRA_BOOTSTRAP_EXEC=blaunch
cd "$LS_SUBCWD"

# LSF repeats a host per slot; one rank for every 1 of a host's slots, one line per rank
hosts=$(mktemp)
awk '++slots[$1] % 1 == 0 {print $1}' "$LSB_DJOB_HOSTFILE" > "$hosts"
exec 9< "$hosts" && rm "$hosts" # nothing is left behind, and what starts the ranks can still read it
hosts=/dev/fd/9
exec mpirun -n "$(wc -l < "$hosts")" -machinefile "$hosts" \
    env "${settings[@]}" /opt/env/bin/python -u -m runner job.py
