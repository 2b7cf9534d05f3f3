#!/bin/bash -l
# Submit with: sbatch FILE
#SBATCH --job-name=recon
#SBATCH --nodes=2
#SBATCH --ntasks-per-node=5
#SBATCH --cpus-per-task=8
#SBATCH --gres=gpu:a100:10
#SBATCH --mem=409600M
#SBATCH --time=02:00:00
#SBATCH --partition=gpu
#SBATCH --account=abc
#SBATCH --output=%x-%j.out
#SBATCH --open-mode=append
#SBATCH --no-kill
#SBATCH --exclusive

module load mpi
ulimit -c 0
set -euo pipefail
# for every rank: parallel file systems refuse HDF5's locks
settings=(HDF5_USE_FILE_LOCKING=FALSE)
settings+=(RUNNER_SCRATCH="/local/$USER")
cd "$SLURM_SUBMIT_DIR"
components= # those of a heterogeneous job, all in one step
[ -z "${SLURM_HET_SIZE:-}" ] || components=--het-group=$(seq -s, 0 $((SLURM_HET_SIZE - 1)))

# The launcher works around a lost rank or host, so SLURM is not to end the job for one (--no-kill,
# --kill-on-bad-exit=0). srun itself fails for a lost rank, and (22.05) waits for a host that hangs: rank 0 then
# leaves the job's exit code in this file, and ends srun.
# srun of 22.05 does not read the number of CPUs from the job: say it again
srun=$(mktemp)
srun ${components:+"$components"} --no-kill --kill-on-bad-exit=0 --cpus-per-task=8 --cpu-bind=cores --unbuffered \
    env "${settings[@]}" RUNNER_SRUN="$srun" '/opt/my env/bin/python' -u -m runner --interface ib0 --logs logs reconstruct 'my scan.nx' 'it'"'"'s.h5' <&0 &
echo "$!" > "$srun"
code=0
wait "$!" 2> /dev/null || code=$?
read -r said left < "$srun" || true
[ "$said" != exit ] || code=$left
rm -f "$srun"
exit "$code"
