#!/bin/bash
# Run all tests, in three parts side by side: those on the virtual hosts and those of clusters on this machine,
# which wait a good deal, and all others, which compute.
set -uo pipefail
hosts='slurm or sge or oar or hosts'
logs=$(mktemp -d)
trap 'rm -rf "$logs"' EXIT

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
