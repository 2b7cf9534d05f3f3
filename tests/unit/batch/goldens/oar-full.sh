#!/bin/bash -l
# Submit with: chmod +x FILE; oarsub -S ./FILE
#OAR -n recon
#OAR -l /nodes=2/gpu=10,walltime=02:00:00
#OAR -q gpu
#OAR --project abc
#OAR -O recon-%jobid%.out
#OAR -E recon-%jobid%.out
#OAR --exclusive

module load mpi
ulimit -c 0
set -euo pipefail
# for every rank: parallel file systems refuse HDF5's locks
settings=(HDF5_USE_FILE_LOCKING=FALSE)
settings+=(RUNNER_SCRATCH="/local/$USER")
settings+=(RUNNER_JOB="oar-$OAR_JOB_ID-$$")
# Open MPI 5, Open MPI 4 and Intel MPI would bind a rank with all its threads to a single core
export PRTE_MCA_hwloc_default_binding_policy=none OMPI_MCA_hwloc_base_binding_policy=none I_MPI_PIN=off
# a rank for each line of the file: Open MPI would fill all cores of a host that stands there once
export PRTE_MCA_rmaps_default_mapping_policy=seq:oversubscribe OMPI_MCA_rmaps_base_mapping_policy=seq:oversubscribe
# Open MPI passes none of this on to other hosts
for name in PYTHONPATH LD_LIBRARY_PATH ${!RUNNER_@}; do
    [ -z "${!name:-}" ] || settings=("$name=${!name}" "${settings[@]}")
done
# the system's own ssh, for Open MPI 5, Open MPI 4, MPICH and Intel MPI
export PRTE_MCA_plm_ssh_agent=oarsh OMPI_MCA_plm_rsh_agent=oarsh
export HYDRA_LAUNCHER=ssh HYDRA_LAUNCHER_EXEC=oarsh
export I_MPI_HYDRA_BOOTSTRAP=ssh I_MPI_HYDRA_BOOTSTRAP_EXEC=oarsh
cd "$OAR_WORKDIR"

# 5 per host, one line per rank; OAR's own file repeats a host per core
hosts=$(mktemp)
awk '!seen[$1]++ {for (rank = 1; rank <= 5; rank++) print $1}' "$OAR_NODEFILE" > "$hosts"
exec 9< "$hosts" && rm "$hosts" # nothing is left behind, and what starts the ranks can still read it
hosts=/dev/fd/9
exec mpirun -n "$(wc -l < "$hosts")" -machinefile "$hosts" \
    env "${settings[@]}" '/opt/my env/bin/python' -u -m runner --threads 8 --interface ib0 --logs logs reconstruct 'my scan.nx' 'it'"'"'s.h5'
