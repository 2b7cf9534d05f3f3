#!/bin/bash -l
# Submit with: qsub FILE
# For PBS Pro and OpenPBS. Not run: no PBS was at hand; written from its manuals.
#PBS -N recon
#PBS -l select=2:ncpus=40:mpiprocs=5:ngpus=10:mem=409600mb
#PBS -l place=scatter
#PBS -l walltime=02:00:00
#PBS -q gpu
#PBS -A abc
#PBS -j oe -k doe
#PBS --exclusive

module load mpi
ulimit -c 0
set -euo pipefail
# for every rank: parallel file systems refuse HDF5's locks
settings=(HDF5_USE_FILE_LOCKING=FALSE)
settings+=(RUNNER_SCRATCH="/local/$USER")
settings+=(RUNNER_JOB="pbs-$PBS_JOBID-$$")
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
cd "$PBS_O_WORKDIR" # PBS starts in the home folder

# the node file has one line per rank (mpiprocs)
exec mpirun -n "$(wc -l < "$PBS_NODEFILE")" -machinefile "$PBS_NODEFILE" \
    env "${settings[@]}" '/opt/my env/bin/python' -u -m runner --threads 8 --interface ib0 --logs logs reconstruct 'my scan.nx' 'it'"'"'s.h5'
