"""Programs of ours in place of launchers and remote shells that are not here; their ranks stay here."""

from __future__ import annotations

import sys
from pathlib import Path

from tests.cluster.processes import MARK

#: Joins the words behind the host and gives them to a shell, in a new session and an environment of its own.
SSH = f"""#!/bin/bash
host=$1; shift
[ "$host" = broken ] && {{ echo "ssh: connect to host broken port 22: No route to host" >&2; exit 255; }}
exec env -i PATH=/usr/bin:/bin HOME="$HOME" {MARK}="${MARK}" HOST_SAYS="$host" TMPDIR="/tmp" \\
    setsid --fork --wait bash -c "$*"
"""
#: As pbsdsh: no shell, no standard input; ends its process when it is told to end.
PBSDSH = f"""#!/bin/bash
[ "$1 $3" = "-n --" ] || exit 2
hosts=($NODES); host=${{hosts[$2]}}; shift 3
told=
trap 'told=yes; [ -z "$!" ] || kill -TERM "$!"' TERM
env -i PATH=/usr/bin:/bin HOME="$HOME" {MARK}="${MARK}" HOST_SAYS="$host" setsid "$@" < /dev/null &
[ -z "$told" ] || kill -TERM "$!"
wait "$!"; code=$?
kill -0 "$!" 2> /dev/null && {{ wait "$!"; code=$?; }}
exit "$code"
"""

_SPAWN = f"""#!{sys.executable} -S
import os, subprocess, sys

def spawn(size, local_size, variables, argv):
    ranks = []
    for rank in range(size):
        numbers = {{"rank": rank, "size": size, "local": rank % local_size, "local_size": local_size}}
        own = {{name: str(numbers.get(value, value)) for name, value in variables.items()}}
        ranks.append(subprocess.Popen(argv, env={{**os.environ, **own}}, stdin=subprocess.DEVNULL))
    sys.exit(max(abs(rank.wait()) for rank in ranks))

def option(name):
    for index, word in enumerate(sys.argv):
        if word == name:
            return int(sys.argv[index + 1])
        if word.startswith(name + "="):
            return int(word.partition("=")[2])
    sys.exit(f"{{sys.argv[0]}}: no option {{name}}")

command = sys.argv[sys.argv.index("env"):] if "env" in sys.argv else []
"""
#: The mpiexec of PALS.
PALS = f"""{_SPAWN}
variables = {{"PALS_RANKID": "rank", "PALS_LOCAL_RANKID": "local", "PALS_LOCAL_SIZE": "local_size",
    "PALS_APID": "apid-1", "PMI_RANK": "rank", "PMI_SIZE": "size"}}
option("--depth")
spawn(option("-n"), option("--ppn"), variables, command)
"""
JSRUN = f"""{_SPAWN}
variables = {{"JSM_NAMESPACE_RANK": "rank", "JSM_NAMESPACE_SIZE": "size",
    "JSM_NAMESPACE_LOCAL_RANK": "local"}}
option("-r"), option("-c")
spawn(option("-n") * option("-a"), option("-a"), variables, command)
"""
FLUX = f"""{_SPAWN}
if sys.argv[1:] == ["getattr", "jobid"]:
    print("\u0192M7Zq9AKHno")
elif sys.argv[1:] == ["job", "timeleft"]:
    print(250)
elif sys.argv[1] == "run":
    variables = {{"FLUX_JOB_ID": "\u0192M7Zq9AKHnp", "FLUX_TASK_RANK": "rank", "FLUX_JOB_SIZE": "size",
        "FLUX_TASK_LOCAL_ID": "local", "PMI_RANK": "rank", "PMI_SIZE": "size"}}
    size = option("--ntasks")
    spawn(size, size // option("--nodes"), variables, command)
else:
    sys.exit(2)
"""


def install(folder: Path, **programs: str) -> None:
    """Write programs, by their names."""
    for name, text in programs.items():
        (folder / name).write_text(text)
        (folder / name).chmod(0o755)


#: A small LSF in the folder above its commands: jobs of this machine, each when the one it waits for is over.
#: What its commands read is whole, and a job is either ended before it begins or has a process to end.
BSUB = """#!/bin/bash
cd "$(dirname "$0")/.." || exit 1
mkdir -p lsf
number=$(cat lsf/last 2> /dev/null || echo 100)
echo $((number + 1)) > lsf/last
cat > "lsf/$number.sh"
[ "$1" = -w ] && after=$(tr -dc 0-9 <<< "$2")
state() { echo "$1" > "lsf/$number.new" && mv "lsf/$number.new" "lsf/$number.state"; }
state "PEND -"
export LSB_JOBID=$number LSB_JOBINDEX=0 LS_SUBCWD=$OLDPWD LSB_DJOB_HOSTFILE=$PWD/hosts
name=$(sed -n 's/^#BSUB -o //p' "lsf/$number.sh"); output=$OLDPWD/${name/\\%J/$number}
(
    while [ -n "$after" ] && ! grep -qE "DONE|EXIT" "lsf/$after.state"; do sleep 0.1; done
    exec 8>> lsf/lock; flock 8
    grep -q EXIT "lsf/$number.state" && exit
    state "RUN -"
    bash "lsf/$number.sh" > "$output" 2>&1 8>&- & echo "$!" > "lsf/$number.pid"
    exec 8>&-
    wait "$!"; code=$?
    if [ "$code" = 0 ]; then state "DONE -"; else state "EXIT $code"; fi
) > /dev/null 2>&1 < /dev/null &
echo "Job <$number> is submitted to default queue <normal>."
"""
BJOBS = """#!/bin/bash
cd "$(dirname "$0")/.." || exit 1
cat "lsf/${!#}.state" 2> /dev/null || { echo "Job <${!#}> is not found" >&2; exit 255; }
"""
BKILL = """#!/bin/bash
cd "$(dirname "$0")/.." || exit 1
exec 8>> lsf/lock; flock 8
for number in "$@"; do
    [ -e "lsf/$number.pid" ] && kill -TERM "$(cat "lsf/$number.pid")" && continue
    echo "EXIT 143" > "lsf/$number.new" && mv "lsf/$number.new" "lsf/$number.state"
done
"""
