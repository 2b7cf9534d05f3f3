#!/bin/bash
# tools/environment.sh [EXTRA...]: a virtual environment in .venv with this project (editable) and those extras.
# Says nothing when there is nothing to do; what it did lies in .venv/install.log.
set -euo pipefail
cd "$(dirname "$0")/.."

fail() { printf 'error: %s\n' "$*" >&2; exit 1; }

find_python() {
    local name
    for name in python3 python3.13 python3.12 python3.11; do
        if "$name" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then
            echo "$name"
            return
        fi
    done
    fail "no Python >= 3.11 was found; install one and put it on the PATH"
}

make_environment() {
    local python package
    python=$(find_python)
    if ! "$python" -c 'import venv, ensurepip' 2>/dev/null; then
        package=$("$python" -c 'import sys; print("python{}.{}-venv".format(*sys.version_info))')
        if [ "$(id -u)" != 0 ] || ! command -v apt-get >/dev/null; then
            fail "$python cannot make virtual environments; install it: sudo apt-get install $package"
        fi
        echo "installing $package"
        { apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq "$package"; } >/dev/null ||
            fail "apt-get install $package failed"
    fi
    "$python" -m venv .venv
}

[ -x .venv/bin/python ] || make_environment
extras=$(IFS=,; echo "$*")
stamp=.venv/installed/${extras:-none}
wanted=$(cat setup.cfg pyproject.toml | sha256sum)
[ "$(cat "$stamp" 2>/dev/null)" != "$wanted" ] || exit 0

echo "installing the project${extras:+ with $extras} into .venv"
.venv/bin/python -m pip install --disable-pip-version-check --editable ".${extras:+[$extras]}" > .venv/install.log 2>&1 || {
    tail -n 20 .venv/install.log >&2
    fail "pip could not install the project: see .venv/install.log"
}
mkdir -p .venv/installed
echo "$wanted" > "$stamp"
