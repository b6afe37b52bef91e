#!/usr/bin/env bats
# Whole shards: uploaded while others are made, and made by machines that share no disk.

load common

needs() {
    need_nodes
    need rsync jq
}

# begin_shards: the recipes with shards of 2 MB in place of 45 GB.
begin_shards() {
    begin_recipe
    gufo quantize model.gguf expected.gguf Q4_K_M --split-max-size 2M >/dev/null
    [ "$(find . -name 'expected-*' | wc -l)" -ge 3 ]
}

small() {
    sed 's/45G/2M/; s/sleep 5/sleep 0.2/'
}

# run_with_store: runs recipe.sh on the cluster; what is on the machine called store is in stored/ then.
run_with_store() {
    mkdir stored
    # shellcheck disable=SC2016  # for the shell that runs it
    printf '%s\n' 'ssh store "cp /srv/* $PWD/stored"' >>recipe.sh
    nodes bash -eu recipe.sh
}

# stored: all shards were uploaded under their names.
stored() {
    local file
    for file in expected-*; do
        cmp "$file" "stored/small${file#expected}"
    done
    same_list "$(find . -name 'expected-*' | wc -l)" "$(find stored -type f | wc -l)"
}

@test "cluster: the recipe that uploads shards while others are made" {
    begin_shards
    recipe upload | small >upload.sh
    recipe upload-run | small >recipe.sh
    run_with_store
    stored
    [ ! -e small.gguf.parts ]
}

@test "cluster: the recipe for machines without a shared disk" {
    begin_shards
    recipe own-disk | small >shards.sh
    recipe own-disk-run >recipe.sh
    run_with_store
    stored
}
