#!/bin/bash
# Run with: bash FILE --hosts HOSTS [further options of runner launch-hosts]
# For machines without a batch system.

# Lines like "module load ..." or "conda activate ..." go here; the Python below needs none of them.
set -euo pipefail
# for every rank: parallel file systems refuse HDF5's locks
settings=(HDF5_USE_FILE_LOCKING=FALSE)
settings+=(RUNNER_JOB="mpi-$(hostname)-$$-$(date +%s)")
# this system does not say when it ends the job; it began a moment before this line
settings+=(RUNNER_END=$(($(date +%s) + 60 - 30)))

exec /opt/env/bin/python -m runner launch-hosts --ranks-per-host 1 "$@" -- \
    env "${settings[@]}" /opt/env/bin/python -u -m runner --threads 2 job.py
