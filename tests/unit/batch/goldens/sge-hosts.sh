#!/bin/bash
# Submit with: qsub FILE
# For Grid Engine. The parallel environment must let mpirun start processes on its hosts: ask the site for its name.
#$ -S /bin/bash
#$ -N runner
#$ -cwd
#$ -j y
#$ -notify
#$ -pe mpi 2
#$ -l h_rt=00:01:00

# Lines like "module load ..." or "conda activate ..." go here; the Python below needs none of them.
set -euo pipefail
# for every rank: parallel file systems refuse HDF5's locks
settings=(HDF5_USE_FILE_LOCKING=FALSE)
settings+=(RUNNER_JOB="sge-$JOB_ID-$$")
# this system does not say when it ends the job; it began a moment before this line
settings+=(RUNNER_END=$(($(date +%s) + 60 - 30)))

# one rank for every 2 of a host's slots, one line per rank; Grid Engine removes the folder
hosts=${TMPDIR:-$TMP}/hosts
awk '{for (rank = 1; rank <= int($2 / 2); rank++) print $1}' "$PE_HOSTFILE" > "$hosts"
ranks=$(wc -l < "$hosts")
if [ "$ranks" -lt 1 ]; then
    echo "runner: $ranks of 1 ranks: the parallel environment left hosts with less than 2 slots for one" >&2
    [ "$ranks" -gt 0 ] || exit 69
fi
exec /opt/env/bin/python -m runner launch-hosts --hosts "$hosts" --ssh "qrsh -inherit" -- \
    env "${settings[@]}" /opt/env/bin/python -u -m runner --threads 2 job.py
