#!/bin/bash
# Submit with: qsub FILE
# For PBS with the mpiexec of PALS (HPE Cray EX). Not run: none was at hand; written from the manuals of its sites.
#PBS -N runner
#PBS -l select=1
#PBS -l place=scatter
#PBS -j oe -k doe

# Lines like "module load ..." or "conda activate ..." go here; the Python below needs none of them.
set -euo pipefail
# for every rank: parallel file systems refuse HDF5's locks
settings=(HDF5_USE_FILE_LOCKING=FALSE)
settings+=(RUNNER_JOB="pbs-$PBS_JOBID-$$")
cd "$PBS_O_WORKDIR" # PBS starts in the home folder

# the nodes are the job's; a depth of CPUs for each rank, so that its threads do not share one
nodes=$(sort -u "$PBS_NODEFILE" | wc -l)
exec mpiexec -n "$((nodes * 1))" --ppn 1 --cpu-bind none \
    env "${settings[@]}" /opt/env/bin/python -u -m runner job.py
