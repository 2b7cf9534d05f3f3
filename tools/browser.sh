#!/bin/bash
# tools/browser.sh: Chromium for the tests of pages, when root on Debian; without it these tests are skipped.
set -euo pipefail

for name in chromium chromium-browser google-chrome; do
    if command -v "$name" >/dev/null; then exit 0; fi
done
if [ "$(id -u)" != 0 ] || ! command -v apt-get >/dev/null; then exit 0; fi
echo "installing chromium"
log=$(mktemp)
trap 'rm -f "$log"' EXIT
{ apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends chromium; } \
    > "$log" 2>&1 || { tail -n 5 "$log"; echo "chromium cannot be installed: the tests of pages are skipped"; }
