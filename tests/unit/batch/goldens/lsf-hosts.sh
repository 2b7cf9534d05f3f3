#!/bin/bash
# Submit with: bsub < FILE
# For LSF with mpirun. Not run: no LSF was at hand; written from its manuals.
#BSUB -J runner
#BSUB -n 2
#BSUB -R "span[ptile=2]"
#BSUB -W 0:01
#BSUB -o runner.%J.out

# Lines like "module load ..." or "conda activate ..." go here; the Python below needs none of them.
set -euo pipefail
# for every rank: parallel file systems refuse HDF5's locks
settings=(HDF5_USE_FILE_LOCKING=FALSE)
settings+=(RUNNER_JOB="lsf-$LSB_JOBID-${LSB_JOBINDEX:-0}-$$")
# this system does not say when it ends the job; it began a moment before this line
settings+=(RUNNER_END=$(($(date +%s) + 60 - 30)))
cd "$LS_SUBCWD"

# LSF repeats a host per slot; one rank for every 2 of a host's slots, one line per rank
hosts=$(mktemp)
awk '++slots[$1] % 2 == 0 {print $1}' "$LSB_DJOB_HOSTFILE" > "$hosts"
exec 9< "$hosts" && rm "$hosts" # nothing is left behind, and what starts the ranks can still read it
hosts=/dev/fd/9
exec /opt/env/bin/python -m runner launch-hosts --hosts "$hosts" --ssh "blaunch" -- \
    env "${settings[@]}" /opt/env/bin/python -u -m runner --threads 2 job.py
