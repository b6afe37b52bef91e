#!/usr/bin/env bats
# What "-" and the shards of a set mean to each command: docs/shards.md and the manual have the table.

# bats sets stderr.
# shellcheck disable=SC2154

load common

OTHERS=("split @ out --max-tensors 1" "merge @ out.gguf" "endian @ out.gguf --to big"
    "extract @ a -o out.npy" "strip @ -o out.gguf --no-tensors" "diff @ m.gguf"
    "quantize @ out.gguf F16")

# call COMMAND FILE: the command with FILE for its '@', and nothing left of it afterwards.
call() {
    local words
    read -ra words <<<"${1//@/$2}"
    rm -rf out*
    "$GUFO" "${words[@]}"
}

make_inputs() {
    make_gguf m.gguf kv general.architecture string x kv general.size_label string 7B tensor a 0 8 32
    gufo hash --no-tensors - <m.gguf >manifest || skip "built without xxHash"
    make_shards s
}

@test "inputs: standard input that is a pipe" {
    make_inputs
    for command in "show @" "get @ general.architecture" "validate --level structure @" \
        "name --suggest @"; do
        call "$command" - < <(cat m.gguf) || return 1
    done
    for command in "validate --level structure --data @" "stats @" "hash @" "verify @ manifest" \
        "imatrix show @" "edit @ --set a.b=1 -o out.gguf" "validate --fix @ -o out.gguf" \
        "name --rename @" "${OTHERS[@]}"; do
        run -2 call "$command" - < <(cat m.gguf)
    done
}

@test "inputs: standard input that is a file" {
    make_inputs
    for command in "show @" "get @ general.architecture" "validate --level structure --data @" \
        "stats @" "hash @" "verify @ manifest" "name --suggest @"; do
        call "$command" - <m.gguf || return 1
    done
    for command in "edit @ --set a.b=1 -o out.gguf" "validate --fix @ -o out.gguf" \
        "name --rename @" "${OTHERS[@]}"; do
        run -2 call "$command" - <m.gguf
    done
    run -1 gufo name -
    has "does not end in .gguf"
}

@test "inputs: the first shard of a set" {
    make_inputs
    first=s-00001-of-00002.gguf
    for command in "show @" "stats @" "hash @"; do
        run -0 call "$command" $first
        has b
    done
    gufo hash $first >manifest
    for command in "validate --level structure --data @" "verify @ manifest" "${OTHERS[@]}"; do
        [[ "$command" != diff* ]] || command="diff @ s-00001-of-00002.gguf"
        [[ "$command" != endian* ]] || command="endian @ out-00001-of-00002.gguf --to big"
        run -0 call "$command" $first
    done
    run -0 call "edit @ --set a.b=1 -o out-00001-of-00002.gguf" $first
    has "this is shard 1 of 2; only its own metadata is changed"
    run -2 call "validate --fix @ -o out.gguf" $first
    run -3 call "imatrix show @" $first
}

@test "inputs: a later shard, and a set that is not complete" {
    make_inputs
    second=s-00002-of-00002.gguf
    for command in "show @" "get @ general.architecture" "validate --level structure --data @" \
        "stats @" "hash @" "edit @ --set a.b=1 -o out.gguf"; do
        run -0 call "$command" $second
    done
    for command in "name --rename @" "imatrix show @" "${OTHERS[@]}"; do
        run -3 call "$command" $second
    done
    rm $second
    for command in "show @" "get @ general.architecture" "validate --level structure @" \
        "edit @ --set a.b=1 -o out.gguf"; do
        run -0 call "$command" s-00001-of-00002.gguf
        has "warning"
    done
    for command in "stats @" "hash @" "name --rename @" "${OTHERS[@]}"; do
        run -3 call "$command" s-00001-of-00002.gguf
    done
}
