#!/bin/bash
# Submit with: qsub FILE
# For Grid Engine. The parallel environment must let mpirun start processes on its hosts: ask the site for its name.
#$ -S /bin/bash
#$ -N runner
#$ -cwd
#$ -j y
#$ -notify
#$ -pe mpi 1

# Lines like "module load ..." or "conda activate ..." go here; the Python below needs none of them.
set -euo pipefail
# for every rank: parallel file systems refuse HDF5's locks
settings=(HDF5_USE_FILE_LOCKING=FALSE)
settings+=(RUNNER_JOB="sge-$JOB_ID-$$")
# Open MPI 5, Open MPI 4 and Intel MPI would bind a rank with all its threads to a single core
export PRTE_MCA_hwloc_default_binding_policy=none OMPI_MCA_hwloc_base_binding_policy=none I_MPI_PIN=off
# a rank for each line of the file: Open MPI would fill all cores of a host that stands there once
export PRTE_MCA_rmaps_default_mapping_policy=seq:oversubscribe OMPI_MCA_rmaps_base_mapping_policy=seq:oversubscribe
# Open MPI passes none of this on to other hosts
for name in PYTHONPATH LD_LIBRARY_PATH ${!RUNNER_@}; do
    [ -z "${!name:-}" ] || settings=("$name=${!name}" "${settings[@]}")
done

# one rank for every 1 of a host's slots, one line per rank; Grid Engine removes the folder
hosts=${TMPDIR:-$TMP}/hosts
awk '{for (rank = 1; rank <= int($2 / 1); rank++) print $1}' "$PE_HOSTFILE" > "$hosts"
exec mpirun -n "$(wc -l < "$hosts")" -machinefile "$hosts" \
    env "${settings[@]}" /opt/env/bin/python -u -m runner job.py
