#!/usr/bin/env bats
# mpirun of Open MPI and mpiexec of MPICH, on two machines.

load common

needs() {
    need_nodes
}

# only NAME PROGRAM: the machine's NAME may be that of another MPI.
only() {
    # shellcheck disable=SC2016  # for the shell that runs it
    printf '#!/bin/sh\nexec %s "$@"\n' "$(command -v "$2")" >"$BATS_TEST_TMPDIR/bin/$1"
    chmod +x "$BATS_TEST_TMPDIR/bin/$1"
}

@test "cluster: the recipe for mpirun of Open MPI" {
    need mpirun.openmpi
    begin_recipe
    only mpirun mpirun.openmpi
    run_recipe mpirun
    made
}

@test "cluster: the recipe for mpiexec of MPICH" {
    need mpiexec.mpich
    begin_recipe
    only mpiexec mpiexec.mpich
    run_recipe mpich
    made
}
