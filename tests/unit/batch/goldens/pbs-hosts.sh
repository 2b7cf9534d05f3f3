#!/bin/bash
# Submit with: qsub FILE
# For PBS Pro and OpenPBS. Not run: no PBS was at hand; written from its manuals.
#PBS -N runner
#PBS -l select=1:ncpus=2:mpiprocs=1
#PBS -l place=scatter
#PBS -l walltime=00:01:00
#PBS -j oe -k doe

# Lines like "module load ..." or "conda activate ..." go here; the Python below needs none of them.
set -euo pipefail
# for every rank: parallel file systems refuse HDF5's locks
settings=(HDF5_USE_FILE_LOCKING=FALSE)
settings+=(RUNNER_JOB="pbs-$PBS_JOBID-$$")
# this system does not say when it ends the job; it began a moment before this line
settings+=(RUNNER_END=$(($(date +%s) + 60 - 30)))
cd "$PBS_O_WORKDIR" # PBS starts in the home folder

# the node file has one line per rank (mpiprocs)
# pbsdsh knows the lines by their numbers, and passes no standard input on
exec /opt/env/bin/python -m runner launch-hosts --hosts "$PBS_NODEFILE" --no-stdin --ssh "pbsdsh -n {rank} --" -- \
    env "${settings[@]}" /opt/env/bin/python -u -m runner --threads 2 job.py
