#!/usr/bin/env bats
# ssh and GNU parallel, on two machines.

load common

needs() {
    need_nodes
}

@test "cluster: the recipe for ssh" {
    begin_recipe
    run_recipe ssh
    made
}

@test "cluster: the recipe for GNU parallel" {
    need parallel
    begin_recipe
    run_recipe parallel
    made
    [ "$(awk 'NR > 1 && $7 == 0' small.joblog | wc -l)" -eq 64 ]
    [ "$(awk 'NR > 1 { print $2 }' small.joblog | sort -u | tr '\n' ' ')" = 'node1 node2 ' ]
}

@test "cluster: GNU parallel tries what was killed on another machine" {
    need parallel
    begin_recipe
    fail_first 3 137
    run_recipe parallel
    made
    [ "$(failures)" -eq 3 ]
}
