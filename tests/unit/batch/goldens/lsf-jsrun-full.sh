#!/bin/bash -l
# Submit with: bsub FILE, or bsub < FILE, as the site has it
# For LSF with jsrun (the class of Summit). Not run: none was at hand; written from the manuals of its sites.
#BSUB -J recon
#BSUB -nnodes 2
#BSUB -W 2:00
#BSUB -q gpu
#BSUB -P abc
#BSUB -alloc_flags gpudefault
#BSUB -o recon.%J.out
#BSUB --exclusive

module load mpi
ulimit -c 0
set -euo pipefail
# for every rank: parallel file systems refuse HDF5's locks
settings=(HDF5_USE_FILE_LOCKING=FALSE)
settings+=(RUNNER_SCRATCH="/local/$USER")
settings+=(RUNNER_JOB="lsf-$LSB_JOBID-${LSB_JOBINDEX:-0}-$$")
# this system does not say when it ends the job; it began a moment before this line
settings+=(RUNNER_END=$(($(date +%s) + 7200 - 30)))
cd "$LS_SUBCWD"

# one resource set on each node, for all ranks there: each worker is given one of the set's GPUs
exec jsrun -n 2 -r 1 -a 5 -c 40 -g 10 -b packed:8 \
    env "${settings[@]}" '/opt/my env/bin/python' -u -m runner --threads 8 --interface ib0 --logs logs reconstruct 'my scan.nx' 'it'"'"'s.h5'
