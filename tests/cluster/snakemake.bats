#!/usr/bin/env bats
# Snakemake, on this machine.

load common

needs() {
    need snakemake
}

@test "cluster: the recipe for Snakemake" {
    begin_recipe
    recipe_file snakemake
    recipe snakemake-run >recipe.sh
    bash -eu recipe.sh
    made
}

@test "cluster: Snakemake tries what was killed again" {
    begin_recipe
    fail_first 2 137
    recipe_file snakemake
    recipe snakemake-run >recipe.sh
    bash -eu recipe.sh
    made
    [ "$(failures)" -eq 2 ]
}
