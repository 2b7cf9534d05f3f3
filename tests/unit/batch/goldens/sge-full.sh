#!/bin/bash -l
# Submit with: qsub FILE
# For Grid Engine. The parallel environment must let mpirun start processes on its hosts: ask the site for its name.
#$ -S /bin/bash
#$ -N recon
#$ -cwd
#$ -j y
#$ -notify
#$ -pe mpi-node 80
#$ -l h_rt=02:00:00
#$ -l gpu=a100:10
#$ -q gpu
#$ -P abc
#$ --exclusive

module load mpi
ulimit -c 0
set -euo pipefail
# for every rank: parallel file systems refuse HDF5's locks
settings=(HDF5_USE_FILE_LOCKING=FALSE)
settings+=(RUNNER_SCRATCH="/local/$USER")
settings+=(RUNNER_JOB="sge-$JOB_ID-$$")
# Open MPI 5, Open MPI 4 and Intel MPI would bind a rank with all its threads to a single core
export PRTE_MCA_hwloc_default_binding_policy=none OMPI_MCA_hwloc_base_binding_policy=none I_MPI_PIN=off
# a rank for each line of the file: Open MPI would fill all cores of a host that stands there once
export PRTE_MCA_rmaps_default_mapping_policy=seq:oversubscribe OMPI_MCA_rmaps_base_mapping_policy=seq:oversubscribe
# Open MPI passes none of this on to other hosts
for name in PYTHONPATH LD_LIBRARY_PATH ${!RUNNER_@}; do
    [ -z "${!name:-}" ] || settings=("$name=${!name}" "${settings[@]}")
done
# this system does not say when it ends the job; it began a moment before this line
settings+=(RUNNER_END=$(($(date +%s) + 7200 - 30)))

# one rank for every 8 of a host's slots, one line per rank; Grid Engine removes the folder
hosts=${TMPDIR:-$TMP}/hosts
awk '{for (rank = 1; rank <= int($2 / 8); rank++) print $1}' "$PE_HOSTFILE" > "$hosts"
ranks=$(wc -l < "$hosts")
if [ "$ranks" -lt 10 ]; then
    echo "runner: $ranks of 10 ranks: the parallel environment left hosts with less than 8 slots for one" >&2
    [ "$ranks" -gt 0 ] || exit 69
fi
exec mpirun -n "$(wc -l < "$hosts")" -machinefile "$hosts" \
    env "${settings[@]}" '/opt/my env/bin/python' -u -m runner --threads 8 --interface ib0 --logs logs reconstruct 'my scan.nx' 'it'"'"'s.h5'
