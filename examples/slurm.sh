#!/bin/bash
# Four machines fit one embedding together under Slurm: sbatch examples/slurm.sh
# The folder that it is started in is on a file system that all machines share.
#SBATCH --job-name=planetoid
#SBATCH --nodes=4
#SBATCH --ntasks-per-node=1
#SBATCH --cpus-per-task=2
#SBATCH --mem=64G
#SBATCH --time=24:00:00
#SBATCH --requeue

set -euo pipefail
first=$(scontrol show hostnames "$SLURM_JOB_NODELIST" | head -n 1)

# A machine that is lost ends the others; Slurm starts the job again, and it goes on from the checkpoint.
srun torchrun \
    --nnodes "$SLURM_NNODES" --nproc-per-node 2 \
    --rdzv-id "$SLURM_JOB_ID" --rdzv-backend c10d --rdzv-endpoint "$first:29500" --max-restarts 3 \
    -m planetoid fit --edges edges.parquet --labels labels.csv --method graphemb \
    --checkpoint checkpoint --checkpoint-every 600 --out model
