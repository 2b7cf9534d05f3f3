#!/bin/bash
# Submit with: chmod +x FILE; oarsub -S ./FILE
#OAR -n runner
#OAR -l /nodes=1/core=2,walltime=00:01:00
#OAR -O runner-%jobid%.out
#OAR -E runner-%jobid%.out

# Lines like "module load ..." or "conda activate ..." go here; the Python below needs none of them.
set -euo pipefail
# for every rank: parallel file systems refuse HDF5's locks
settings=(HDF5_USE_FILE_LOCKING=FALSE)
settings+=(RUNNER_JOB="oar-$OAR_JOB_ID-$$")
cd "$OAR_WORKDIR"

# 1 per host, one line per rank; OAR's own file repeats a host per core
hosts=$(mktemp)
awk '!seen[$1]++ {for (rank = 1; rank <= 1; rank++) print $1}' "$OAR_NODEFILE" > "$hosts"
exec 9< "$hosts" && rm "$hosts" # nothing is left behind, and what starts the ranks can still read it
hosts=/dev/fd/9
exec /opt/env/bin/python -m runner launch-hosts --hosts "$hosts" --ssh "oarsh" -- \
    env "${settings[@]}" /opt/env/bin/python -u -m runner --threads 2 job.py
