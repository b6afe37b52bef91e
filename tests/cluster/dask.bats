#!/usr/bin/env bats
# Dask: a scheduler, and a worker on each of two machines.

load common

needs() {
    need_nodes
    need dask
    /usr/bin/python3 -c 'import distributed' 2>/dev/null || skip "python3-distributed is not installed: scripts/cluster --install"
    [ -e "${GUFO_PYTHON_FOLDER:-}/gufo/_core.abi3.so" ] || skip "this build has no package gufo (-DGUFO_PYTHON=ON)"
}

@test "cluster: the recipe for Dask" {
    begin_recipe
    recipe_file dask
    ln -s /usr/bin/python3 "$BATS_TEST_TMPDIR/bin/python3" # where Debian's packages are
    cat >run.sh <<EOF
export PYTHONPATH=$GUFO_PYTHON_FOLDER PYTHONDONTWRITEBYTECODE=1
dask scheduler --port 8786 --no-dashboard >scheduler.log 2>&1 &
for node in node1 node2; do
    ssh \$node "cd '$PWD' && PYTHONPATH=$GUFO_PYTHON_FOLDER exec dask worker --nthreads 1 --no-dashboard --local-directory /var/tmp head:8786" >\$node.log 2>&1 &
done
$(recipe dask-run)
EOF
    nodes bash -eu run.sh || { cat ./*.log && return 1; }
    made
}
