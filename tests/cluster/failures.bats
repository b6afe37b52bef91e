#!/usr/bin/env bats
# What a failure leaves, and how to go on.

load common

@test "cluster: what a killed worker leaves is made as the page says" {
    begin_recipe
    gufo quantize model.gguf small.gguf Q4_K_M --part next >/dev/null &
    until [ -e small.gguf.parts/1.log ]; do sleep 0.01; done
    kill -KILL $!
    wait || true
    recipe missing >recipe.sh
    bash -eu recipe.sh
    made
}
