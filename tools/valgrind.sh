#!/bin/bash
# tools/valgrind.sh: valgrind, for the test that counts instructions; where it cannot be had, that test is skipped.
set -uo pipefail

command -v valgrind >/dev/null && exit 0
if [ "$(id -u)" != 0 ] || ! command -v apt-get >/dev/null; then
    echo 'valgrind is not installed, and no test counts instructions: sudo apt-get install valgrind'
    exit 0
fi
echo 'installing valgrind'
{ apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends valgrind; } \
    >/dev/null || echo 'apt-get install valgrind failed, and no test counts instructions'
