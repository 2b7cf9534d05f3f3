#!/bin/bash
# Submit with: flux batch FILE
# For Flux. Not run: no Flux was at hand; written from its manuals.
# flux: --job-name=runner
# flux: --nodes=1 --nslots=1 --cores-per-slot=1
# flux: --output=runner-{{id}}.out

# Lines like "module load ..." or "conda activate ..." go here; the Python below needs none of them.
set -euo pipefail
# for every rank: parallel file systems refuse HDF5's locks
settings=(HDF5_USE_FILE_LOCKING=FALSE)
settings+=(RUNNER_JOB="flux-$(flux getattr jobid)-$$")
left=$(flux job timeleft 2>/dev/null || true)
if [[ $left =~ ^[0-9]+$ ]]; then # nothing, or no number, where there is no limit
    settings+=(RUNNER_END=$(($(date +%s) + left)))
fi

# the script is a Flux of its own on the job's nodes; each worker is given one of its node's GPUs
exec flux run --nodes=1 --ntasks=1 --unbuffered \
    -o cpu-affinity=per-task -o gpu-affinity=off \
    env "${settings[@]}" /opt/env/bin/python -u -m runner job.py
