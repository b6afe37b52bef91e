#!/usr/bin/env bats
# Slurm: one machine that decides (slurmctld), two that work (slurmd).

# shellcheck disable=SC2030,SC2031  # each test has its own size
load common

needs() {
    need_nodes
    need slurmctld slurmd munged sbatch srun
}

# in_slurm COMMANDS: runs them, and waits until no job is left.
in_slurm() {
    # shellcheck disable=SC2016  # for the shell that runs it
    printf '%s\n' "$1" 'while [ -n "$(squeue --noheader)" ]; do sleep 0.2; done' >submit.sh
    nodes --slurm bash -eu submit.sh
    cat slurm-*.out
}

@test "cluster: the recipe for an array of Slurm" {
    export SBATCH_ARRAY_INX=0-15 # of which two run at a time
    begin_recipe
    recipe_file slurm-array
    in_slurm "$(recipe slurm-submit)"
    made
}

@test "cluster: a killed task of an array goes back into the queue, a refused one does not" {
    export SBATCH_ARRAY_INX=0-5
    begin_recipe
    fail_first 2 137
    recipe_file slurm-array
    in_slurm "$(recipe slurm-submit)"
    made
    [ "$(failures)" -eq 2 ]
    rm small.gguf
    fail_first 2 2
    in_slurm "$(recipe slurm-submit)"
    [ "$(failures)" -eq 2 ]
    [ ! -e small.gguf ]
}

@test "cluster: the recipe for Snakemake on Slurm" {
    need snakemake
    begin_recipe
    recipe_file snakemake
    sed -i 's/^PARTS = 16/PARTS = 4/' Snakefile # each starts a Snakemake of its own
    in_slurm "$(recipe snakemake-slurm) --quiet"
    made
}

@test "cluster: the recipe for srun" {
    begin_recipe
    recipe_file slurm-srun
    in_slurm 'sbatch --nodes=2 quantize-srun.sbatch'
    made
}
