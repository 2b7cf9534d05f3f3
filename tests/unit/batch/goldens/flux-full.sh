#!/bin/bash -l
# Submit with: flux batch FILE
# For Flux. Not run: no Flux was at hand; written from its manuals.
# flux: --job-name=recon
# flux: --nodes=2 --nslots=2 --cores-per-slot=40
# flux: --gpus-per-slot=10
# flux: --time-limit=7200s
# flux: --queue=gpu
# flux: --bank=abc
# flux: --output=recon-{{id}}.out
# flux: --exclusive

module load mpi
ulimit -c 0
set -euo pipefail
# for every rank: parallel file systems refuse HDF5's locks
settings=(HDF5_USE_FILE_LOCKING=FALSE)
settings+=(RUNNER_SCRATCH="/local/$USER")
settings+=(RUNNER_JOB="flux-$(flux getattr jobid)-$$")
left=$(flux job timeleft 2>/dev/null || true)
if [[ $left =~ ^[0-9]+$ ]]; then # nothing, or no number, where there is no limit
    settings+=(RUNNER_END=$(($(date +%s) + left)))
fi

# the script is a Flux of its own on the job's nodes; each worker is given one of its node's GPUs
exec flux run --nodes=2 --ntasks=10 --cores-per-task=8 --unbuffered \
    -o cpu-affinity=per-task -o gpu-affinity=off \
    env "${settings[@]}" '/opt/my env/bin/python' -u -m runner --threads 8 --interface ib0 --logs logs reconstruct 'my scan.nx' 'it'"'"'s.h5'
