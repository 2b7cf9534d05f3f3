#!/bin/bash -l
# Submit with: bsub < FILE
# For LSF with mpirun. Not run: no LSF was at hand; written from its manuals.
#BSUB -J recon
#BSUB -n 80
#BSUB -R "span[ptile=40]"
#BSUB -gpu "num=10"
#BSUB -W 2:00
#BSUB -q gpu
#BSUB -P abc
#BSUB -o recon.%J.out
#BSUB --exclusive

module load mpi
ulimit -c 0
set -euo pipefail
# for every rank: parallel file systems refuse HDF5's locks
settings=(HDF5_USE_FILE_LOCKING=FALSE)
settings+=(RUNNER_SCRATCH="/local/$USER")
settings+=(RUNNER_JOB="lsf-$LSB_JOBID-${LSB_JOBINDEX:-0}-$$")
# Open MPI 5, Open MPI 4 and Intel MPI would bind a rank with all its threads to a single core
export PRTE_MCA_hwloc_default_binding_policy=none OMPI_MCA_hwloc_base_binding_policy=none I_MPI_PIN=off
# a rank for each line of the file: Open MPI would fill all cores of a host that stands there once
export PRTE_MCA_rmaps_default_mapping_policy=seq:oversubscribe OMPI_MCA_rmaps_base_mapping_policy=seq:oversubscribe
# Open MPI passes none of this on to other hosts
for name in PYTHONPATH LD_LIBRARY_PATH ${!RUNNER_@}; do
    [ -z "${!name:-}" ] || settings=("$name=${!name}" "${settings[@]}")
done
# this system does not say when it ends the job; it began a moment before this line
settings+=(RUNNER_END=$(($(date +%s) + 7200 - 30)))
# the system's own ssh, for Open MPI 5, Open MPI 4, MPICH and Intel MPI
export PRTE_MCA_plm_ssh_agent=blaunch OMPI_MCA_plm_rsh_agent=blaunch
export HYDRA_LAUNCHER=ssh HYDRA_LAUNCHER_EXEC=blaunch
export I_MPI_HYDRA_BOOTSTRAP=ssh I_MPI_HYDRA_BOOTSTRAP_EXEC=blaunch
cd "$LS_SUBCWD"

# LSF repeats a host per slot; one rank for every 8 of a host's slots, one line per rank
hosts=$(mktemp)
awk '++slots[$1] % 8 == 0 {print $1}' "$LSB_DJOB_HOSTFILE" > "$hosts"
exec 9< "$hosts" && rm "$hosts" # nothing is left behind, and what starts the ranks can still read it
hosts=/dev/fd/9
exec mpirun -n "$(wc -l < "$hosts")" -machinefile "$hosts" \
    env "${settings[@]}" '/opt/my env/bin/python' -u -m runner --threads 8 --interface ib0 --logs logs reconstruct 'my scan.nx' 'it'"'"'s.h5'
