#!/bin/bash
# Submit with: bsub FILE, or bsub < FILE, as the site has it
# For LSF with jsrun (the class of Summit). Not run: none was at hand; written from the manuals of its sites.
#BSUB -J runner
#BSUB -nnodes 1
#BSUB -o runner.%J.out

# Lines like "module load ..." or "conda activate ..." go here; the Python below needs none of them.
set -euo pipefail
# for every rank: parallel file systems refuse HDF5's locks
settings=(HDF5_USE_FILE_LOCKING=FALSE)
settings+=(RUNNER_JOB="lsf-$LSB_JOBID-${LSB_JOBINDEX:-0}-$$")
cd "$LS_SUBCWD"

# one resource set on each node, for all ranks there: each worker is given one of the set's GPUs
exec jsrun -n 1 -r 1 -a 1 -c ALL_CPUS -b none \
    env "${settings[@]}" /opt/env/bin/python -u -m runner job.py
