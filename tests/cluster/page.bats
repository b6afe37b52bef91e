#!/usr/bin/env bats
# docs/cluster.md and its tests, without an engine.

load common

@test "cluster: every recipe of the page has a test, and is a program or a file" {
    local name count=0
    while IFS= read -r name; do
        # shellcheck disable=SC2154  # of common.bash
        grep -qE "recipe(_file)? $name\b" "$here"/*.bats || { echo "no test runs the recipe $name" && return 1; }
        recipe "$name" >block
        case $(recipe_kind "$name") in
        sh | bash) bash -n block ;;
        esac
        count=$((count + 1))
    done < <(sed -n 's/^<!-- recipe \([^:]*\)\(: .*\)\? -->$/\1/p' "$GUFO_SOURCE/docs/cluster.md")
    [ "$count" -ge 15 ]
}

# recipe_kind NAME: what its block is.
recipe_kind() {
    sed -nE "/^<!-- recipe $1(: .*)? -->\$/{n;s/^\`\`\`//p}" "$GUFO_SOURCE/docs/cluster.md"
}
