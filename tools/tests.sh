#!/bin/bash
# Run all tests, in three parts side by side: those on the virtual hosts and those of clusters on this machine,
# which wait a good deal, and all others, which compute.
set -uo pipefail
hosts='slurm or sge or oar or hosts'
logs=$(mktemp -d)
trap 'rm -rf "$logs"' EXIT

# The kernels first: else all three wait for one that compiles, and some of its tests have little time.
.venv/bin/python -c '
import numpy
from runner.tomo import Reconstructor
with Reconstructor(angles=numpy.arange(180.0), columns=64) as reconstruct:
    reconstruct(numpy.ones((1, 180, 64), numpy.float32))
'

.venv/bin/pytest -p no:cacheprovider --ignore=tests/cluster > "$logs/others" 2>&1 &
others=$!
.venv/bin/pytest -p no:cacheprovider tests/cluster -m "not ($hosts)" > "$logs/here" 2>&1 &
here=$!
.venv/bin/pytest tests/cluster -m "$hosts"
code=$?
wait "$here" || code=$?
wait "$others" || code=$?
cat "$logs/here" "$logs/others"
exit "$code"
