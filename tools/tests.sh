#!/bin/bash
# Run all tests: those of clusters, which wait a good deal, and all others beside them.
set -uo pipefail
others=$(mktemp)
.venv/bin/pytest -p no:cacheprovider --ignore=tests/cluster > "$others" 2>&1 &
.venv/bin/pytest tests/cluster
clusters=$?
wait "$!"
code=$?
cat "$others"
rm -f "$others"
exit "$((clusters || code))"
