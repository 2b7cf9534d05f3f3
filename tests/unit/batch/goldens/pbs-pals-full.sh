#!/bin/bash -l
# Submit with: qsub FILE
# For PBS with the mpiexec of PALS (HPE Cray EX). Not run: none was at hand; written from the manuals of its sites.
#PBS -N recon
#PBS -l select=2:ngpus=10:mem=409600mb
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
# this system does not say when it ends the job; it began a moment before this line
settings+=(RUNNER_END=$(($(date +%s) + 7200 - 30)))
cd "$PBS_O_WORKDIR" # PBS starts in the home folder

# the nodes are the job's; a depth of CPUs for each rank, so that its threads do not share one
nodes=$(sort -u "$PBS_NODEFILE" | wc -l)
exec mpiexec -n "$((nodes * 5))" --ppn 5 --depth=8 --cpu-bind depth \
    env "${settings[@]}" '/opt/my env/bin/python' -u -m runner --threads 8 --interface ib0 --logs logs reconstruct 'my scan.nx' 'it'"'"'s.h5'
