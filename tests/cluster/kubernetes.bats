#!/usr/bin/env bats
# The manifest for Kubernetes: checked, and run as the controller of Jobs runs it (indexed_job.py).

load common

needs() {
    /usr/bin/python3 -c 'import jsonschema, yaml' 2>/dev/null ||
        skip "python3-jsonschema or python3-yaml is not installed: scripts/cluster --install"
}

jobs() {
    # shellcheck disable=SC2154  # of common.bash
    /usr/bin/python3 "$here/indexed_job.py" "$@"
}

# refused CHANGE: the manifest with that change (sed) is not one of the API.
refused() {
    sed "$1" quantize.yaml >changed.yaml
    run -1 cmp -s quantize.yaml changed.yaml
    run -1 jobs changed.yaml
    has ValidationError
}

# begin_cluster: kubectl applies a file by running its Jobs, and waits for none that has not completed.
begin_cluster() {
    begin_recipe
    recipe_file kubernetes
    recipe_file kubernetes-commit
    cat >"$BATS_TEST_TMPDIR/bin/kubectl" <<EOF
#!/bin/bash
case \$1 in
apply) /usr/bin/python3 "$here/indexed_job.py" "\$3" . >>ended ;;
wait) [[ \$(sed -n "s,^\${*: -1}: [0-9]* ,,p" <(sed 's,^,job/,' ended)) = complete ]] ;;
*) exit 1 ;;
esac
EOF
    chmod +x "$BATS_TEST_TMPDIR/bin/kubectl"
    recipe kubernetes-run >recipe.sh
}

@test "cluster: the manifest is one of the API" {
    recipe_file kubernetes
    recipe_file kubernetes-commit
    jobs quantize.yaml >jobs.json
    jobs commit.yaml >jobs.json
    refused 's/backoffLimitPerIndex/backoffLimitPerIndexes/'
    refused 's/completionMode: Indexed/completionMode: NonIndexed/'
    refused 's/restartPolicy: Never/restartPolicy: OnFailure/'
    refused '/backoffLimitPerIndex/d'
    refused 's/values: \[2\]/values: [0, 2]/'
}

@test "cluster: the manifest has Kubernetes' own types" {
    need node
    local modules=${GUFO_NODE_MODULES:-$GUFO_SOURCE/build/cluster/node_modules}
    [ -d "$modules/kubernetes-models" ] || skip "kubernetes-models of npm is not installed: scripts/cluster --install"
    recipe_file kubernetes
    recipe_file kubernetes-commit
    cat quantize.yaml <(echo ---) commit.yaml >all.yaml
    jobs all.yaml >jobs.json
    node "$here/job_types.mjs" "$modules" <jobs.json
    sed -i 's/"completions": 64/"completions": "64"/' jobs.json
    run -1 node "$here/job_types.mjs" "$modules" <jobs.json
    has completions
}

@test "cluster: the recipe for Kubernetes, which makes a killed pod again" {
    begin_cluster
    fail_first 5 137
    bash -eu recipe.sh
    [ "$(cat ended)" = $'quantize: 64 complete\nquantize-commit: 1 complete' ]
    made
    [ "$(failures)" -eq 5 ]
}

@test "cluster: an index that is refused is not tried again" {
    begin_cluster
    fail_first 5 2
    run -1 bash -eu recipe.sh
    [ "$(cat ended)" = $'quantize: 5 FailIndex\nquantize: 59 complete' ]
    [ "$(failures)" -eq 5 ]
    rm ended
    bash -eu recipe.sh
    made
}
